#!/bin/sh
# Our ssh against the stock sshd: everything but the algorithms.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
private_accounts
need "$OURS" "$HELPERS/net_tool" "$HELPERS/on_pty"
need_stock_server

start_stock plain "AcceptEnv TEST_* LANG" "Subsystem sftp ${STOCK_SFTP_SERVER:-internal-sftp}" "Subsystem shout /bin/cat" ||
	{ ok 1 "stock sshd started"; finish; }
plain=$PORT plain_pid=$PID
start_stock often "RekeyLimit 64K" "ClientAliveInterval 0" || { ok 1 "stock sshd started"; finish; }
often=$PORT
make_client
random_file "$T/data" 3000000
data_sum=$(sum "$T/data")

# run NAME ARGUMENT...: our ssh to the plain server; stdout, stderr and status are kept.
run() {
	limit 60 "$OURS" -F "$T/client.conf" -p "$plain" "$@" >"$T/out" 2>"$T/err"
	status=$?
	cat "$T/out" "$T/err" >"$T/log"
}
run_null() { run "$@" </dev/null; }

# ---- statuses, signals, ends of streams

for wanted in 0 1 7 127 254 255; do
	run_null peer "exit $wanted"
	is "exit status $wanted" $status $wanted
done
run_null peer 'kill -TERM $$'
is "a command that a signal ends is 255" $status 255
run_null peer no-such-command-here
is "a command that is not there is 127" $status 127
run_null peer printf '%s-' a 'b  c' '"d  e"'
is "words are joined by single spaces" "$(cat "$T/out")" 'a-b-c-d  e-'
run_null -- peer echo --
is "words after -- are the destination and the command" "$(cat "$T/out")" '--'
run_null peer -T echo flags
is "flags may follow the destination" "$(cat "$T/out")" flags

run peer 'cat >/dev/null; echo over' </dev/null
is "end of input reaches the command" "$(cat "$T/out")" over
printf data >"$T/input"
run peer 'cat; echo err >&2' <"$T/input"
is "stdout is stdout" "$(cat "$T/out")" data
is "stderr is stderr" "$(cat "$T/err")" err
run_null peer "exec <&-; cat $T/data"
is "data after the command closed its input" "$(sum "$T/out")" "$data_sum"
run_null peer "exec >&- 2>&-; sleep 0.2; exit 3"
is "a command that closes its output early: status still comes" $status 3
run peer "head -c 10 >/dev/null; exec <&-; exit 4" <"$T/data"
is "a command that takes only a part of its input" $status 4
run peer "cat >$T/there" <"$T/data"
is "3 MB up" "$(sum "$T/there")" "$data_sum"
run_null peer "cat $T/data"
is "3 MB down" "$(sum "$T/out")" "$data_sum"
run_null peer "cat $T/data >&2"
is "3 MB of stderr" "$(sum "$T/err")" "$data_sum"
run_null peer "cat $T/data & cat $T/data >&2; wait"
is "3 MB of each at once, stdout" "$(sum "$T/out")" "$data_sum"
is "3 MB of each at once, stderr" "$(sum "$T/err")" "$data_sum"
limit 60 "$OURS" -F "$T/client.conf" -p "$plain" peer "cat $T/data; exit 5" 2>"$T/log" >&-
is "stdout closed: no hang, the status still comes" $? 5
run peer 'head -c 5' <"$T/data" && is "exit status with input left over" $status 0
{ limit 60 "$OURS" -F "$T/client.conf" -p "$plain" peer "yes"; echo "$?" >"$T/status"; } 2>"$T/log" | head -c 1000 >/dev/null
ok "$([ "$(cat "$T/status")" != 124 ]; echo $?)" "a reader that goes away ends an endless command"
run peer 'cat' <"$T/client.conf"
cmp -s "$T/out" "$T/client.conf"
ok $? "stdin from a file that epoll refuses"
limit 30 "$OURS" -F "$T/client.conf" -p "$plain" peer 'echo to file' >"$T/plain-file" 2>"$T/log" </dev/null
is "stdout to a plain file" "$(cat "$T/plain-file")" "to file"

# ---- flags

printf 'not to be read\n' >"$T/input"
run -n peer 'cat; echo nothing' <"$T/input"
is "-n reads no stdin" "$(cat "$T/out")" nothing
is "-n leaves stdin to others" "$( { limit 30 "$OURS" -F "$T/client.conf" -p "$plain" -n peer true 2>/dev/null; cat; } <"$T/input")" \
	"not to be read"
run_null -V
is_line "-V names us" '^Wirespeed' "$T/err"
is "-V is status 0" "$status" 0
for what in cipher cipher-auth mac kex key key-cert key-plain key-sig sig protocol-version compression help Ciphers MACs \
	KexAlgorithms HostKeyAlgorithms PubkeyAcceptedAlgorithms; do
	limit 10 "$OURS" -Q $what >"$T/out" 2>"$T/log"
	ok $? "-Q $what"
done
limit 10 "$OURS" -Q nonsense >"$T/out" 2>"$T/log" </dev/null
is "-Q of what is not known" $? 255
for line in "user $ME" "hostname 127.0.0.1" "port $plain" "batchmode yes" "identityfile $T/id" "userknownhostsfile $T/known_hosts"; do
	run_null -G peer
	is_line "-G prints $line" "^$line\$" "$T/out"
done
run_null peer true
is "nothing is said without -v" "$(cat "$T/err")" ""
run_null -v peer true
is_line "-v: authenticated" "Authenticated to 127.0.0.1 (\[127.0.0.1\]:$plain) using \"publickey\"\." "$T/err"
is_line "-v: connecting" "debug1: Connecting to 127.0.0.1 \[127.0.0.1\] port $plain\." "$T/err"
is_line "-v: kex" 'debug1: kex: algorithm: ' "$T/err"
is_line "-v: cipher" 'debug1: kex: server->client cipher: [^ ]* MAC: [^ ]* compression: none' "$T/err"
is_line "-v: remote version" 'debug1: .*OpenSSH_' "$T/err"
is_line "-v: exit status" 'debug1: Exit status 0' "$T/err"
is_line "-v: command" 'debug1: Sending command: true' "$T/err"
is_line "-v: transferred" '^Transferred: sent [0-9]*, received [0-9]* bytes, in [0-9.]* seconds' "$T/err"
is_line "-v: bytes per second" '^Bytes per second: sent [0-9.]*, received [0-9.]*' "$T/err"
no_line "-v is level 1" 'debug[23]:' "$T/err"
is "log lines end in CR LF" "$(grep -c "debug1.*$(printf '\r')$" "$T/err")" "$(grep -c debug1 "$T/err")"
run_null -vvv peer true
is_line "-vvv is level 3" 'debug[23]:' "$T/err"
run_null -q -o NoSuchOption=1 peer true
is "an unknown option is 255" $status 255
run_null -E "$T/logfile" -v peer 'echo out; echo err >&2'
is_line "-E: the log goes there" 'debug1: ' "$T/logfile"
is "-E: stderr stays for the command" "$(cat "$T/err")" err
run_null -E /nonexistent/log peer true
is "-E that cannot be opened is 1" $status 1

run_null -o IgnoreUnknown=Surely* -o SurelyNot=1 peer true
is "IgnoreUnknown" $status 0
run_null -l "$ME" peer 'id -un'
is "-l" "$(cat "$T/out")" "$ME"
run_null -o User=nobody-here -l "$ME" peer true
is "the first user wins" $status 255
run_null "$ME@peer" 'id -un'
is "user@host" "$(cat "$T/out")" "$ME"
limit 20 "$OURS" -F "$T/client.conf" "ssh://$ME@peer:$plain" 'echo uri' >"$T/out" 2>"$T/log" </dev/null
is "ssh://user@host:port" "$(cat "$T/out")" uri
limit 20 "$OURS" -F "$T/client.conf" "ssh://peer/path" 'echo uri' >"$T/out" 2>"$T/log" </dev/null
is "ssh:// with a path is refused" $? 255
limit 20 "$OURS" -F "$T/client.conf" -p "$plain" "peer;id" true >"$T/out" 2>"$T/log" </dev/null
is "characters that no host has are refused" $? 255
is_line "and it says so" 'hostname contains invalid characters' "$T/log"

# ---- configuration files

cat >"$T/blocks.conf" <<CONF
Host one
	Port $plain
	SetEnv TEST_WHO=one
Host two
	Port $often
	SetEnv TEST_WHO=two
Match host 127.0.0.1 exec "test -f $T/switch"
	SetEnv TEST_WHO=matched
Match originalhost three
	SetEnv TEST_WHO=three
Host *
	Port $plain
	Include $T/client.conf
CONF
chmod 600 "$T/blocks.conf" "$T/client.conf"
with_blocks() { limit 30 "$OURS" -F "$T/blocks.conf" "$@" 2>"$T/log" </dev/null; }
is "Host block" "$(with_blocks one 'echo $TEST_WHO $SSH_CONNECTION' | cut -d' ' -f1,5)" "one $plain"
is "the first Host block that fits" "$(with_blocks two 'echo $SSH_CONNECTION' | cut -d' ' -f4)" "$often"
is "Match originalhost" "$(with_blocks three 'echo $TEST_WHO')" three
: >"$T/switch"
is "Match host exec" "$(with_blocks -o Hostname=127.0.0.1 three 'echo $TEST_WHO')" matched
run_null -F none -o "IdentityFile=$T/id" -o "UserKnownHostsFile=$T/known_hosts" -o BatchMode=yes "$ME@127.0.0.1" 'echo none'
is "-F none" "$(cat "$T/out")" none
run_null -F /nonexistent/config peer true
is "-F of a file that is not there is 255" $status 255
printf 'Nonsense yes\nPort abc\n' >"$T/bad.conf"
run_null -F "$T/bad.conf" peer true
is "a bad configuration is 255" $status 255
is_line "and names the line" "$T/bad.conf.*line 1: Bad configuration option: [Nn]onsense" "$T/err"
is_line "all of them" "$T/bad.conf.* line 2" "$T/err"
is_line "and their number" 'terminating, 2 bad configuration options' "$T/err"

# ---- environment

TEST_A=alpha TEST_B='b c' OTHER=secret run_null -o 'SendEnv TEST_* OTHER' -o 'SetEnv TEST_C=gamma "TEST_D=d e"' peer \
	'echo "$TEST_A,$TEST_B,$TEST_C,$TEST_D,$OTHER"'
is "SendEnv and SetEnv" "$(cat "$T/out")" "alpha,b c,gamma,d e,"
TEST_A=alpha run_null -o 'SendEnv TEST_*' -o 'SendEnv -TEST_*' peer 'echo "$TEST_A"'
is "SendEnv that takes back" "$(cat "$T/out")" ""

# ---- subsystems, forwarding of stdio, proxies

printf shouted >"$T/input"
run -s peer shout <"$T/input"
is "-s runs a subsystem" "$(cat "$T/out")" shouted
# An sftp-server whose input ends at once answers nothing, so it stays open until the answer is there.
: >"$T/out"
{ printf '\000\000\000\005\001\000\000\000\003'; wait_until 20 test -s "$T/out"; } |
	limit 30 "$OURS" -F "$T/client.conf" -p "$plain" -s peer sftp >"$T/out" 2>"$T/log"
is "-s sftp answers VERSION 3" "$(head -c 9 "$T/out" | tail -c 5 | od -An -tx1)" " 02 00 00 00 03"
run_null -s peer no-such-subsystem
is "a subsystem that is not there is 255" $status 255
is_line "and says so" 'subsystem request failed on channel 0' "$T/err"
run_null -s peer
is "-s without a name is 255" $status 255
run_null -N -s peer sftp
is "-N and -s is 255" $status 255

"$HELPERS/net_tool" serve connections=2 send='greeting\n' line send='goodbye\n' >"$T/fake.port" &
track $!
wait_line . "$T/fake.port"
echo hello >"$T/input"
run -W "127.0.0.1:$(cat "$T/fake.port")" peer <"$T/input"
is "-W passes data both ways" "$(tr '\n' ' ' <"$T/out")" "greeting goodbye "
is "-W ends with 0" $status 0
(sleep 0.3; echo hello) | run -W "127.0.0.1:$(cat "$T/fake.port")" peer
is "-W when the other side speaks first" "$(tr '\n' ' ' <"$T/out")" "greeting goodbye "
run_null -W 127.0.0.1:1 peer
is "-W to a closed port is 255" $status 255
is_line "and says so" 'stdio forwarding failed' "$T/err"
hop="$OURS -F $T/client.conf -p $plain -W %h:%p peer"
limit 60 "$OURS" -F "$T/client.conf" -p "$often" -o "ProxyCommand $hop" peer "tee $T/there" <"$T/data" >"$T/out" 2>"$T/log"
is "through ProxyCommand with our own -W: status" $? 0
is "through ProxyCommand with our own -W: there" "$(sum "$T/there")" "$data_sum"
is "through ProxyCommand with our own -W: back" "$(sum "$T/out")" "$data_sum"
limit 60 "$OURS" -F "$T/client.conf" -p "$often" -o "ProxyJump peer:$plain" peer "tee $T/there" <"$T/data" >"$T/out" 2>"$T/log"
is "ProxyJump: status" $? 0
is "ProxyJump: back" "$(sum "$T/out")" "$data_sum"
cp "$T/client.conf" "$T/100% it's.conf"
limit 60 "$OURS" -F "$T/100% it's.conf" -v -p "$often" -J "$ME@peer:$plain,peer:$plain" peer "cat $T/data" >"$T/out" 2>"$T/log" </dev/null
is "-J over two hops, a file name for quoting: status" $? 0
is "-J over two hops: data" "$(sum "$T/out")" "$data_sum"
is "-v is handed on" "$(grep -c 'Authenticated to 127.0.0.1' "$T/log")" 3
limit 30 "$OURS" -F "$T/client.conf" -p "$plain" -o "ProxyCommand exit 1" peer true >"$T/log" 2>&1 </dev/null
is "a ProxyCommand that fails is 255" $? 255
limit 30 "$OURS" -F "$T/client.conf" -p "$plain" -o "ProxyCommand $T/nosuch" peer true >"$T/log" 2>&1 </dev/null
is "a ProxyCommand that is not there is 255" $? 255
is "and no proxy is left" "$(children_of $$ | wc -w)" "$(wc -l <"$T/pids" | tr -d ' ')"

# ---- -N, -f

"$OURS" -F "$T/client.conf" -p "$plain" -N -v -E "$T/n.log" peer </dev/null >"$T/out" 2>&1 &
pid=$!
track $pid
wait_line 'Authenticated to' "$T/n.log"
ok $? "-N logs in" "$T/n.log"
kill -TERM $pid
wait $pid
is "-N ended by SIGTERM is 0" $? 0
"$OURS" -F "$T/client.conf" -p "$plain" -f peer "sleep 0.3; echo background >$T/background" >"$T/out" 2>&1 </dev/null
is "-f returns" $? 0
wait_until 10 test -s "$T/background"
ok $? "-f goes on in the background"
"$OURS" -F "$T/client.conf" -p "$plain" -f peer >"$T/log" 2>&1 </dev/null
is "-f without a command is 255" $? 255

# ---- terminals

on_pty() { limit 60 "$HELPERS/on_pty" "$@" >"$T/out" 2>"$T/log"; status=$?; cat "$T/out" >>"$T/log"; }
can_tty() { [ -z "$STOCK_SSH" ] || limit 20 "$STOCK_SSH" -q -F "$T/client.conf" -p "$plain" -tt peer true >"$T/log" 2>&1 </dev/null; }
ssh_words="$OURS -F $T/client.conf -p $plain"
if can_tty; then
on_pty size=31x77 -- $ssh_words -t peer 'stty size; tty; exit 6'
is "-t: status" $status 6
is_line "-t: size of the terminal" '^31 77' "$T/out"
is_line "-t: a terminal there" '/dev/pts/' "$T/out"
is_line "-t: says how it ended" 'Connection to 127.0.0.1 closed\.' "$T/out"
on_pty -- $ssh_words -T peer 'tty; exit 2'
is_line "-T: none" 'not a tty' "$T/out"
run_null -t peer tty
is_line "-t without a terminal here: none, and said so" 'Pseudo-terminal will not be allocated' "$T/err"
run_null -tt peer tty
is_line "-tt: all the same" '/dev/pts/' "$T/out"
on_pty 'expect=READY' size=40x100 'expect=40 100' -- $ssh_words -t peer \
	'trap "stty size; exit 0" WINCH; echo READY; while :; do sleep 0.1; done'
is "a changed size arrives" $status 0
on_pty 'expect=READY' 'send=\x03' 'expect=INT' -- $ssh_words -t peer 'trap "echo INT; exit 9" INT; echo READY; while :; do sleep 0.1; done'
is "^C goes to the other side" $status 9
on_pty 'expect=READY' 'send=hidden\r' 'expect=got hidden' -- $ssh_words -t peer 'stty -echo; echo READY; read x; echo got $x'
is "without echo" "$(grep -c hidden "$T/out")" 1
PS1='$ ' on_pty 'send=echo $((40+2))\r' 'expect=42' 'send=exit 3\r' -- $ssh_words peer
is "a shell" $status 3
on_pty 'send=echo $((40+2))\r' 'expect=42' 'send=\r~.' -- $ssh_words peer
is "~. ends it with 255" $status 255
on_pty 'send=echo $((40+2))\r' 'expect=42' 'send=\r~?' 'expect=escape' 'send=\r~~.\rexit 4\r' -- $ssh_words peer
is "~? and ~~" $status 4
on_pty 'send=echo $((40+2))\r' 'expect=42' 'send=\r~R' 'send=\recho $((50+3))\r' 'expect=53' 'send=exit 5\r' -- \
	$ssh_words -v -E "$T/rekey.log" peer
is "~R" $status 5
is "~R made new keys" "$(grep -c 'kex: algorithm:' "$T/rekey.log")" 2
on_pty 'send=echo $((40+2))\r' 'expect=42' 'send=\r~.\rexit 7\r' -- $ssh_words -e none peer
is "-e none" $status 7
on_pty -- sh -c "stty -a >$T/before; $ssh_words -t peer true; stty -a >$T/after"
cmp "$T/before" "$T/after" >"$T/log" 2>&1
ok $? "the terminal is as it was"
on_pty 'expect=READY' 'signal=1' -- sh -c "exec $ssh_words -t peer 'echo READY; sleep 20'"
is "SIGHUP ends it" $status 255

else skip "terminals" "the stock sshd cannot give $ME one here"; fi

# ---- servers that are not what one hopes for

limit 20 "$OURS" -F "$T/client.conf" -p "$(free_port)" peer true >"$T/log" 2>&1 </dev/null
is "connection refused is 255" $? 255
is_line "and says so" '^ssh: connect to host 127.0.0.1 port [0-9]*: Connection refused' "$T/log"
limit 30 "$OURS" -F "$T/client.conf" -o Hostname=no-such-host.invalid peer true >"$T/log" 2>&1 </dev/null
is "an unknown host is 255" $? 255
is_line "and says so" '^ssh: Could not resolve hostname no-such-host.invalid: ' "$T/log"
printf '* %s\n' "$(cut -d' ' -f1,2 "$T/id.pub")" >"$T/wrong_hosts"
run_null -o "UserKnownHostsFile=$T/wrong_hosts" -o HostKeyAlgorithms=ssh-ed25519 peer true
is "a changed host key is 255" $status 255
is_line "and says so" 'REMOTE HOST IDENTIFICATION HAS CHANGED' "$T/err"
run_null -o "UserKnownHostsFile=$T/none" peer true
is "an unknown host key under StrictHostKeyChecking yes is 255" $status 255
is_line "and says so" 'Host key verification failed\.' "$T/err"
make_key "$T/other_id" ed25519
limit 30 "$OURS" -F none -p "$plain" -i "$T/other_id" -o IdentitiesOnly=yes -o "UserKnownHostsFile=$T/known_hosts" -o BatchMode=yes \
	"$ME@127.0.0.1" true >"$T/out" 2>"$T/err" </dev/null
status=$?
is "a key that is not allowed is 255" $status 255
is_line "and says so" "^$ME@127.0.0.1: Permission denied (publickey" "$T/err"
run_null -o KexAlgorithms=curve25519-sha256 -o MACs=hmac-md5 -o Ciphers=aes128-ctr peer true
is "no common MAC is 255" $status 255
is_line "and says so" 'Unable to negotiate with 127.0.0.1 port [0-9]*: no matching MAC found\. Their offer: ' "$T/err"

# fake STEP...: a server that plays the steps; our ssh to it
fake() {
	rm -f "$T/fake.port"
	"$HELPERS/net_tool" serve "$@" >"$T/fake.port" &
	fake_pid=$!
	track $fake_pid
	wait_line . "$T/fake.port"
	limit 20 "$OURS" -F "$T/client.conf" -p "$(cat "$T/fake.port")" -o ConnectTimeout=2 $fake_options peer true \
		>"$T/log" 2>&1 </dev/null
	status=$?
	end $fake_pid
	wait $fake_pid 2>/dev/null
}
fake line shut
is "closed before its version: 255" $status 255
is_line "and says so" 'Connection closed by 127.0.0.1 port' "$T/log"
fake reset
is "reset before its version: 255" $status 255
fake line send='HTTP/1.0 400 Bad Request\r\n\r\n'
is "another protocol: 255" $status 255
fake send='SSH-1.5-old\r\n' line
is "protocol 1: 255" $status 255
fake send='SSH-2.0-x\r\n' line send='\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
is "a packet of no length: 255" $status 255
fake send='SSH-2.0-x\r\n' line send='\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00'
is "a packet of 4 GiB: 255" $status 255
fake hang
is "a server that says nothing: 255 after ConnectTimeout" $status 255
is_line "and says so" 'Connection timed out during banner exchange' "$T/log"
fake send='SSH-2.0-x\r\n' hang
is "a server that stops after its version: 255 after ConnectTimeout" $status 255
fake send='SSH-2.0-x\r\n' line disconnect='2:go \x1b[31maway'
is "a server that disconnects: 255" $status 255
is_line "and its reason is shown, without control characters" 'Received disconnect from 127.0.0.1 port [0-9]*:2: go [^[:cntrl:]]*away' "$T/log"
fake send='Welcome\r\nto this\r\nhost\r\n' relay="$plain"
is "lines before the version are passed over" $status 0
fake_options=-v
fake send='Welcome \x1b[31m\r\n' relay="$plain"
is_line "with -v they are seen" 'Welcome' "$T/log"
no_line "without control characters" "$(printf '\033')" "$T/log"
fake_options=
fake "send=$(head -c 20000 /dev/zero | tr '\0' x)" hang
is "an endless line before the version: 255" $status 255
fake "send=$(yes 'no ssh here\r\n' | head -n 2000 | tr -d '\n')" hang
is "endless lines before the version: 255" $status 255

# ---- a server that falls silent

mkfifo "$T/fifo"
rm -f "$T/fake.port"
"$HELPERS/net_tool" serve relay="$plain" >"$T/fake.port" &
relay_pid=$!
track $relay_pid
wait_line . "$T/fake.port"
limit 60 "$OURS" -F "$T/client.conf" -p "$(cat "$T/fake.port")" -o ServerAliveInterval=1 -o ServerAliveCountMax=2 peer \
	'echo up; cat' >"$T/out" 2>"$T/log" <"$T/fifo" &
pid=$!
track $pid
exec 3>"$T/fifo"
wait_line up "$T/out"
kill -STOP $relay_pid
wait $pid
is "a silent server: ServerAliveInterval ends it" $? 255
is_line "and says so" 'Timeout, server 127.0.0.1 not responding\.' "$T/log"
exec 3>&-
kill -CONT $relay_pid
end $relay_pid

limit 60 "$OURS" -F "$T/client.conf" -p "$plain" -o ServerAliveInterval=1 -o ServerAliveCountMax=3 peer 'sleep 5; echo there' \
	>"$T/out" 2>"$T/log" </dev/null
is "a quiet but living server is left in peace" "$(cat "$T/out")" there

mkfifo "$T/fifo2"
limit 60 "$OURS" -F "$T/client.conf" -p "$plain" peer 'echo $PPID; cat' >"$T/out" 2>"$T/log" <"$T/fifo2" &
pid=$!
track $pid
exec 3>"$T/fifo2"
wait_line . "$T/out"
kill -KILL "$(cat "$T/out")"
wait $pid
is "a server that dies: 255" $? 255
is_line "and says so" 'Connection to 127.0.0.1 closed by remote host\.' "$T/log"
exec 3>&-

# ---- the end of output is not lost (slow reader, new keys all the time)

runs=${FULL:+500}
runs=${runs:-40}
wanted=$(seq 1 200000 | sha256sum)
same=0
for i in $(seq "$runs"); do
	case $((i % 4)) in 0) more="-o Compression=yes" ;; 1) more="-o RekeyLimit=64K" ;; *) more= ;; esac
	case $((i % 2)) in 0) p=$often ;; 1) p=$plain ;; esac
	got=$( { limit 60 "$OURS" -F "$T/client.conf" -p "$p" $more peer 'seq 1 200000; exit 7' </dev/null 2>>"$T/log"
		echo $? >"$T/status"; } | (sleep 0.05; cat) | sha256sum)
	[ "$got" = "$wanted" ] && [ "$(cat "$T/status")" = 7 ] && same=$((same + 1)) || diag "run $i: status $(cat "$T/status")"
done
is "all of the output, and the status, $runs times" $same "$runs"
same=0
for i in $(seq $((runs / 8))); do
	got=$(seq 1 200000 | limit 60 "$OURS" -F "$T/client.conf" -p "$often" -o RekeyLimit=64K peer 'sleep 0.1; sha256sum' 2>"$T/log")
	[ "$got" = "$wanted" ] && same=$((same + 1))
done
is "all of the input, $((runs / 8)) times" $same $((runs / 8))

# ---- a reader that stalls

mkfifo "$T/slow"
"$OURS" -F "$T/client.conf" -p "$plain" -o RekeyLimit=1M peer 'cat /dev/zero' >"$T/slow" 2>"$T/log" </dev/null &
pid=$!
track $pid
exec 3<"$T/slow"
wait_until 20 has_stalled $pid rchar
ok $? "a reader that stalls stops the server"
peak=$(memory_peak_kib $pid)
ok "$([ "$peak" -lt 65536 ]; echo $?)" "and the client's memory is bounded ($peak KiB)"
is "then all comes" "$(head -c 64000000 <&3 | tr -d '\0' | wc -c; )" 0
peak=$(memory_peak_kib $pid)
ok "$([ "$peak" -lt 65536 ]; echo $?)" "and it stays bounded ($peak KiB)"
exec 3<&-
wait $pid
ok "$([ $? != 0 ]; echo $?)" "and the end of the reader is the end"

# ---- networks that give little at a time

for chunk in 1 7 1024; do
	case $chunk in 1) bytes=200000 ;; 7) bytes=500000 ;; *) bytes=${FULL:+64000000} bytes=${bytes:-6000000} ;; esac
	random_file "$T/some" $bytes
	cat "$T/some" | limit 200 "$OURS" -F "$T/client.conf" -p "$plain" -o "RekeyLimit $((bytes / 10))" \
		-o "ProxyCommand $HELPERS/net_tool relay 127.0.0.1 %p $chunk" -v -E "$T/row.log" peer "tee $T/there" >"$T/out" 2>"$T/log"
	is "$chunk bytes at a time: status" $? 0
	is "$chunk bytes at a time: there" "$(sum "$T/there")" "$(sum "$T/some")"
	is "$chunk bytes at a time: back" "$(sum "$T/out")" "$(sum "$T/some")"
	# All may go out while the peer's NEWKEYS is on its slow way.
	ok "$([ "$(grep -c 'kex: algorithm:' "$T/row.log")" -ge 2 ]; echo $?)" "$chunk bytes at a time: new keys" "$T/row.log"
	rm -f "$T/row.log"
done
finish
