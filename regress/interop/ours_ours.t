#!/bin/sh
# Our ssh against our sshd: what the two do that others do not see: large packets, large windows; and whatever must not depend on
# the other being kind.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool" "$HELPERS/on_pty"
make_login && login_server plain "AcceptEnv TEST_*" || { ok 1 "our sshd started"; finish; }
plain=$PORT plain_pid=$PID
login_server often "RekeyLimit 64K" || { ok 1 "our sshd started"; finish; }
often=$PORT
random_file "$T/data" 100000000
chmod 644 "$T/data"
data_sum=$(sum "$T/data")
at() { at_port=$1; shift; limit 200 "$OURS" -F "$T/client.conf" -p "$at_port" "$@"; }

# ---- data

at $plain peer "tee $T/work/there; exit 3" <"$T/data" >"$T/out" 2>"$T/log"
is "100 MB both ways at once: status" $? 3
is "there and back" "$(sum "$T/work/there") $(sum "$T/out")" "$data_sum $data_sum"
rm -f "$T/work/there"
for options in "-o RekeyLimit=1M" "-o RekeyLimit=3M -C" "-c aes128-ctr -m hmac-sha2-256 -o RekeyLimit=10M" "-o HPNDisabled=yes" "-o TcpRcvBufPoll=no"; do
	at $plain $options peer cat <"$T/data" >"$T/out" 2>"$T/log"
	is "100 MB with $options" "$? $(sum "$T/out")" "0 $data_sum"
done
at $plain peer "cat $T/data & cat $T/data >&2; wait; exit 9" >"$T/out" 2>"$T/err" </dev/null
is "100 MB of stdout and of stderr" "$? $(sum "$T/out") $(sum "$T/err")" "9 $data_sum $data_sum"
for i in 1 2 3 4; do
	{ at $often -o RekeyLimit=100K peer "head -c 3000000 | sha256sum; exit $i" <"$T/data" >"$T/sum.$i" 2>"$T/err.$i"; echo $? >"$T/status.$i"; } &
	track $!
	eval "job$i=$!"
done
wanted=$(head -c 3000000 "$T/data" | sha256sum) good=0
for i in 1 2 3 4; do
	eval "wait \$job$i"
	[ "$(cat "$T/sum.$i") $(cat "$T/status.$i")" = "$wanted $i" ] && good=$((good + 1))
done
is "four connections that change keys all the time" $good 4

runs=${FULL:+500}
runs=${runs:-40}
wanted=$(seq 1 200000 | sha256sum)
same=0
for i in $(seq "$runs"); do
	case $((i % 4)) in 0) more="-o Compression=yes" ;; 1) more="-o RekeyLimit=64K" ;; *) more= ;; esac
	case $((i % 2)) in 0) p=$often ;; 1) p=$plain ;; esac
	got=$( { at $p $more peer 'seq 1 200000; exit 7' </dev/null 2>>"$T/log"; echo $? >"$T/status"; } | (sleep 0.05; cat) | sha256sum)
	[ "$got" = "$wanted" ] && [ "$(cat "$T/status")" = 7 ] && same=$((same + 1)) || diag "run $i: status $(cat "$T/status")"
done
is "all of the output, and the status, $runs times" $same "$runs"
same=0
for i in $(seq $((runs / 8))); do
	[ "$(seq 1 200000 | at $often -o RekeyLimit=64K peer 'sleep 0.1; sha256sum' 2>>"$T/log")" = "$wanted" ] && same=$((same + 1))
done
is "all of the input, $((runs / 8)) times" $same $((runs / 8))

for chunk in 1 1024; do
	case $chunk in 1) bytes=200000 ;; *) bytes=${FULL:+64000000} bytes=${bytes:-8000000} ;; esac
	head -c $bytes "$T/data" >"$T/some"
	at $plain -o "RekeyLimit $((bytes / 10))" -o "ProxyCommand $HELPERS/net_tool relay 127.0.0.1 %p $chunk" peer cat <"$T/some" >"$T/out" 2>"$T/log"
	is "$chunk bytes at a time" "$? $(sum "$T/out")" "0 $(sum "$T/some")"
done

# ---- one that stalls

mkfifo "$T/slow"
"$OURS" -F "$T/client.conf" -p "$plain" peer "echo \$\$ >$T/work/cat; exec cat /dev/zero" >"$T/slow" 2>"$T/log" </dev/null &
pid=$!
track $pid
exec 3<"$T/slow"
wait_until 10 test -s "$T/work/cat"
command=$(cat "$T/work/cat") session=$(parent_of "$(cat "$T/work/cat")")
wait_until 30 has_stalled "$command" wchar
ok $? "a reader that stalls stops the command"
ours_peak=$(memory_peak_kib $pid) theirs_peak=$(memory_peak_kib $session)
ok "$([ "${ours_peak:-999999}" -lt 65536 ] && [ "${theirs_peak:-999999}" -lt 65536 ]; echo $?)" \
	"memory is bounded at both ends ($ours_peak and $theirs_peak KiB)"
is "then all comes" "$(head -c 200000000 <&3 | tr -d '\0' | wc -c)" 0
ours_peak=$(memory_peak_kib $pid) theirs_peak=$(memory_peak_kib $session)
# With a reader that takes all the window may grow; what waits at either end is bounded by it.
ok "$([ "${ours_peak:-999999}" -lt 262144 ] && [ "${theirs_peak:-999999}" -lt 262144 ]; echo $?)" \
	"and stays bounded ($ours_peak and $theirs_peak KiB)"

# ---- sudden ends

kill -KILL $pid
wait $pid 2>/dev/null
exec 3<&-
wait_until 10 is_gone "$session"
ok $? "the session of a client that died ends"
mkfifo "$T/in"
at $plain peer "echo \$PPID; cat" >"$T/out" <"$T/in" 2>"$T/log" &
pid=$!
track $pid
exec 3>"$T/in"
wait_line . "$T/out"
kill -KILL "$(head -n 1 "$T/out")"
wait $pid
is "a session that died: the client ends with 255" $? 255
is_line "and it says so" 'Connection to 127.0.0.1 closed by remote host' "$T/log"
exec 3>&-
at $plain peer 'sleep 100 </dev/null >/dev/null 2>&1 & echo $!; exit 5' >"$T/out" 2>"$T/log" </dev/null
is "a job that is left behind holds nothing up" $? 5
kill "$(cat "$T/out")" 2>/dev/null
"$OURS" -F "$T/client.conf" -p "$plain" -N -v -E "$T/n.log" peer </dev/null >/dev/null 2>&1 &
pid=$!
track $pid
wait_line 'Authenticated to' "$T/n.log"
kill -TERM $pid
wait $pid
is "-N ended by SIGTERM is 0" $? 0

# ---- a person at a terminal

on_pty() { limit 60 "$HELPERS/on_pty" "$@" >"$T/out" 2>"$T/log"; status=$?; cat "$T/out" >>"$T/log"; }
words="$OURS -F $T/client.conf -p $plain"
on_pty 'send=echo $((40+2))\r' 'expect=42' size=44x99 'send=stty size\r' 'expect=44 99' 'send=\r~R' 'send=\recho $((50+3))\r' 'expect=53' \
	'send=exit 6\r' -- $words peer
is "a shell: size, new keys, status" $status 6
# It is what ^C shall end that says that it is there: before, the shell itself might take it.
on_pty 'send=PS1="ne""xt: "\r' 'expect=next: ' 'send=sh -c "echo RE""ADY; exec sleep 100"\r' 'expect=READY' 'send=\x03' \
	'expect=next: ' 'send=exit 7\r' -- $words peer
is "a shell: ^C" $status 7
if [ -n "$PASSWORD" ]; then
	ask="-o BatchMode=no -o PubkeyAuthentication=no"
	on_pty "expect=$LOGIN@127.0.0.1's password: " "send=$PASSWORD\r" 'expect=in' -- $words $ask -o PreferredAuthentications=password peer echo in
	is "a password typed" $status 0
	is "and not shown" "$(grep -c "$PASSWORD" "$T/out")" 0
	on_pty "expect=($LOGIN@127.0.0.1) Password: " "send=$PASSWORD\r" 'expect=in' -- $words $ask -o PreferredAuthentications=keyboard-interactive peer echo in
	is "an answer typed (keyboard-interactive)" $status 0
	on_pty "expect=password: " 'send=wrong\r' 'expect=Permission denied, please try again.' "expect=password: " "send=$PASSWORD\r" -- \
		$words $ask -o PreferredAuthentications=password peer exit 8
	is "the right one after a wrong one" $status 8
	on_pty "expect=password: " 'send=wrong\r' "expect=password: " 'send=wrong\r' "expect=password: " 'send=wrong\r' \
		'expect=Permission denied (publickey,password,keyboard-interactive).' -- $words $ask -o PreferredAuthentications=password peer exit 8
	is "three wrong ones" $status 255
else skip "passwords at a terminal" "no private accounts"; fi
on_pty 'expect=(yes/no/[fingerprint])? ' 'send=perhaps\r' "expect=Please type 'yes', 'no' or the fingerprint: " 'send=yes\r' 'expect=known now' -- \
	$words -o BatchMode=no -o StrictHostKeyChecking=ask -o "UserKnownHostsFile=$T/new_hosts" peer echo known now
is "an unknown host: asked, accepted" $status 0
on_pty 'expect=(yes/no/[fingerprint])? ' 'send=no\r' 'expect=Host key verification failed.' -- \
	$words -o BatchMode=no -o StrictHostKeyChecking=ask -o "UserKnownHostsFile=$T/newer_hosts" peer echo known now
is "an unknown host: asked, refused" $status 255
at $plain -o "UserKnownHostsFile=$T/new_hosts" peer 'echo known' >"$T/out" 2>"$T/log" </dev/null
is "the host is known afterwards" "$? $(cat "$T/out")" "0 known"

# ---- afterwards

quiet() { [ -z "$(children_of "$plain_pid")" ]; }
wait_until 10 quiet
ok $? "no session is left"
no_line "nothing went wrong inside" 'broke the rules\|died of signal\|Sanitizer\|internal error' "$T/plain.log"
finish
