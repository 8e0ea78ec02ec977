#!/bin/sh
# Our ssh against an asyncssh server: every algorithm of both, new keys by either side, endings, logins.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$HELPERS/net_tool"
find_python asyncssh || skip_all "no asyncssh here"
make_client || { ok 1 "keys made"; finish; }
HOST_KEY_FILES= PASSWORD='right Horse 9' AUTHORIZED=$T/authorized_keys
for h in $HOST_KEYS; do HOST_KEY_FILES="$HOST_KEY_FILES $T/host_$h"; done
export HOST_KEY_FILES PASSWORD AUTHORIZED
server_program="$WS_SRC/regress/interop/asyncssh_server.py"

# serve NAME=VALUE...: a server with these settings. Sets PORT and PID.
serve() {
	rm -f "$T/port"
	env "$@" "$PYTHON" -W ignore "$server_program" >"$T/port" 2>"$T/server.log" </dev/null &
	PID=$!
	track $PID
	wait_line . "$T/port" 30 && read -r PORT <"$T/port" || { PID=; ok 1 "asyncssh started" "$T/server.log"; return 1; }
}
"$PYTHON" -W ignore "$server_program" --list >"$T/list" || { ok 1 "asyncssh lists its algorithms"; finish; }
all() { for n in $(sed -n "s/^$1 //p" "$T/list"); do "$OURS" -Q "$1" | grep -qx -e "$n" && echo "$n"; done; }
commas() { echo $* | tr ' ' ,; }
random_file "$T/data" 8388608
sum=$(sum "$T/data")

# run NAME OPTION...: 8 MiB there and back
run() {
	name=$1
	shift
	rm -f "$T/out" "$T/row.log"
	limit 100 "$OURS" -F "$T/client.conf" -p "$PORT" -v -E "$T/row.log" "$@" peer echo-back <"$T/data" >"$T/out" 2>&1
	status=$?
	[ $status = 3 ] && [ "$(sum "$T/out")" = "$sum" ]
	ok $? "our ssh, asyncssh: $name" "$T/row.log" "$T/server.log" || diag "status $status"
}
serve CIPHERS="$(commas $(all cipher))" MACS="$(commas $(all mac))" KEX="$(commas $(all kex))" COMPRESSION=none,zlib@openssh.com || finish
main_port=$PORT
for c in $(all cipher); do run "$c" -o Ciphers=$c -o MACs=hmac-sha2-256; done
for m in $(all mac); do run "$m" -o Ciphers=aes128-ctr -o MACs=$m; done
for k in $(all kex); do run "$k" -o KexAlgorithms=$k; done
for k in ssh-ed25519 ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521 rsa-sha2-256 rsa-sha2-512; do run "$k" -o HostKeyAlgorithms=$k; done
run "compression" -o Compression=yes
for c in aes128-gcm@openssh.com chacha20-poly1305@openssh.com; do
	run "new keys by us, $c" -o Ciphers=$c -o RekeyLimit=1M -o Compression=yes
	[ "$(grep -c 'kex: algorithm: ' "$T/row.log")" -ge 5 ]
	ok $? "several times" "$T/row.log"
done

at() { limit 60 "$OURS" -F "$T/client.conf" -p "$main_port" "$@" >"$T/out" 2>"$T/log"; }
at peer 'exit 7' </dev/null
is "exit status" $? 7
at peer 'echo out; echo err >&2' </dev/null
is "stdout and stderr" "$(cat "$T/out") $(cat "$T/log")" "out err"
at peer signal-me </dev/null
is "an exit signal" $? 255
at peer no-status </dev/null
is "no status" "$? $(cat "$T/out")" "255 data"
at peer late-status </dev/null
is "a status before the data" "$? $(wc -c <"$T/out" | tr -d ' ')" "6 500000"
echo input >"$T/in"
at peer slow-eof <"$T/in"
is "data after our end of input" "$? $(cat "$T/out")" "0 after the end of input"
at -o SetEnv=TEST_X=value peer 'echo $TEST_X' </dev/null
is "environment" "$(cat "$T/out")" value
at -tt -o SetEnv=TERM=vt52 peer true </dev/null
is_line "a terminal" '^vt52 ' "$T/out"
at -o NoneSwitch=yes peer true </dev/null
is "none asked of asyncssh" $? 255
is_line "and it says why not" 'NONE cipher switch not possible' "$T/log"
at -o NoneSwitch=yes -o NoneSwitchFallback=yes peer 'echo hidden' </dev/null
is "none asked of asyncssh, fallback" "$? $(cat "$T/out")" "0 hidden"

# ---- logins

for password in "$PASSWORD" wrong; do
	printf '#!/bin/sh\necho "%s"\n' "$password" >"$T/askpass"
	chmod 755 "$T/askpass"
	for method in password keyboard-interactive; do
		SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force at -o BatchMode=no -o PubkeyAuthentication=no -o NumberOfPasswordPrompts=1 \
			-o PreferredAuthentications=$method peer 'echo in' </dev/null
		status=$?
		[ "$password" = wrong ] && want="255 " || want="0 in"
		is "$method, $([ "$password" = wrong ] && echo a wrong answer || echo the right answer)" "$status $(cat "$T/out")" "$want"
	done
done
stop $PID

# ---- other servers

for c in aes128-gcm@openssh.com chacha20-poly1305@openssh.com; do
	serve REKEY_BYTES=1000000 CIPHERS=$c || continue
	run "new keys by asyncssh, $c"
	[ "$(grep -c 'kex: algorithm: ' "$T/row.log")" -ge 2 ]		# asyncssh counts nothing while an exchange runs
	ok $? "more than once" "$T/row.log"
	run "new keys by both, $c" -o RekeyLimit=700K
	stop $PID
done
serve BANNER="$(printf 'Welcome \033[31mall\n')" && {
	limit 60 "$OURS" -F "$T/client.conf" -p "$PORT" peer true >"$T/out" 2>"$T/log" </dev/null
	is_line "a banner is shown" 'Welcome' "$T/log"
	no_line "without control characters" "$(printf '\033')" "$T/log"
	limit 60 "$OURS" -q -F "$T/client.conf" -p "$PORT" peer true >"$T/out" 2>"$T/log" </dev/null
	is "-q: no banner" "$(cat "$T/log")" ""
	stop $PID
}
finish
