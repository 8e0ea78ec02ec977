#!/bin/sh
# What our scp does with SFTP servers that misbehave: nothing lands outside the target, errors are said in one line without control
# characters, nothing hangs.
WS_BUILD=${WS_BUILD:-$(pwd)}
H=$WS_BUILD/regress/helpers
[ -x "$H/hostile_sftp" ] && [ -x "$WS_BUILD/scp" ] || { echo "1..0 # SKIP scp or hostile_sftp is not built"; exit 0; }
T=$(mktemp -d /tmp/ws-hostile-XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
trap 'exit 1' HUP INT TERM
unset SSH_AUTH_SOCK SSH_ASKPASS DISPLAY
umask 022
n=0
sanitized=false
grep -q '^#define WITH_SANITIZERS 1' "$WS_BUILD/config.h" && sanitized=true

# ok STATUS NAME
ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; return; fi
	echo "not ok $n - $2"
	head -c 2000 "$T/err" | cat -v | sed 's/^/# /'
	echo
}
# is GOT WANTED NAME
is() {
	[ "$1" = "$2" ]
	ok $? "$3"
	[ "$1" = "$2" ] || echo "# got: $1"
}
# as CASE: which server -S starts
as() {
	printf '#!/bin/sh\nexec "%s" "%s"\n' "$H/hostile_sftp" "$1" >"$T/server"
	chmod 755 "$T/server"
	rm -rf "$T/world"; mkdir -p "$T/world/target"
}
copy() { (cd "$T/world/target" && exec timeout 60 "$WS_BUILD/scp" -F none -S "$T/server" "$@") >"$T/out" 2>"$T/err" </dev/null; }
# judge CODE SAYS NAME
judge() {
	why=
	[ "$1" != 124 ] || why="it hangs"
	if [ -n "$2" ]; then
		[ "$1" != 0 ] || why="$why; a success"
		grep -Eq -e "$2" "$T/err" || why="$why; wanted: $2"
		[ "$(wc -l <"$T/err")" -le 2 ] || why="$why; many lines"
	fi
	LC_ALL=C tr -d '\n' <"$T/err" | LC_ALL=C grep -q '[^ -~]' && why="$why; control characters"
	grep -Eq 'AddressSanitizer|runtime error|LeakSanitizer' "$T/err" && why="$why; a report of a sanitizer"
	[ "$(ls -A "$T/world")" = target ] && [ ! -e /tmp/evil ] || why="$why; files outside"
	[ -z "$why" ]
	ok $? "$3"
	[ -z "$why" ] || echo "# $why"
}

"$H/hostile_sftp" list >"$T/cases"
while IFS='	' read -r name says; do
	case $name in
	.*) continue ;;
	up|root|dots|slash|none|nul|odd|name-count-lies|deep)
		as "$name"; copy -r h:dir tree; judge $? "$says" "folder: $name"
		as "$name"; copy -r 'h:dir/*' .; judge $? "" "pattern: $name" ;;
	*)
		as "$name"; copy h:file copy; judge $? "$says" "file: $name"
		as "$name"; copy -r h:dir tree; judge $? "" "folder: $name"
		echo data >"$T/world/data"; mv "$T/world/data" "$T/world/target/data"
		as "$name"; echo data >"$T/world/target/data"; copy data h:file; judge $? "" "upload: $name" ;;
	esac
done <"$T/cases"

# ---- somebody's home: where it is is the server's business, what it is called here is not

as .tilde
copy 'h:~bob/notes' .
is "$(ls -A "$T/world/target")" notes "a file in another user's home has the name that was asked for"
as .tilde
copy 'h:~bob' .
is "$(ls -A "$T/world/target")" bob "and so has the home itself"

# ---- a folder without end: as much as one waits for, in bounded memory

as .endless-folder
copy -r h:dir /dev/null/none
judge $? "." "an endless folder into nowhere"
mkdir "$T/world/few" && rmdir "$T/world/few"
(cd "$T/world/target" && exec timeout 5 "$WS_BUILD/scp" -F none -S "$T/server" -r h:dir tree) >"$T/out" 2>"$T/err" </dev/null &
scp=$!
while kill -0 $scp 2>/dev/null; do
	for p in $(pgrep -P $scp); do
		kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$p/status" 2>/dev/null)
		[ "${kib:-0}" -gt "${most:-0}" ] && most=$kib
	done
	sleep 0.2
done
wait $scp
$sanitized || { [ "${most:-0}" -gt 0 ] && [ "$most" -lt 60000 ]; ok $? "an endless folder takes bounded memory (${most:-0} KiB)"; }
echo "1..$n"
