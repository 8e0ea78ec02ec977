#!/bin/sh
# Our sshd started by an ordinary user: it serves that user and nobody else. As root the scripts for sessions and authentication are
# run once more as such a user (run by one, they do it by themselves).
. "$(dirname "$0")/sshd_lib.sh"
$root || { echo "1..0 # SKIP the other scripts do this when an ordinary user runs them"; exit 0; }
command -v setpriv >/dev/null 2>&1 || { echo "1..0 # SKIP setpriv is missing"; exit 0; }

mkdir "$T/build" "$T/src"
cp "$WS_BUILD/sshd" "$WS_BUILD/paths.h" "$WS_BUILD/config.h" "$T/build/"
cp "$WS_SRC/regress/e2e/sshd_lib.sh" "$WS_SRC/regress/e2e/sshd_session.t" "$WS_SRC/regress/e2e/sshd_auth.t" "$T/src/"
chmod -R a+rX "$T/build" "$T/src"
# as_user COMMAND: in the place of this process, so call it in a subshell
as_user() {
	exec env -i PATH="$PATH" HOME="$home" TERM="${TERM:-dumb}" ASAN_OPTIONS="${ASAN_OPTIONS:-}" WS_BUILD="$T/build" WS_SRC="$T/src" \
		setpriv --reuid wsuser --regid wsuser --init-groups "$@"
}
for script in sshd_session sshd_auth; do
	(cd "$home" && as_user sh "$T/src/$script.t") >"$T/$script.out" 2>&1
	[ "$(grep -c '^not ok' "$T/$script.out")" = 0 ] && grep -q '^1\.\.[1-9]' "$T/$script.out"
	ok $? "$script.t by an ordinary user: $(grep -c '^ok' "$T/$script.out") tests" /dev/null
	grep -A 20 '^not ok' "$T/$script.out" | sed 's/^/# /'
done

# ---- it cannot serve others, nor look into them

cp "$T/hostkey" "$home/hostkey" && chown wsuser: "$home/hostkey"
printf 'Port %s\nListenAddress 127.0.0.1\nHostKey %s/hostkey\nPidFile none\nLogLevel VERBOSE\nPerSourcePenalties no\n' $port "$home" >"$home/sshd_config"
(cd "$home" && as_user "$T/build/sshd" -D -f "$home/sshd_config" -E "$home/log") >/dev/null 2>&1 & sshd_pid=$!
ln -s "$home/log" "$T/log"
until_true "grep -q 'Server listening' '$T/log'"
is "$(on $host 'id -un')" wsuser "it serves its own user"
as=wsother with_password 'right horse' $host true 2>/dev/null
is $? 255 "and nobody else"
logged "^User wsother not allowed because sshd was not started as root" "which it says"
as=root on $host true 2>/dev/null
is $? 255 "not root either"
mkfifo -m 666 "$T/hold"
on $host "cat $T/hold" & holder=$!
until_true "[ \$(grep -c 'User child is on pid' '$T/log') = 2 ]"
user_pid=$(tr -d '\r' <"$T/log" | sed -n 's/^User child is on pid //p' | tail -n 1)
is "$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "/proc/$user_pid/status")" "61001 61001 61001 61001" "the user process is the same user"
if grep -q '^#define WITH_SANITIZERS 1' "$WS_BUILD/config.h"; then
	skip "and cannot be looked into all the same" "sanitizers trace the process themselves"
else
	is "$(stat -c %u "/proc/$user_pid/mem")" 0 "and cannot be looked into all the same"
fi
(as_user head -c 1 "/proc/$user_pid/mem") >/dev/null 2>"$T/err"
grep -q "Permission denied" "$T/err"
ok $? "not by that user" "$T/err"
is "$(stat -c %u "/proc/$(pgrep -P "$sshd_pid")/mem")" 0 "nor the monitor"
: >"$T/hold"
wait $holder
pid=$sshd_pid
stop
[ ! -e "/proc/$pid" ]
ok $? "and it ends"
done_testing
