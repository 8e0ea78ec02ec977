#!/bin/sh
# Sessions of our sshd with the stock client: programs, data, terminals, environment, files, SFTP.
. "$(dirname "$0")/sshd_lib.sh"

serve "AcceptEnv WSLANG WSX_*" "SetEnv WSSET=fixed" "Subsystem sftp internal-sftp" || exit 1

# ---- exec

on $host true
until_true '[ "$(processes_of_server)" = 0 ]'
fds=$(ls "/proc/$sshd_pid/fd" 2>/dev/null | wc -l)
is "$(on $host 'echo out; echo err >&2' 2>"$T/err")" out "stdout of a command"
is "$(cat "$T/err")" err "stderr is apart"
on $host 'exit 7'
is $? 7 "exit status"
on $host 'kill -TERM $$' 2>/dev/null
is $? 255 "a command that a signal ends"
on $host true
is $? 0 "exit status 0"
is "$(on $host 'printf "%s|" "$0" "$USER" "$LOGNAME" "$HOME"; pwd')" "sh|$user|$user|$(on $host 'echo $HOME')|$(on $host 'echo $HOME')" \
	"account and home of a command"
is "$(echo 'echo from a shell; exit 3' | on $host; echo $?)" "from a shell
3" "a shell without a terminal"

# ---- data

head -c 20000000 /dev/urandom >"$T/data"
sum=$(sha256sum <"$T/data")
is "$(on $host sha256sum <"$T/data")" "$sum" "20 MB to a command"
is "$(on $host cat "$T/data" | sha256sum)" "$sum" "20 MB from a command"
is "$(on $host cat <"$T/data" | sha256sum)" "$sum" "20 MB both ways at once"
is "$(on -o RekeyLimit=1M $host cat <"$T/data" | sha256sum)" "$sum" "the same with the client re-keying each MB"
for cipher in aes128-gcm@openssh.com aes256-ctr chacha20-poly1305@openssh.com; do
	is "$(on -c $cipher -o Compression=yes $host cat <"$T/data" | sha256sum)" "$sum" "the same with $cipher and compression"
done
is "$(on $host 'seq 1 200000; exit 7' | (sleep 0.1; cat) | sha256sum)" "$(seq 1 200000 | sha256sum)" "the end of output reaches a slow reader"
is "$(seq 1 200000 | on $host 'sleep 0.2; sha256sum')" "$(seq 1 200000 | sha256sum)" "input waits for a slow program"
is "$(on $host 'yes' 2>/dev/null | head -n 3 | tr '\n' ' ')" "y y y " "a reader that goes away ends the program"
is "$(on $host 'exec >&-; exec 2>&-; exit 5'; echo $?)" 5 "output that is closed before the program ends"
is "$(timeout 20 ssh -F "$T/ssh_config" -i "$T/key" -p $port -l $user $host 'sleep 60 >/dev/null 2>&1 </dev/null & echo gone')" gone \
	"a job in the background with its own descriptors does not hold the session"

# ---- environment

is "$(WSLANG=a WSX_1=b WSNO=c on -o SendEnv='WSLANG WSX_* WSNO' $host 'echo "$WSLANG,$WSX_1,$WSNO,$WSSET"')" "a,b,,fixed" "AcceptEnv and SetEnv"
case $(on $host 'echo "$SSH_CONNECTION|$SSH_CLIENT|$SSH_TTY"') in
"127.0.0.1 "[0-9]*" 127.0.0.1 $port|127.0.0.1 "[0-9]*" $port|") r=0 ;;
*) r=1 ;;
esac
ok $r "SSH_CONNECTION and SSH_CLIENT"
case $(on $host 'echo $PATH') in "$(path_of PATH_BINDIR):"*) r=0 ;; *) r=1 ;; esac
ok $r "our own programs come first in PATH"
is "$(on $host 'umask')" 0022 "umask"

# ---- terminal

is "$(on -tt $host 'tty | sed "s/[0-9]*$//"; test -t 0 && test -t 1 && test -t 2 && echo all; echo "$TERM"' 2>/dev/null </dev/null | tr -d '\r')" \
	"/dev/pts/
all
$TERM" "a command with a terminal"
on -tt $host 'exit 9' </dev/null >/dev/null 2>&1
is $? 9 "exit status with a terminal"
is "$(on -tt $host 'sleep 60 & exit 4' </dev/null >/dev/null 2>&1; echo $?)" 4 "a terminal session ends with its shell, jobs or not"
if command -v expect >/dev/null 2>&1; then
	# It is what ^C shall end that says that it is there: before, the shell itself might take it.
	cat >"$T/expect" <<EXPECT
set timeout 20
set stty_init "rows 33 cols 77"
spawn ssh -F $T/ssh_config -i $T/key -p $port -l $user $host
expect -re {[\$#] \$} {} timeout { exit 2 }
send "stty size\r"
expect "33 77" {} timeout { exit 3 }
send "echo \\\$SSH_TTY\r"
expect -re {/dev/pts/[0-9]+} {} timeout { exit 4 }
stty rows 44 columns 88 < \$spawn_out(slave,name)
send "until stty size | grep '44 8''8'; do sleep 0.1; done\r"
expect "44 88" {} timeout { exit 5 }
send "sh -c \"echo going to sl''eep; exec sleep 100\"\r"
expect "going to sleep" {} timeout { exit 5 }
send "\003"
expect -re {[\$#] \$} {} timeout { exit 6 }
send "echo after\\_interrupt\r"
expect "after_interrupt" {} timeout { exit 6 }
send "exit 5\r"
expect eof {} timeout { exit 7 }
set status [wait]
exit [expr {[lindex \$status 3] == 5 ? 0 : 8}]
EXPECT
	expect "$T/expect" >"$T/out" 2>&1
	ok $? "a shell on a terminal: size, change of size, interrupt, exit" "$T/out"
else
	skip "expect is missing"
fi

# ---- files

S="-F $T/ssh_config -i $T/key -o User=$user"
mkdir "$T/work" && chmod 777 "$T/work"
printf 'put %s %s/work/put\nget %s/work/put %s/got\nls -l %s/work\n' "$T/data" "$T" "$T" "$T" "$T" |
	sftp $S -P $port -b - $host >"$T/out" 2>&1
is "$(sha256sum <"$T/got")" "$sum" "sftp there and back"
rm -f "$T/got"
scp -q $S -P $port "$T/data" "$host:$T/work/scp" && scp -q $S -P $port "$host:$T/work/scp" "$T/got"
is "$(sha256sum <"$T/got")" "$sum" "scp there and back"
rm -f "$T/got"
scp -O -q $S -P $port "$T/data" "$host:$T/work/scpo" && scp -O -q $S -P $port "$host:$T/work/scpo" "$T/got"
is "$(sha256sum <"$T/got")" "$sum" "scp of old there and back"
is "$(echo 'pwd' | sftp $S -P $port -b - $host 2>/dev/null | tail -n 1)" "Remote working directory: $(on $host pwd)" "sftp starts at home"
# Only what descends from our sshd counts: others may run servers of their own at the same time.
cat >"$T/descendants" <<'END'
descendants() { for c in $(pgrep -P "$1"); do cat "/proc/$c/comm"; descendants "$c"; done; }
descendants "$1"
END
echo "!sh $T/descendants $sshd_pid" | sftp $S -P $port -b - $host >"$T/names" 2>/dev/null
grep -q "^sshd" "$T/names" && ! grep -q sftp-server "$T/names"
ok $? "sftp has no process of its own" "$T/names"

# several channels on one connection: file calls go through the helper thread then
on -M -S "$T/mux" -o ControlPersist=30 $host true
on -S "$T/mux" $host 'cat; echo end' <"$T/data" >"$T/got3" & catter=$!
rm -f "$T/got"
scp -q $S -o ControlPath="$T/mux" -P $port "$T/data" "$host:$T/work/mux" && scp -q $S -o ControlPath="$T/mux" -P $port "$host:$T/work/mux" "$T/got"
is "$(sha256sum <"$T/got")" "$sum" "scp there and back beside another session"
wait $catter
is "$(head -c 20000000 "$T/got3" | sha256sum)" "$sum" "which goes on"
on -S "$T/mux" -O exit $host 2>/dev/null
until_true '[ "$(processes_of_server)" = 0 ]'
is "$(ls "/proc/$sshd_pid/fd" 2>/dev/null | wc -l)" "$fds" "the listener keeps no descriptor"
for f in /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server /usr/lib/ssh/sftp-server; do
	[ -x "$f" ] && external=$f
done
if [ -n "${external:-}" ]; then
	serve "Subsystem sftp $external -l ERROR" "Subsystem echo cat"
	is "$(printf 'get %s %s/got2\n' "$T/data" "$T" | sftp $S -P $port -b - $host >/dev/null 2>&1; sha256sum <"$T/got2")" "$sum" \
		"another sftp-server as a child"
	is "$(echo through | on -s $host echo)" through "a subsystem that is a command"
	on -s $host nothing >/dev/null 2>&1
	is $? 255 "a subsystem that is not there"
	logged "^subsystem request for nothing by user $user failed, subsystem not found" "and is named"
else
	skip "no other sftp-server"
fi
own=$(path_of PATH_LIBEXECDIR)/sftp-server
serve "Subsystem sftp $own -R"
printf 'pwd\nput %s %s/work/no\n' "$T/key.pub" "$T" | sftp $S -P $port -b - $host >"$T/out" 2>&1
grep -q "Remote working directory" "$T/out" && [ ! -s "$T/work/no" ]
ok $? "our own sftp-server by its path, in process and with its arguments" "$T/out"

# ---- signals

python=
for p in /usr/bin/python3 python3; do
	"$p" -W ignore -c 'import asyncssh' 2>/dev/null && python=$p && break
done
if [ -n "$python" ]; then
	cat >"$T/send_it.py" <<'PYTHON'
import asyncio, sys, asyncssh
async def main(port, user, key):
    async with asyncssh.connect('127.0.0.1', port, username=user, client_keys=[key], known_hosts=None) as c:
        p = await c.create_process("trap 'echo got it; exit 5' TERM; echo ready; while :; do sleep 0.1; done")
        print((await p.stdout.readline()).strip())
        p.send_signal('TERM')
        print((await p.stdout.readline()).strip())
        await p.wait()
        print(p.exit_status)
        p = await c.create_process('kill -KILL $$')
        await p.wait()
        print(p.exit_signal[0])
asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
PYTHON
	is "$(timeout 30 "$python" -W ignore "$T/send_it.py" $port $user "$T/key" 2>"$T/err" | tr '\n' ' ')" "ready got it 5 KILL " \
		"signals reach the program, and how it ended comes back" "$T/err"
else
	skip "asyncssh is missing"
fi

# ---- afterwards

until_true '[ "$(processes_of_server)" = 0 ]'
is "$(processes_of_server)" 0 "no process is left behind"
ok "$(grep -Eic 'error|broke the rules|died of signal|Sanitizer' "$T/log")" "nothing went wrong on the way"
stop
done_testing
