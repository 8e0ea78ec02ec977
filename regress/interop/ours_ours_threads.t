#!/bin/sh
# Bulk data sealed and opened by several threads: whole, also when keys change meanwhile, and off with DisableMTAES. Whether threads
# are used is measured by the programs, so this machine decides how much of it happens here; what comes out is the same. The
# client comes from another address than the server's: ends on one address count as ends on one machine, which get fewer.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$OUR_SSHD"
make_login && login_server more "LogLevel DEBUG2" || { ok 1 "our sshd started"; finish; }
more=$PORT
login_server one "LogLevel DEBUG2" "DisableMTAES yes" || { ok 1 "our sshd started"; finish; }
one=$PORT
random_file "$T/data" $((${FULL:+1}0 * 30000000 + 100000000))
chmod 644 "$T/data"
data_sum=$(sum "$T/data")
at() { at_port=$1; shift; limit 200 "$OURS" -F "$T/client.conf" -p "$at_port" -o BindAddress=127.0.0.2 -vv "$@"; }
tried() { grep -h "by [2-9] threads: " "$@" 2>/dev/null | sed 's/^/# /'; }

at $more peer true </dev/null >"$T/out" 2>"$T/log" || skip_all "no second loopback address here"
both() {
	options=$*
	at $more $options peer "sha256sum; exit 3" <"$T/data" >"$T/sum" 2>"$T/log"
	is "up with $options" "$? $(sed 's/ .*//' "$T/sum")" "3 ${data_sum%% *}"
	tried "$T/log"
	at $more $options peer "cat $T/data; exit 4" </dev/null 2>"$T/log" >"$T/out"
	is "down with $options" "$? $(sum "$T/out")" "4 $data_sum"
	tried "$T/log"
}
both -c chacha20-poly1305@openssh.com
both -c aes128-ctr -m hmac-sha2-512-etm@openssh.com -o RekeyLimit=40M
if [ -n "$FULL" ]; then
	both -c aes128-ctr -m hmac-sha2-256 -o RekeyLimit=40M
	both -c aes128-gcm@openssh.com -o RekeyLimit=24M
fi
at $one -o DisableMTAES=yes -c aes128-ctr -m hmac-sha2-512-etm@openssh.com peer "cat" <"$T/data" >"$T/out" 2>"$T/log"
is "both ways with DisableMTAES" "$? $(sum "$T/out")" "0 $data_sum"
no_line "DisableMTAES: no threads" "by [2-9] threads: " "$T/log"
finish
