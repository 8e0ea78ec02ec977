#!/bin/sh
# Clients that only take up room: connections that say nothing, that come and go, that stall; and what a listener's end or
# restart means for them.
. "$(dirname "$0")/hostile_lib.sh"

# ---- silence

serve "LoginGraceTime 1" "UsePAM no" || exit 1
remember
timed_out="Timeout before authentication for connection from 127\.0\.0\.1 to 127\.0\.0\.1, pid = [0-9]+"
one hostile_plain .half-version "$timed_out"
one hostile_plain .silence "$timed_out"
unharmed 20000

# ---- many at once

config "LoginGraceTime 60"
start -o MaxStartups=5:100:10 || exit 1
remember
mkfifo "$T/hold"
: >"$T/out"
"$H/hostile_plain" "$port" .half-open n=30 <"$T/hold" >"$T/out" 2>&1 &
holder=$!
exec 9>"$T/hold"
until_true 'grep -q served= "$T/out"'
# The connection of the program itself is one more.
is "$(sed -n 's/.*served=\([0-9]*\).*/\1/p' "$T/out")" 4 "half-open connections are served up to MaxStartups"
logged "^drop connection #5 from \[127\.0\.0\.1\]:[0-9]+ on \[127\.0\.0\.1\]:$port Maxstartups" "connections that are turned away"
good_login
[ $? != 0 ]
ok $? "no more is served as long as they are there"
exec 9>&-
wait "$holder"
until_true good_login
ok $? "once they have gone, a good client is served"
is "$(grep -c '^drop connection' "$T/log")" 1 "the log is not flooded by them"
unharmed 20000

serve || exit 1
remember
one hostile_plain .come-and-go "" n=300
unharmed 20000

# ---- a listener that ends, or becomes another one, while somebody says nothing

serve "LoginGraceTime 1" || exit 1
: >"$T/out"
"$H/hostile_plain" "$port" .half-open n=2 <"$T/hold" >"$T/out" 2>&1 &
holder=$!
exec 9>"$T/hold"
until_true 'grep -q served=2 "$T/out"'
waiting=$(pgrep -P "$sshd_pid")
kill -HUP "$sshd_pid"
logged "^Received SIGHUP; restarting" "restart"
until_true good_login
ok $? "the listener serves after a restart"
i=0
while [ $i -lt 40 ] && kill -0 $waiting 2>/dev/null; do sleep 0.5; i=$((i + 1)); done
[ $i -lt 40 ]
ok $? "who said nothing to the old listener is not waited for by the new one"
exec 9>&-
wait "$holder"

# ---- without a listener

printf 'exec "%s" -i -f "%s" -E "%s"\n' "$sshd" "$T/sshd_config" "$T/log" >"$T/inetd"
: >"$T/log"
mkfifo "$T/silent"
(sh "$T/inetd" <"$T/silent" 2>"$T/err"; echo $? >"$T/status") | cat >"$T/out" &
inetd=$!
exec 9>"$T/silent"
wait $inetd
is "$(cat "$T/status")" 3 "inetd: the time runs out, and the exit status says so"
exec 9>&-
logged "^Timeout before authentication" "inetd: time"
grep -q '^SSH-2.0-' "$T/out"
ok $? "inetd: the version line was said" "$T/out"

# ---- clients that stop reading, or answering

serve "UsePAM no" "ClientAliveInterval 1" "ClientAliveCountMax 2" || exit 1
remember
: >"$T/out"
"$H/hostile_session" "$port" .stall user="$user" key="$T/key" <"$T/hold" >"$T/out" 2>&1 &
holder=$!
exec 9>"$T/hold"
until_true 'grep -q stalled "$T/out"'
logged "^Timeout, client not responding from user $user 127\.0\.0\.1 port [0-9]+" "a client that reads nothing"
until_true '[ $(processes_of_server) = 0 ]'
ok $? "what served it has ended"
exec 9>&-
wait "$holder"

nap="sleep 57.$$"
: >"$T/log"
on $host "exec $nap" &
until_true 'grep -q "Starting session: command" "$T/log"'
client=$(pgrep -f -- "-F $T/ssh_config")
kill -STOP $client
: >"$T/log"
logged "^Timeout, client not responding from user $user 127\.0\.0\.1 port [0-9]+" "a client that answers nothing"
kill -KILL $client
pkill -f -x "$nap"
unharmed 60000

serve "UsePAM no" || exit 1
remember
: >"$T/out"
"$H/hostile_session" "$port" .stall user="$user" key="$T/key" <"$T/hold" >"$T/out" 2>&1 &
holder=$!
exec 9>"$T/hold"
until_true 'grep -q stalled "$T/out"'
good_login && good_login && good_login
ok $? "without ClientAlive it may stay, and harms nobody"
[ $(processes_of_server) -ge 1 ]
ok $? "it is there still"
exec 9>&-
wait "$holder"
unharmed 60000

# ---- keyboard-interactive

if $root && [ -d /etc/pam.d ] && "$sshd" -T -f "$T/sshd_config" -o UsePAM=yes 2>/dev/null | grep -qi '^usepam yes'; then
	echo "auth required pam_unix.so
account required pam_unix.so
session required pam_permit.so" >/etc/pam.d/sshd
	serve "UsePAM yes" "KbdInteractiveAuthentication yes" || exit 1
	remember
	for name in .kbdint-abandoned .kbdint-answers .kbdint-too-many .kbdint-unasked; do
		one hostile_login $name "$(log_of hostile_login $name)"
	done
	unharmed 40000
else
	skip "no PAM"
fi
done_testing
