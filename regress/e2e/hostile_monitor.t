#!/bin/sh
# The monitor, driven by false pre-auth and user processes: whatever they ask out of turn, again, forged or in a wrong size ends
# the connection and opens nothing.
. "$(dirname "$0")/hostile_lib.sh"
[ -x "$H/hostile_monitor" ] || { echo "1..0 # SKIP hostile_monitor is not built"; exit 0; }

pam=false
if $root && [ -d /etc/pam.d ]; then
	printf 'auth required pam_unix.so\naccount required pam_unix.so\nsession required pam_permit.so\n' >/etc/pam.d/sshd
	config "UsePAM yes"
	"$sshd" -T -f "$T/sshd_config" 2>/dev/null | grep -qi '^usepam yes' && pam=true
fi
config "UsePAM no" "LogLevel VERBOSE"; cp "$T/sshd_config" "$T/plain"
config "UsePAM yes" "KbdInteractiveAuthentication yes" "LogLevel VERBOSE"; cp "$T/sshd_config" "$T/pam"

"$H/hostile_monitor" >"$T/cases"
while IFS='	' read -r name kind log; do
	if [ "$kind" = pam ] && ! $pam; then skip "$name: no PAM"; continue; fi
	timeout 90 "$H/hostile_monitor" "$sshd" "$T/$kind" "$T/hostkey" "$user" "$T/key" "$name" >"$T/out" 2>"$T/log" </dev/null
	code=$?
	grep -Eq -e "$log" "$T/log" || { code=1; echo "# wanted: $log" >>"$T/out"; }
	reports >"$T/reports"
	[ ! -s "$T/reports" ] || code=1
	# A line of a false process stands for itself, however it ends lines.
	grep -q '^Accepted password' "$T/log" && code=1
	ok $code "monitor: $name" "$T/out"
done <"$T/cases"
left=
for p in $(pgrep -f '^sshd'); do grep -q "HOSTILE_MARK=$T/" "/proc/$p/environ" 2>/dev/null && left="$left $p"; done
is "$left" "" "no process is left"
done_testing
