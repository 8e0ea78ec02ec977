#!/bin/sh
# PAM in our sshd with a real stack: passwords and conversations, account rules, environment, limits, sessions.
. "$(dirname "$0")/sshd_lib.sh"
$root || { echo "1..0 # SKIP PAM is tested as root"; exit 0; }
grep -q 'define HAVE_PAM 1' "$WS_BUILD/config.h" || { echo "1..0 # SKIP built without PAM"; exit 0; }
[ -d /etc/pam.d ] || { echo "1..0 # SKIP no /etc/pam.d"; exit 0; }

at='from 127\.0\.0\.1 port [0-9]+'
cat >"$T/hook" <<HOOK
#!/bin/sh
echo "\$PAM_TYPE \$PAM_USER \$PAM_RHOST \$PAM_TTY \$(id -u)" >>$T/hooked
HOOK
chmod 755 "$T/hook"
echo 'WSPAM=from_pam' >"$T/pamenv"
echo '* hard nofile 123' >"$T/limits"
cat >/etc/pam.d/wstest <<PAM
auth	required	pam_unix.so nodelay
account	required	pam_unix.so
password required	pam_unix.so
session	required	pam_unix.so
session	required	pam_env.so readenv=1 envfile=$T/pamenv
session	required	pam_limits.so conf=$T/limits
session	required	pam_exec.so $T/hook
PAM
pam="UsePAM yes"
service="PAMServiceName wstest"

# ---- passwords

serve "$pam" "$service" "KbdInteractiveAuthentication no" || exit 1
is "$(with_password 'right horse' $host 'echo in')" in "the right password"
logged "^Accepted password for $user $at ssh2" "success"
with_password 'wrong horse' $host true 2>/dev/null
is $? 255 "a wrong password"
logged "^Failed password for $user $at ssh2" "failure"
as=nosuchuser with_password 'right horse' $host true 2>/dev/null
is $? 255 "a password for nobody"
logged "^Failed password for invalid user nosuchuser $at ssh2" "failure of an invalid user"
serve "$pam" "$service" "PermitRootLogin prohibit-password"
sed 's|^root:[^:]*:|root:'"$(sed -n 's/^wsuser:\([^:]*\):.*/\1/p' /etc/shadow)"':|' /etc/shadow >"$T/s" && cat "$T/s" >/etc/shadow
as=root with_password 'right horse' $host true 2>/dev/null
is $? 255 "root's right password under prohibit-password"
logged "^Failed password for root $at ssh2" "failure of root"
as=root with_password 'right horse' -o PreferredAuthentications=keyboard-interactive $host true 2>/dev/null
is $? 255 "in a conversation neither"
serve "$pam" "$service" "PermitRootLogin yes"
is "$(as=root with_password 'right horse' $host 'echo in')" in "root's right password under yes"

# ---- conversations

serve "$pam" "$service" "PasswordAuthentication no"
is "$(with_password 'right horse' $host 'echo in')" in "keyboard-interactive"
logged "^Accepted keyboard-interactive/pam for $user $at ssh2" "success"
with_password 'wrong horse' $host true 2>/dev/null
is $? 255 "keyboard-interactive with a wrong password"
logged "^Failed keyboard-interactive/pam for $user $at ssh2" "failure"
as=nosuchuser with_password 'right horse' $host true 2>/dev/null
logged "^Failed keyboard-interactive/pam for invalid user nosuchuser $at ssh2" "failure of an invalid user"
serve "$pam" "$service" "AuthenticationMethods publickey,keyboard-interactive:pam"
is "$(pubkey=yes with_password 'right horse' $host 'echo both')" both "a key, then a conversation"
on $host true 2>/dev/null
is $? 255 "the key alone is not enough"
serve "$pam" "$service" "MaxAuthTries 2"
prompts=9 with_password 'wrong horse' -o PreferredAuthentications=keyboard-interactive $host true 2>/dev/null
is $? 255 "too many conversations"
logged "maximum authentication attempts exceeded for $user" "attempts exceeded"

# ---- sessions

serve "$pam" "$service"
: >"$T/hooked"
is "$(on $host 'echo $WSPAM')" from_pam "the environment of PAM"
until_true "[ \$(wc -l <'$T/hooked') = 2 ]"
is "$(cat "$T/hooked")" "open_session wsuser 127.0.0.1 ssh 0
close_session wsuser 127.0.0.1 ssh 0" "a session is opened and closed, by root"
is "$(on $host 'ulimit -Hn')" 123 "limits of PAM"
is "$(ls /proc/$sshd_pid/limits >/dev/null && awk '/open files/ { print ($5 > 123) }' /proc/$sshd_pid/limits)" 1 "which are not the listener's"

# ---- accounts

sed 's|^wsuser:\([^:]*\):.*|wsuser:\1:19000:0:99999:7::100:|' /etc/shadow >"$T/s" && cat "$T/s" >/etc/shadow
on -o LogLevel=INFO $host true >"$T/out" 2>&1
is $? 255 "an account that has expired, with the right key"
logged "^PAM: account: " "the reason"
sed 's|^wsuser:\([^:]*\):.*|wsuser:\1:0:0:99999:7:::|' /etc/shadow >"$T/s" && cat "$T/s" >/etc/shadow
on $host 'echo not this' >"$T/out" 2>"$T/err"
is "$?$(cat "$T/out")" 1 "a password that has expired, without a terminal"
is "$(tr '\n' '|' <"$T/err")" "WARNING: Your password has expired.|Password change required but no TTY available.|" "and why"
on -tt $host </dev/null 2>/dev/null | head -c 2000 >"$T/out"
grep -q "WARNING: Your password has expired" "$T/out" && grep -qi "password" "$T/out"
ok $? "with a terminal it is changed" "$T/out"
if command -v expect >/dev/null 2>&1; then
	cat >"$T/expect" <<EXPECT
set timeout 20
spawn ssh -F $T/ssh_config -o BatchMode=no -o PreferredAuthentications=keyboard-interactive -p $port -l $user $host echo in
expect "assword:" {} timeout { exit 2 }
send "right horse\r"
expect -re {[Nn]ew.*assword} { exit 0 } -re {[Cc]urrent.*assword} { exit 0 } timeout { exit 3 } eof { exit 4 }
EXPECT
	expect "$T/expect" >"$T/out" 2>&1
	ok $? "in a conversation the new one is asked for there" "$T/out"
fi
sed 's|^wsuser:\([^:]*\):.*|wsuser:\1:19000:0:99999:7:::|' /etc/shadow >"$T/s" && cat "$T/s" >/etc/shadow
serve "$pam" "PAMServiceName wsmissing"
with_password 'right horse' $host true 2>/dev/null
logged "there is no PAM service file for \"wsmissing\"" "a service file that is missing is named"
serve "$pam" "$service"
is "$(on $host 'echo in')" in "and all is well in the end"
until_true '[ "$(processes_of_server)" = 0 ]'
is "$(processes_of_server)" 0 "nobody is left"
is "$(grep -Ec 'died of signal|broke the rules|Sanitizer' "$T/log")" 0 "nothing crashed"
stop
done_testing
