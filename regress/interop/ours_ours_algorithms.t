#!/bin/sh
# Our ssh against our sshd, over every algorithm.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
private_accounts
# What is negotiated depends on what it was built with.
case $(ldd "$OURS" 2>/dev/null) in *zstd*) ALGORITHMS_ZLIB=zstd@wirespeed ;; *) ALGORITHMS_ZLIB=zlib@wirespeed ;; esac
. "$WS_SRC/regress/lib/algorithms.sh"
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool"
algorithms "our ssh, our sshd" "$OURS" "$OURS" start_ours
finish
