#!/bin/sh
# Our ssh against our sshd, over every algorithm.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
private_accounts
ALGORITHMS_ZLIB=zlib@wirespeed
. "$WS_SRC/regress/lib/algorithms.sh"
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool"
algorithms "our ssh, our sshd" "$OURS" "$OURS" start_ours
finish
