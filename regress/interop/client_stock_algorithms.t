#!/bin/sh
# Our ssh against the stock sshd, over every algorithm that both have.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
private_accounts
. "$WS_SRC/regress/lib/algorithms.sh"
need "$OURS" "$HELPERS/net_tool"
need_stock_server
algorithms "our ssh, stock sshd" "$OURS" "$STOCK_SSH" start_stock
finish
