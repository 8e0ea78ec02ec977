#!/bin/sh
# What our ssh does with servers that misbehave: it ends with 255 and says why, hangs on nothing, takes no more memory, and lets no
# control character of theirs reach the terminal.
WS_BUILD=${WS_BUILD:-$(pwd)}
H=$WS_BUILD/regress/helpers
[ -x "$H/hostile_server" ] && [ -x "$WS_BUILD/ssh" ] || { echo "1..0 # SKIP ssh or hostile_server is not built"; exit 0; }
T=$(mktemp -d /tmp/ws-hostile-XXXXXX) || exit 1
n=0 server=
trap 'kill $server 2>/dev/null; rm -rf "$T"' EXIT
trap 'exit 1' HUP INT TERM
unset SSH_AUTH_SOCK SSH_ASKPASS DISPLAY
sanitized=false
grep -q '^#define WITH_SANITIZERS 1' "$WS_BUILD/config.h" && sanitized=true

ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; return; fi
	echo "not ok $n - $2"
	shift 2
	for f in "$@"; do head -c 2000 "$f" | cat -v | sed 's/^/# /'; done
	echo
}
"$WS_BUILD/ssh-keygen" -q -t ed25519 -N '' -f "$T/key" || exit 1
# serve CASE: sets server and port
serve() {
	: >"$T/server"; rm -f "$T/known"
	"$H/hostile_server" "$1" >"$T/server" 2>&1 &
	server=$!
	until port=$(head -n 1 "$T/server") && [ -n "$port" ]; do sleep 0.02; done
}
# client [OPTIONS] COMMAND: never longer than a minute; $T/most is the most memory, in KiB, that it had
client() {
	timeout 60 "$WS_BUILD/ssh" -F none -p "$port" -i "$T/key" -o IdentitiesOnly=yes -o StrictHostKeyChecking=no \
		-o UserKnownHostsFile="$T/known" -o BatchMode=${batch:-yes} -l someone "$@"
}
finished() { wait $server 2>/dev/null; server=; }
# No control character may be there but the ends of lines.
clean() { ! LC_ALL=C tr -d '\n\r\t' <"$1" | LC_ALL=C grep -q '[^ -~]'; }
reports() { grep -Eq 'AddressSanitizer|runtime error|LeakSanitizer' "$@"; }
# watched COMMAND...: with the most memory of ssh processes on this port in $T/most
watched() {
	: >"$T/watch"; most=0
	while [ -e "$T/watch" ]; do
		for p in $(pgrep -f "^$WS_BUILD/ssh -F none -p $port "); do
			kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$p/status" 2>/dev/null)
			[ "${kib:-0}" -le "$most" ] || most=$kib
		done
		echo "$most" >"$T/most"
		sleep 0.1
	done &
	watcher=$!
	"$@"
	code=$?
	rm -f "$T/watch"
	wait $watcher
	return $code
}
# judge CODE STATUS SAYS NAME
judge() {
	why=
	echo "$1" | grep -Eqx "$2" || why="exit status $1, wanted $2"
	[ -z "$3" ] || grep -Eq -e "$3" "$T/err" || why="$why; wanted: $3"
	clean "$T/err" || why="$why; control characters"
	reports "$T/err" "$T/server" && why="$why; a report of a sanitizer"
	[ -z "$why" ]
	ok $? "$4" "$T/err" "$T/server"
	[ -z "$why" ] || echo "# $why"
}

"$H/hostile_server" list >"$T/cases"
while IFS='	' read -r name status options says; do
	case $name in .*) continue ;; esac
	[ "$options" = - ] && options=
	serve "$name"
	client $options 127.0.0.1 command >"$T/out" 2>"$T/err" </dev/null
	judge $? "$status" "$says" "$name"
	finished
done <"$T/cases"

# ---- questions to a person

cat >"$T/askpass" <<'END'
#!/bin/sh
printf '%s\n' "$1" >>"$ASKED"
echo answer
END
chmod 755 "$T/askpass"
ASKED=$T/asked; export ASKED
for name in .kbdint-forever .kbdint-many; do
	: >"$T/asked"
	serve $name
	says=$(sed -n "s/^[.]${name#.}	[^	]*	[^	]*	//p" "$T/cases")
	SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force batch=no client 127.0.0.1 true >"$T/out" 2>"$T/err" </dev/null
	judge $? 255 "$says" "$name"
	clean "$T/asked"
	ok $? "$name: nothing odd in what is asked" "$T/asked"
	finished
done

# ---- windows

serve .overrun
mkfifo "$T/blocked"
sleep 30 <"$T/blocked" & sleeper=$!
watched client 127.0.0.1 command >"$T/blocked" 2>"$T/err" </dev/null
judge $? 255 "peer sent more than its window" "data beyond the window"
kill $sleeper 2>/dev/null
finished
$sanitized || { [ "$(cat "$T/most")" -lt 60000 ]; ok $? "and the memory for it is bounded ($(cat "$T/most") KiB)"; }

serve .stall
watched client -o ServerAliveInterval=1 -o ServerAliveCountMax=2 127.0.0.1 command >"$T/out" 2>"$T/err" </dev/zero
judge $? 255 "Timeout, server 127.0.0.1 not responding" "a server that takes nothing"
kill $server 2>/dev/null
finished
$sanitized || { [ "$(cat "$T/most")" -lt 60000 ]; ok $? "and what waits for it is bounded ($(cat "$T/most") KiB)"; }

# ---- a stdout that takes nothing

if [ -w /dev/full ]; then
	for name in .output .endless; do
		serve $name
		client 127.0.0.1 command >/dev/full 2>"$T/err" </dev/null
		judge $? 255 "write to stdout: No space left on device" "$name: a full disk at stdout"
		finished
	done
fi
serve .endless
client 127.0.0.1 command 2>"$T/err" </dev/null | head -c 100000 >"$T/out"
[ "$(wc -c <"$T/out")" = 100000 ] && clean "$T/err"
ok $? "a reader of stdout that goes away" "$T/err"
finished
grep -q 'end=disconnect reason=11' "$T/server"
ok $? "and the server heard of it" "$T/server"
! reports "$T/err"
ok $? "no report" "$T/err"
echo "1..$n"
