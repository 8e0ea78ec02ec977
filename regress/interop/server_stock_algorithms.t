#!/bin/sh
# The stock ssh against our sshd, over every algorithm that both have.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
private_accounts
. "$WS_SRC/regress/lib/algorithms.sh"
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool"
[ -n "$STOCK_SSH" ] || skip_all "no stock ssh here"
algorithms "stock ssh, our sshd" "$STOCK_SSH" "$OURS" start_ours
finish
