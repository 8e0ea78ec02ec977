#!/bin/sh
# No role of sshd can be looked into by the user it works for, nor by the one it runs as, nor does it leave a core file. What users
# start can be, and may leave one.
. "$(dirname "$0")/hostile_lib.sh"
[ -x "$H/peek_process" ] || { echo "1..0 # SKIP peek_process is not built"; exit 0; }

ulimit -c unlimited 2>/dev/null
# In a group that is not root's: who owns the files of a process in /proc tells then whether it can be dumped, root's too. Those of
# an undumpable one are root's and of root's group.
if $root; then
	cat >"$T/in_group" <<-'SH'
		#!/bin/sh
		exec perl -e '$) = "1 1"; $( = 1; exec { $ARGV[0] } @ARGV' "${0%/*}/sshd" "$@"
	SH
	chmod 755 "$T/in_group"
	sshd=$T/in_group
fi
serve "UsePAM no" || exit 1
mkdir "$T/shared" && chmod 1777 "$T/shared"
mkfifo "$T/hold" "$T/silent"
chmod 666 "$T/hold"
# a session, and a connection that has said nothing
on $host "echo \$\$ >$T/shared/pid; cat $T/hold" &
"$H/hostile_plain" "$port" .half-open n=1 <"$T/silent" >/dev/null 2>&1 &
silent=$!
exec 9>"$T/silent"
until_true '[ -s "$T/shared/pid" ]'
until_true '[ $(family | wc -w) -ge 8 ]'
uid=$(id -u $user)
shell=$(cat "$T/shared/pid")

roles=$(for p in $(family); do
	case $(tr '\0' ' ' <"/proc/$p/cmdline") in sshd:*) echo $p ;; esac
done)
is "$(echo $roles | wc -w)" 7 "a listener, and three monitors with their processes"
"$H/peek_process" "$uid" $roles >"$T/out" 2>&1
is "$? $(cat "$T/out")" "0 " "the user sees into none of them"
if $root; then
	"$H/peek_process" "$(id -u "$(path_of PRIVSEP_USER)")" $roles >"$T/out" 2>&1
	is "$? $(cat "$T/out")" "0 " "the user of the pre-auth process neither"
fi
for p in $roles; do
	echo "$(tr '\0' ' ' <"/proc/$p/cmdline")$(sed -n 's/^[UG]id:.\([0-9]*\).*/\1/p' "/proc/$p/status" | tr '\n' ' ')" \
		"$(stat -c '%u:%g %n' "/proc/$p/maps" "/proc/$p/mem" "/proc/$p/environ" | sed 's|/proc/[0-9]*/||' | tr '\n' ' ')"
done >"$T/owners"
is "$(grep -c ' 0:0 maps 0:0 mem 0:0 environ $' "$T/owners")" 7 "their files in /proc are root's"
[ "$(grep -c ' 0 0  0:0' "$T/owners")" = 0 ]
ok $? "which they would not be otherwise" "$T/owners"
is "$(stat -c %u "/proc/$shell/maps")" "$uid" "those of a user's program are not"
"$H/peek_process" "$uid" "$shell" >"$T/out" 2>&1
grep -q attach "$T/out" || [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" != 0 ]
ok $? "but into its own programs" "$T/out"

# ---- crashes; that an undumpable process leaves no core file is tested in regress/unit/platform/test_privdrop.c

is "$(on $host 'ulimit -H -c')" "$(ulimit -H -c)" "sessions have the limit on core files that sshd was started with"
if $sanitized; then
	skip "sanitizers catch the signal"
else
	: >"$T/log"
	pre=$(for p in $roles; do case $(tr '\0' ' ' <"/proc/$p/cmdline") in "sshd: [net]"*) echo $p; break ;; esac; done)
	kill -ABRT "$pre"
	logged "its pre-auth process died of signal 6" "a pre-auth process that crashes"
	good_login
	ok $? "and others are served"
fi
echo >"$T/hold"
exec 9>&-
wait $silent
done_testing
