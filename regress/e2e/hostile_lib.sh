# hostile_lib.sh: for hostile_*.t: runs the cases of the hostile clients against our sshd and looks after each whether it has
# suffered. Everything of sshd_lib.sh is there too.

# With sanitizers the processes cannot write reports but to stderr, which is $T/sshd.err; leaks of processes that nobody may
# look into cannot be found that way.
ASAN_OPTIONS=detect_leaks=0:abort_on_error=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS UBSAN_OPTIONS
. "$(dirname "$0")/sshd_lib.sh"

H=$WS_BUILD/regress/helpers
sanitized=false
grep -q '^#define WITH_SANITIZERS 1' "$WS_BUILD/config.h" && sanitized=true
for f in hostile_plain hostile_login hostile_session; do
	[ -x "$H/$f" ] || { echo "1..0 # SKIP $f is not built"; exit 0; }
done

# The listener and everything below it.
family() {
	list=$sshd_pid new=$sshd_pid
	while [ -n "$new" ]; do
		new=$(for p in $new; do pgrep -P "$p"; done)
		list="$list $new"
	done
	echo $list
}
# The most memory, in KiB, that a process under the listener has had, as long as $T/watch is there.
watch_memory() {
	most=0
	while [ -e "$T/watch" ]; do
		for p in $(family); do
			[ "$p" = "$sshd_pid" ] && continue
			kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$p/status" 2>/dev/null)
			[ "${kib:-0}" -le "$most" ] || most=$kib
		done
		echo "$most" >"$T/most"
		sleep 0.1
	done
}
# What the listener holds: descriptors.
listener_fds() { ls "/proc/$sshd_pid/fd" 2>/dev/null | wc -l; }
listener_kib() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$sshd_pid/status"; }
reports() { grep -hE 'AddressSanitizer|runtime error|LeakSanitizer|forbidden system call' "$T/sshd.err" "$T/log" "$T"/log.* 2>/dev/null; }
good_login() { timeout 60 "$H/hostile_session" "$port" .login user="$user" key="$T/key" >"$T/login" 2>&1 </dev/null; }

# one PROGRAM CASE LOG [ARGUMENTS]: does one case. Its end must be as the program expects, LOG must be in the log, and a good
# client must be served afterwards.
one() {
	program=$1 name=$2 log=$3
	shift 3
	: >"$T/log"
	timeout 100 "$H/$program" "$port" "$name" user="$user" key="$T/key" "$@" >"$T/out" 2>&1 </dev/null
	code=$?
	why=
	[ $code = 0 ] || why="it ended with $code"
	client=$(sed -n 's/.*port=\([0-9]*\).*/\1/p' "$T/out")
	expected=$(printf '%s' "$log" | sed "s/@/127\\\\.0\\\\.0\\\\.1 port $client/g")
	[ -z "$log" ] || until_true 'grep -Eq -e "$expected" "$T/log"' || why="$why; log: wanted $expected"
	cp "$T/log" "$T/log.case"
	good_login || why="$why; a good client is not served"
	[ -z "$why" ]
	ok $? "$program: $name" "$T/out" "$T/log.case" "$T/login"
	[ -z "$why" ] || echo "# $why"
}
# cases PROGRAM: all of its cases but those that begin with a dot.
cases() {
	"$H/$1" list >"$T/cases"
	while IFS='	' read -r name log; do
		case $name in .*) continue ;; esac
		one "$1" "$name" "$log" || :
	done <"$T/cases"
}
# log_of PROGRAM CASE
log_of() { "$H/$1" list | sed -n "s/^$(echo "$2" | sed 's/\./[.]/g')	//p"; }

# remember: how the listener is now; unharmed WHAT: whether it still is.
remember() {
	good_login; good_login
	until_true '[ $(processes_of_server) = 0 ]'
	fds=$(listener_fds) kib=$(listener_kib)
	: >"$T/watch"
	watch_memory &
	watcher=$!
}
# unharmed KIB_PER_PROCESS
unharmed() {
	until_true '[ $(processes_of_server) = 0 ]'
	is "$(processes_of_server)" 0 "no process is left"
	# nobody but root sees them
	if $root; then is "$(listener_fds)" "$fds" "the listener holds as many descriptors as before"; fi
	# a page here and there is the C library's
	grown=$(($(listener_kib) - kib))
	[ $grown -le 512 ] || $sanitized
	ok $? "the listener holds no more memory than before (KiB: $kib, grown by $grown)"
	rm -f "$T/watch"
	wait "$watcher"
	$sanitized || {
		[ "$(cat "$T/most")" -le "$1" ]
		ok $? "no process took more than $1 KiB (most: $(cat "$T/most"))"
	}
	is "$(reports | head -5)" "" "no report of a sanitizer or the sandbox"
}
