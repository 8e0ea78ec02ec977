#!/bin/sh
# Bulk data sealed and opened by several threads: whole, also while keys change all the time, with every kind of cipher and MAC; off
# with DisableMTAES.
#
# Whether threads are used is measured by the programs. Here it is done by programs that are the same but for that decision
# (regress/helpers/threads_always.h): three threads beside the caller's, always, and a count of what they did. They stand in two
# network namespaces, where these can be had. Then the programs as they are, for which this machine decides.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$OUR_SSHD" "$HELPERS/ssh_threads" "$HELPERS/sshd_threads"

# ---- a cable with a machine at each end

ends=loopback server_address=127.0.0.1 at_server=
if [ "$WS_PRIVATE" = 1 ] && have ip nsenter; then
	unshare -n sleep 600 & track $!
	far=$!
	unshare -n sleep 600 & track $!
	near=$!
	in_far="nsenter -t $far -n" in_near="nsenter -t $near -n"
	wait_until 5 [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]
	if $in_near ip link add cable type veth peer name cable netns $far 2>/dev/null &&
	    $in_near ip address add 10.98.0.1/30 dev cable && $in_far ip address add 10.98.0.2/30 dev cable &&
	    $in_near ip link set cable up && $in_far ip link set cable up && $in_far ip link set lo up && $in_near ip link set lo up; then
		ends="two network namespaces" server_address=10.98.0.2 at_server=$in_far
	fi
fi
diag "$ends"

make_login || { ok 1 "accounts and keys"; finish; }
: >"$T/work/threads"
chmod 666 "$T/work/threads"
printf '#!/bin/sh\nWS_THREADS_TELL=%s exec %s %s "$@"\n' "$T/work/threads" "$at_server" "$HELPERS/sshd_threads" >"$T/sshd_threads"
chmod 755 "$T/sshd_threads"
OUR_SSHD=$T/sshd_threads
login_server always "ListenAddress $server_address" "NoneEnabled yes" "HostKeyAlgorithms ssh-ed25519" || { ok 1 "our sshd started"; finish; }

# ---- three threads at each end, always

random_file "$T/data" $((${FULL:+1}0 * 10000000 + 24000000))
data_sum=$(sum "$T/data")
threads() {	# both ways at once: each end seals and opens; keys change every 2 MB of either direction
	: >"$T/work/threads"
	WS_THREADS_TELL=$T/work/threads limit 100 ${at_server:+$in_near} "$HELPERS/ssh_threads" -F "$T/client.conf" -p $PORT -v \
		-o Hostname=$server_address -o RekeyLimit=2M "$@" peer "cat; exit 3" <"$T/data" >"$T/out" 2>"$T/log"
	is "$*: whole both ways" "$? $(sum "$T/out")" "3 $data_sum"
	changes=$(grep -c 'key exchange [0-9]*: finished' "$T/log")
	[ "$changes" -ge 10 ]
	ok $? "$*: keys changed meanwhile ($changes times)"
	# a line of the client and one of the server's user process: pieces of the caller, pieces of the others
	shared=$(awk '$3 >= 10 { n++ } END { print n + 0 }' "$T/work/threads")
	is "$*: threads had part in it at both ends" "$shared" 2 || diag "$(cat "$T/work/threads")"
}
threads -c chacha20-poly1305@openssh.com
threads -c aes128-gcm@openssh.com
threads -c aes256-ctr -m hmac-sha2-512-etm@openssh.com
threads -c aes128-ctr -m umac-64-etm@openssh.com
threads -c aes192-ctr -m hmac-sha2-256
threads -o NoneSwitch=yes -m umac-128-etm@openssh.com
if [ -n "$FULL" ]; then
	threads -c aes256-gcm@openssh.com
	threads -c aes128-ctr -m hmac-sha1-etm@openssh.com -o Compression=yes
	threads -c chacha20-poly1305@openssh.com -o Compression=yes -o CompressionLevel=1
fi
stop $PID

# ---- the programs as they are: what is tried is measured. Ends on one address count as on one machine, which get fewer threads

OUR_SSHD=$WS_BUILD/sshd
random_file "$T/data" $((${FULL:+1}0 * 30000000 + 100000000))
chmod 644 "$T/data"
data_sum=$(sum "$T/data")
login_server more "LogLevel DEBUG2" || { ok 1 "our sshd started"; finish; }
more=$PORT
login_server one "LogLevel DEBUG2" "DisableMTAES yes" || { ok 1 "our sshd started"; finish; }
one=$PORT
at() { at_port=$1; shift; limit 200 "$OURS" -F "$T/client.conf" -p "$at_port" -o BindAddress=127.0.0.2 -vv "$@"; }
tried() { grep -h "by [2-9] threads: " "$@" 2>/dev/null | sed 's/^/# /'; }

at $more peer true </dev/null >"$T/out" 2>"$T/log" || { skip "the programs as they are" "no second loopback address here"; finish; }
both() {
	options=$*
	at $more $options peer "sha256sum; exit 3" <"$T/data" >"$T/sum" 2>"$T/log"
	is "up with $options" "$? $(sed 's/ .*//' "$T/sum")" "3 ${data_sum%% *}"
	tried "$T/log"
	at $more $options peer "cat $T/data; exit 4" </dev/null 2>"$T/log" >"$T/out"
	is "down with $options" "$? $(sum "$T/out")" "4 $data_sum"
	tried "$T/log"
}
both -c chacha20-poly1305@openssh.com -o RekeyLimit=40M
if [ -n "$FULL" ]; then
	both -c aes128-ctr -m hmac-sha2-512-etm@openssh.com -o RekeyLimit=40M
	both -c aes128-ctr -m hmac-sha2-256 -o RekeyLimit=40M
	both -c aes128-gcm@openssh.com -o RekeyLimit=24M
fi
at $one -o DisableMTAES=yes -c aes128-ctr -m hmac-sha2-512-etm@openssh.com peer "cat" <"$T/data" >"$T/out" 2>"$T/log"
is "both ways with DisableMTAES" "$? $(sum "$T/out")" "0 $data_sum"
no_line "DisableMTAES: no threads" "by [2-9] threads: " "$T/log"
finish
