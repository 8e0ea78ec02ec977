#!/bin/sh
# The processes of our sshd: who they are and who may look into them; limits, restarts, signals, inetd, command line.
. "$(dirname "$0")/sshd_lib.sh"

# ---- command line

serve "Subsystem sftp internal-sftp" || exit 1
"$sshd" -t -f "$T/sshd_config" 2>"$T/err"
is $? 0 "-t with a good configuration" "$T/err"
echo "NoSuchKeyword yes" >"$T/bad"
"$sshd" -t -f "$T/bad" 2>"$T/err"
is $? 255 "-t with a bad keyword"
grep -q "$T/bad: line 1: Bad configuration option: NoSuchKeyword" "$T/err"
ok $? "which is named with its place" "$T/err"
"$sshd" -T -f "$T/sshd_config" 2>/dev/null | grep -qi "^port $port"
ok $? "-T shows the configuration"
"$sshd" -G -f "$T/sshd_config" 2>/dev/null | grep -qi "^port $port"
ok $? "-G too"
"$sshd" -t -f "$T/nothing" 2>/dev/null
is $? 1 "a configuration that is not there"
"$sshd" -t -f "$T/sshd_config" -o "NoSuch yes" 2>/dev/null
is $? 1 "-o with an unknown keyword"
"$sshd" -t -f "$T/sshd_config" -o "MaxAuthTries many" 2>/dev/null
is $? 255 "-o with a bad value"
"$sshd" -t -f "$T/sshd_config" extra 2>"$T/err"
is "$?$(cat "$T/err")" "1Extra argument extra." "an extra argument"
"$sshd" -V 2>"$T/err"
is "$?$(cut -c1-10 "$T/err")" "0Wirespeed_" "-V"
printf 'HostKey %s/none\n' "$T" >"$T/nokey"
"$sshd" -t -f "$T/nokey" 2>"$T/err"
is $? 1 "no host key"
grep -q '^sshd: no hostkeys available -- exiting\.' "$T/err"
ok $? "and says so" "$T/err"
cp "$T/hostkey" "$T/openkey"; chmod 644 "$T/openkey"
"$sshd" -t -f "$T/sshd_config" -h "$T/openkey" 2>"$T/err"
is $? 1 "a host key that others may read" "$T/err"
(cd "$T" && ./sshd -f sshd_config 2>"$T/err")
is "$?$(cat "$T/err")" "1sshd requires execution with an absolute path" "a relative path"
"$sshd" -R monitor:1,2,3,4,5,6 2>/dev/null
is $? 255 "-R is not for people"
if $root; then
	grep -v "^$privsep_user:" /etc/passwd >"$T/p"; cp /etc/passwd "$T/p.all"
	cat "$T/p" >/etc/passwd
	"$sshd" -t -f "$T/sshd_config" 2>"$T/err"
	r=$?
	cat "$T/p.all" >/etc/passwd
	is "$r" 255 "the privilege separation user is missing"
	grep -q "useradd .*$privsep_user" "$T/err"
	ok $? "and how to make it is said" "$T/err"
fi

# ---- roles

mkfifo "$T/hold"
on $host "cat $T/hold" & holder=$!
# The monitor names the user process when it has started it; who it is and what it is called stands when it tells of a session.
until_true "grep -q 'User child is on pid' '$T/log' && grep -q 'Starting session' '$T/log'"
user_pid=$(tr -d '\r' <"$T/log" | sed -n 's/^User child is on pid //p' | tail -n 1)
monitor_pid=$(pgrep -P "$sshd_pid")
# a connection that has said nothing: its pre-auth process is there
silent_client /dev/null
preauth() { for p in $(pgrep -P "$sshd_pid"); do pgrep -P "$p" -f 'sshd: \[net\]'; done | head -n 1; }
until_true '[ -n "$(preauth)" ]'
preauth_pid=$(preauth)
title() { tr '\0' ' ' <"/proc/$1/cmdline" | sed 's/ *$//'; }
is "$(title "$monitor_pid")" "sshd: $user [priv]" "title of the monitor"
is "$(title "$user_pid")" "sshd: $user@notty" "title of the user process"
is "$(cat "/proc/$user_pid/comm") $(cat "/proc/$monitor_pid/comm") $(cat "/proc/$preauth_pid/comm")" "sshd sshd sshd" "short names"
for role in listener:$sshd_pid monitor:$monitor_pid preauth:$preauth_pid user:$user_pid; do
	pid=${role#*:} who=${role%:*}
	# an undumpable process's files in /proc are root's, whoever it runs as
	is "$(stat -c %u "/proc/$pid/mem")" 0 "$who: not dumpable"
	if $root; then
		su wsuser -s /bin/sh -c "head -c 1 /proc/$pid/mem" >/dev/null 2>"$T/err"
		grep -q "Permission denied" "$T/err"
		ok $? "$who: its user cannot read its memory" "$T/err"
		su wsuser -s /bin/sh -c "ls /proc/$pid/fd" >/dev/null 2>&1
		[ $? != 0 ]
		ok $? "$who: nor its descriptors"
		if command -v strace >/dev/null 2>&1; then
			su wsuser -s /bin/sh -c "timeout 5 strace -p $pid" >"$T/err" 2>&1
			grep -Eq "not permitted|denied" "$T/err"
			ok $? "$who: nor trace it" "$T/err"
		fi
	fi
done
if $root; then
	is "$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "/proc/$user_pid/status")" "61001 61001 61001 61001" "the user process is the user"
	is "$(awk '/^Gid:/ { print $2, $3, $4, $5 }' "/proc/$user_pid/status")" "61001 61001 61001 61001" "and has the user's group"
	is "$(awk '/^Groups:/ { print $2, $3 }' "/proc/$user_pid/status")" "61001 61050" "and the others"
	puid=$(id -u "$privsep_user")
	is "$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "/proc/$preauth_pid/status")" "$puid $puid $puid $puid" "the pre-auth process is $privsep_user"
	is "$(readlink "/proc/$preauth_pid/root")" "$privsep_path" "in its empty folder"
fi
if grep -q 'define SANDBOX_SECCOMP 1' "$WS_BUILD/config.h"; then
	is "$(awk '/^Seccomp:/ { print $2 }' "/proc/$preauth_pid/status")" 2 "the pre-auth process is under a filter"
fi
is "$(awk '/^NoNewPrivs:/ { print $2 }' "/proc/$user_pid/status")" 0 "the user process may run what the user may"
# nothing of the listener's or monitor's is open in the others
is "$(ls -l "/proc/$user_pid/fd" | grep -Ec 'memfd|hostkey|sshd_config|log$')" 0 "the user process has no descriptor of theirs"
is "$(ls -l "/proc/$preauth_pid/fd" | grep -Ec 'memfd|hostkey|sshd_config')" 0 "the pre-auth process neither"
is "$(ls -l "/proc/$monitor_pid/fd" | grep -c "memfd")" 0 "the monitor has read and closed its hand-over"
# the private key is where it belongs only
: >"$T/hold"
wait $holder
is $? 0 "the session that was held ends"

# ---- limits

quiet_end
serve "LoginGraceTime 1"
silent_client "$T/out"
logged "^Timeout before authentication for connection from 127\.0\.0\.1 to 127\.0\.0\.1, pid = [0-9]+" "LoginGraceTime"
until_true '[ "$(processes_of_server)" = 0 ]'
is "$(processes_of_server)" 0 "nobody is left of it"
on $host true
is $? 0 "and others are served"
serve "MaxStartups 2:100:3" "LoginGraceTime 30"
sed -i '/^MaxStartups 100/d' "$T/sshd_config"; start
silent_client "$T/nc.1"; silent_client "$T/nc.2"
until_true '[ "$(pgrep -P $sshd_pid | wc -l)" = 2 ]'
timeout 10 nc 127.0.0.1 "$port" </dev/null >"$T/out" 2>&1
is "$(tr -d '\r' <"$T/out")" "Not allowed at this time" "MaxStartups"
logged "^drop connection #2 from \[127\.0\.0\.1\]:[0-9]+ on \[127\.0\.0\.1\]:$port Maxstartups" "dropped connection"
quiet_end
serve "PerSourceMaxStartups 1"
silent_client "$T/nc.3"
until_true '[ "$(pgrep -P $sshd_pid | wc -l)" = 1 ]'
timeout 10 nc 127.0.0.1 "$port" </dev/null >"$T/out" 2>&1
is "$(tr -d '\r' <"$T/out")" "Not allowed at this time" "PerSourceMaxStartups"
quiet_end
serve "PerSourcePenalties authfail:30s"
sed -i '/^PerSourcePenalties no/d' "$T/sshd_config"; start
key=$T/key2 on $host true 2>/dev/null
logged "^srclimit_penalise: ipv4: new 127\.0\.0\.1/32 active penalty of 30\.000 seconds for penalty: failed authentication" "penalty"
on $host true >"$T/out" 2>&1
is $? 255 "a penalised source is refused"
logged "^drop connection #0 from \[127\.0\.0\.1\]:[0-9]+ on \[127\.0\.0\.1\]:$port penalty: failed authentication" "dropped by its penalty"
serve "PerSourcePenaltyExemptList 127.0.0.0/8" "PerSourcePenalties authfail:30s"
sed -i '/^PerSourcePenalties no/d' "$T/sshd_config"; start
key=$T/key2 on $host true 2>/dev/null
on $host true
is $? 0 "one that is exempt is not"
serve "UnusedConnectionTimeout 1"
timeout 20 ssh -F "$T/ssh_config" -i "$T/key" -p "$port" -l "$user" -N $host 2>/dev/null
logged "^terminating inactive connection from user $user 127\.0\.0\.1 port [0-9]+" "UnusedConnectionTimeout"
serve "ChannelTimeout session:command=2 session:shell=60"
on $host 'sleep 30'
[ $? != 0 ]
ok $? "ChannelTimeout ends a command that does nothing"
logged "^channel 0: closing after 2 seconds of inactivity" "ChannelTimeout"
is "$(on $host 'for i in 1 2 3 4 5 6 7 8; do sleep 0.3; echo -n x; done')" xxxxxxxx "but none that does something"
serve "ClientAliveInterval 1" "ClientAliveCountMax 2"
is "$(on $host 'sleep 3; echo alive')" alive "a client that answers stays"
ssh -F "$T/ssh_config" -i "$T/key" -p "$port" -l "$user" $host "cat $T/hold" 2>/dev/null & holder=$!
until_true "[ \$(grep -c 'Starting session' '$T/log') = 2 ]"
kill -STOP $holder
logged "^Timeout, client not responding from user $user 127\.0\.0\.1 port [0-9]+" "ClientAlive"
kill -CONT $holder
kill $holder 2>/dev/null

# ---- bad input

serve
for what in 'GET / HTTP/1.0\r\n\r\n' '\0\0\0\0' 'SSH-1.5-old\r\n' 'SSH-2.0-x\r\n\377\377\377\377\377\377\377\377' ''; do
	printf "$what" | timeout 10 nc -q 1 127.0.0.1 "$port" >"$T/out" 2>&1
done
printf 'GET / HTTP/1.0\r\n\r\n' | timeout 10 nc -q 1 127.0.0.1 "$port" >"$T/out" 2>&1
grep -q "Invalid SSH identification string" "$T/out"
ok $? "whoever speaks no SSH is told" "$T/out"
logged "^banner exchange: Connection from 127\.0\.0\.1 port [0-9]+: invalid format \[preauth\]" "bad version line"
head -c 300000 /dev/urandom | timeout 10 nc -q 1 127.0.0.1 "$port" >/dev/null 2>&1
(printf 'SSH-2.0-x\r\n'; head -c 300000 /dev/urandom) | timeout 10 nc -q 1 127.0.0.1 "$port" >/dev/null 2>&1
on -o KexAlgorithms=diffie-hellman-group-exchange-sha1 $host true 2>/dev/null
logged "^Unable to negotiate with 127\.0\.0\.1 port [0-9]+: no matching key exchange method found\. Their offer: diffie-hellman-group-exchange-sha1" "no common method"
on $host true
is $? 0 "after all this it serves"
until_true '[ "$(processes_of_server)" = 0 ]'
is "$(processes_of_server)" 0 "nobody is left"
is "$(grep -Ec 'died of signal|broke the rules|Sanitizer' "$T/log")" 0 "nothing crashed"

# ---- restart and end

on $host "cat $T/hold; echo survived" >"$T/out" & holder=$!
until_true "grep -q 'User child is on pid' '$T/log'"
echo "NoSuchKeyword" >>"$T/sshd_config"
kill -HUP "$sshd_pid"
logged "^the new configuration has errors: the running one stays in force" "SIGHUP with a bad configuration"
on $host true
is $? 0 "the old one serves"
sed -i '$d' "$T/sshd_config"; echo "ForceCommand echo new" >>"$T/sshd_config"
kill -HUP "$sshd_pid"
until_true "[ \$(grep -c 'Server listening' '$T/log') = 2 ]"
is "$(grep -c "^Received SIGHUP; restarting\." "$T/log")" 2 "log: restart"
is "$(on $host 'x')" new "SIGHUP brings the new configuration"
kill -0 "$sshd_pid"
ok $? "the process is the same"
: >"$T/hold"
wait $holder
is "$(cat "$T/out")" survived "the session from before goes on"
until_true '[ "$(processes_of_server)" = 0 ]'
is "$(processes_of_server)" 0 "and is reaped by the new image"
is "$(cat "$T/pid")" "$sshd_pid" "pid file"
kill "$sshd_pid"; wait "$sshd_pid"
is $? 0 "SIGTERM"
sshd_pid=
grep -q "^Received signal 15; terminating\." "$T/log"
ok $? "log: terminating"
[ ! -e "$T/pid" ]
ok $? "the pid file is gone"
# into the background
config
: >"$T/log"
"$sshd" -f "$T/sshd_config" -E "$T/log"
is $? 0 "into the background"
until_true "[ -s '$T/pid' ]"
on $host true
is $? 0 "from where it serves"
sshd_pid=$(cat "$T/pid")
kill "$sshd_pid"
until_true "[ ! -e '$T/pid' ]"
ok $? "and ends"
sshd_pid=
# one connection
config
: >"$T/log"
"$sshd" -d -f "$T/sshd_config" 2>"$T/log" &
debug=$!
until_true "grep -q 'Server listening' '$T/log'"
is "$(on $host 'echo one')" one "-d serves one connection"
wait $debug
is $? 0 "and ends"
grep -q "^debug1: " "$T/log"
ok $? "debug lines on stderr" "$T/log"
# inetd
is "$(on -o ProxyCommand="$sshd -i -f $T/sshd_config -E $T/inetd.log" $host 'echo inetd; echo $SSH_CONNECTION')" "inetd
UNKNOWN 65535 UNKNOWN 65535" "-i over a pipe"
# the service manager
if command -v socat >/dev/null 2>&1; then
	timeout 20 socat UNIX-RECV:"$T/notify",type=2 OPEN:"$T/notified",creat,append & socat=$!
	until_true "[ -S '$T/notify' ]"
	NOTIFY_SOCKET=$T/notify; export NOTIFY_SOCKET
	start
	until_true "grep -q READY=1 '$T/notified'"
	ok $? "READY to the service manager"
	kill -HUP "$sshd_pid"
	until_true "grep -q RELOADING=1 '$T/notified' && [ \$(grep -c READY=1 '$T/notified') = 2 ]"
	ok $? "RELOADING and READY"
	unset NOTIFY_SOCKET
	stop
	kill $socat 2>/dev/null
else
	skip "socat is missing"
fi
done_testing
