#!/bin/sh
# What somebody types is not kept waiting by bulk data on the same connection, counted in bytes and not in time; and a reader that
# stalls, at either end, costs no more memory than the window it gave.
# WS_FULL=1: stalls of 60 s, with a round trip of 100 ms for which the window has grown.
. "$(dirname "$0")/../lib/ssh.sh"
need "$OURS" "$OUR_SCP" "$OUR_SSHD" "$HELPERS/keystroke" "$HELPERS/round_trips"
private_world
make_client || skip_all "no keys could be made"
start_ours ours "Subsystem sftp internal-sftp" || { ok 1 "our sshd started"; finish; }
server=$PORT

# ---- the echo of a key

# This end rests 50 ms after whatever came, with a small receive buffer: a line of about a megabyte a second on any machine. What
# comes before an echo then is what had been queued before it: in the sender, its kernel, and here.
echoes() {	# DIRECTION
	limit 60 "$HELPERS/keystroke" -c -n 15 -e 10 -b "$1" -p 50 -o "IdentityFile $T/id" -o "UserKnownHostsFile $T/known_hosts" \
		-o "TcpRcvBuf 32" -o "HostKeyAlias peer" -o "BatchMode yes" -o "Port $server" "$ME@127.0.0.1" >"$T/out" 2>"$T/log"
}
echoes down
ok $? "keys are echoed beside bulk data that comes" "$T/log"
read -r median most <"$T/out"
ok "$([ "${median:-9999}" -le 400 ]; echo $?)" "at most 400 KiB of it before the echo: $median (greatest $most)"
echoes up
ok $? "keys are echoed beside bulk data that goes" "$T/log"
# At full speed the window has grown: a key would wait for all that it lets through, were less of it
# not used while somebody types.
limit 60 "$HELPERS/keystroke" -c -n 40 -e 5 -b up -o "IdentityFile $T/id" -o "BatchMode yes" \
	-o "UserKnownHostsFile $T/known_hosts" -o "HostKeyAlias peer" -o "Port $server" \
	"$ME@127.0.0.1" >"$T/out" 2>"$T/log"
ok $? "keys are echoed beside bulk data that goes at full speed" "$T/log"
read -r median most <"$T/out"
ok "$([ "${median:-99999}" -le 4096 ]; echo $?)" \
	"at most 4 MiB of it before the echo: $median KiB (greatest $most)"

# ---- readers that stall

rss() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status"; }
# flat NAME PID: what the process holds does not grow while nobody reads, and is no more than its window and its queues.
flat() {
	before=$(rss "$2")
	sleep $rest
	after=$(rss "$2")
	ok "$([ -n "$before" ] && [ -n "$after" ] && [ $((after - before)) -le 1024 ] && [ "$after" -le $most_kib ]; echo $?)" \
		"$1: $before, then $after KiB"
}
# client OUT PROGRAM ARGUMENT...: one of ours, which writes to OUT by itself and whose process is named in $T/client.pid; in the full
# run behind a line of 100 ms.
client() {
	set -- sh -c 'echo $$ >"$0"; out=$1; shift; exec "$@" >"$out"' "$T/client.pid" "$@"
	[ -z "$FULL" ] || set -- "$HELPERS/round_trips" -d 50 -r "$T/trips" $server "$@"
	"$@"
}
port=$server rest=2 most_kib=$((32 * 1024))
[ -z "$FULL" ] || port=@PORT@ rest=60 most_kib=$((160 * 1024))
# What sanitizers keep beside it, and what was freed and is watched.
! grep -q '^#define WITH_SANITIZERS 1' "$WS_BUILD/config.h" || most_kib=$((most_kib * 2))
if [ ! -r /proc/self/io ]; then
	skip "memory while a reader stalls" "no /proc/self/io here"
	finish
fi
mkfifo "$T/slow"
mkdir "$T/w"

rm -f "$T/client.pid"
client "$T/slow" "$OURS" -F "$T/client.conf" -p $port peer "echo \$\$ >$T/w/pid; exec cat /dev/zero" 2>"$T/log" </dev/null &
track $!
exec 3<"$T/slow"
head -c 100000000 <&3 >/dev/null
wait_until 30 has_stalled "$(cat "$T/w/pid")" wchar
ok $? "the client's reader stalls after 100 MB, and with it the command"
session=$(parent_of "$(cat "$T/w/pid")")
flat "the client keeps what it holds" "$(cat "$T/client.pid")"
before=$(rss "$session")
ok "$([ "${before:-999999}" -le $most_kib ]; echo $?)" "and so does the server: $before KiB"
kill "$(cat "$T/client.pid")"
exec 3<&-

rm -f "$T/w/pid" "$T/client.pid"
client /dev/null "$OURS" -F "$T/client.conf" -p $port peer "head -c 100000000 >/dev/null; echo \$\$ >$T/w/pid; exec sleep 200" \
	</dev/zero 2>"$T/log" &
track $!
wait_until 60 test -s "$T/w/pid"
pid=$(cat "$T/client.pid") session=$(parent_of "$(cat "$T/w/pid")")
wait_until 30 has_stalled "$pid" wchar
ok $? "the server's reader stalls after 100 MB, and with it the client"
flat "the server keeps what it holds" "$session"
before=$(rss "$pid")
ok "$([ "${before:-999999}" -le $most_kib ]; echo $?)" "and so does the client: $before KiB"
kill "$pid"

# A server that is stopped altogether.
truncate -s 1G "$T/sparse"
rm -f "$T/client.pid"
client /dev/null "$OUR_SCP" -F "$T/client.conf" -P $port "$T/sparse" peer:/dev/null 2>"$T/log" </dev/null &
track $!
wait_until 20 test -s "$T/client.pid"
pid=$(cat "$T/client.pid")
moved() { [ "$(sed -n 's/^wchar: //p' "/proc/$pid/io" 2>/dev/null || echo 0)" -gt 1000000 ]; }
wait_until 20 moved
for p in $(children_of $PID); do
	for q in $(children_of "$p"); do kill -STOP "$q" && track "$q"; done
done
wait_until 30 has_stalled "$pid" wchar
ok $? "a copy to a stopped server stands"
flat "its memory too" "$pid"
kill -KILL "$pid"
for p in $(children_of $PID); do
	for q in $(children_of "$p"); do kill -CONT "$q"; done
done
finish
