#!/bin/sh
# What happens around a session: greetings, nologin, rc files, login records, chroot, host key updates, method information.
. "$(dirname "$0")/sshd_lib.sh"
$root || { echo "1..0 # SKIP needs accounts of its own"; exit 0; }

# a private /etc/motd and /etc/nologin
echo "message of the day" >"$T/motd"
[ -e /etc/motd ] && mount --bind "$T/motd" /etc/motd
# private login records
mkdir -p "$T/records"
for f in /var/log/wtmp /var/log/lastlog /run/utmp; do
	: >"$T/records/${f##*/}"
	[ -e "$f" ] && mount --bind "$T/records/${f##*/}" "$f"
done

serve || exit 1

# ---- greetings

shell() { on -tt "$@" $host <<'END' 2>/dev/null | tr -d '\r'
exit
END
}
shell >"$T/first"
shell >"$T/second"
if [ -e /etc/motd ]; then
	grep -q "message of the day" "$T/first"
	ok $? "motd" "$T/first"
else
	skip "no /etc/motd to bind over"
fi
if [ -e /var/log/lastlog ] || [ -e /var/log/wtmp ]; then
	grep -q "^Last login" "$T/first"
	is $? 1 "no last login before the first"
	grep -Eq "^Last login: [A-Z][a-z][a-z] [A-Z][a-z][a-z] .* from 127\.0\.0\.1" "$T/second"
	ok $? "last login" "$T/second"
else
	skip "no login records here"
fi
if [ -e /var/log/wtmp ] && command -v last >/dev/null 2>&1; then
	is "$(last -f "$T/records/wtmp" | grep -c "^wsuser *pts/.*127.0.0.1")" 2 "login records"
	until_true '[ "$(processes_of_server)" = 0 ]'
	is "$(last -f "$T/records/wtmp" | grep -c "^wsuser .*still logged in")" 0 "logout records"
fi
: >"$home/.hushlogin"
shell >"$T/out"
grep -Eq "Last login|message of the day" "$T/out"
is $? 1 ".hushlogin" "$T/out"
rm -f "$home/.hushlogin"
serve "PrintMotd no" "PrintLastLog no"
shell >"$T/out"
grep -Eq "Last login|message of the day" "$T/out"
is $? 1 "PrintMotd no, PrintLastLog no"
[ "$(on $host 'echo quiet')" = quiet ]
ok $? "commands are not greeted"

# ---- rc

serve
printf 'echo rc ran >%s/rc-ran\ncat >/dev/null\n' "$home" >"$home/.ssh/rc"
is "$(echo input | on $host 'cat; cat rc-ran')" "input
rc ran" "~/.ssh/rc runs before the command and leaves its input alone"
rm -f "$home/rc-ran"
serve "PermitUserRC no"
on $host true
[ ! -e "$home/rc-ran" ]
ok $? "PermitUserRC no"
serve
printf 'no-user-rc %s\n' "$(cat "$T/key.pub")" >"$home/.ssh/authorized_keys"
on $host true
[ ! -e "$home/rc-ran" ]
ok $? "no-user-rc"
cat "$T/key.pub" >"$home/.ssh/authorized_keys"
echo 'exit 3' >"$home/.ssh/rc"
is "$(on $host 'echo on; exit 2'; echo $?)" "on
2" "an rc that fails does no harm"
rm -f "$home/.ssh/rc"

# ---- the account

mv "$home" "$home.away"
serve "AuthorizedKeysFile $T/key.pub" "StrictModes no"
is "$(on $host 'pwd' 2>"$T/err")" / "a home that is missing"
is "$(cat "$T/err")" "Could not chdir to home directory $home: No such file or directory" "and a word about it"
mv "$home.away" "$home"
# nologin: /etc is shared with the machine, so the file is only tested where there is one, or where a private /etc can be had
if mkdir -p "$T/etc.up" "$T/etc.work" 2>/dev/null && mount -t overlay overlay -o "lowerdir=/etc,upperdir=$T/etc.up,workdir=$T/etc.work" /etc 2>/dev/null; then
	mount --bind "$T/etc/passwd" /etc/passwd; mount --bind "$T/etc/shadow" /etc/shadow; mount --bind "$T/etc/group" /etc/group
	serve
	echo "closed for repairs" >/etc/nologin
	is "$(on $host 'echo in' 2>"$T/err"; echo $?)" 254 "nologin"
	is "$(cat "$T/err")" "closed for repairs" "and its text"
	logged "^User $user not allowed because /etc/nologin exists" "nologin"
	rm -f /etc/nologin
else
	skip "no private /etc for nologin"
fi

# ---- chroot

if [ -d /mnt ] && mount -t tmpfs -o mode=755 tmpfs /mnt 2>/dev/null; then
	jail=/mnt/jail
	mkdir -p "$jail/upload" "$jail/$home"
	chmod 777 "$jail/upload"
	jailed() { sftp -F "$T/ssh_config" -i "$T/key" -o User=$user -P $port -b - $host; }
	serve "ChrootDirectory $jail" "ForceCommand internal-sftp" "Subsystem sftp internal-sftp"
	printf 'pwd\ncd /upload\nput %s/key.pub in\npwd\n' "$T" | jailed >"$T/out" 2>&1
	is "$(grep -c "^Remote working directory: $home" "$T/out")" 1 "sftp in a chroot begins at home"
	grep -q "^Remote working directory: /upload" "$T/out"
	ok $? "its paths begin there" "$T/out"
	cmp -s "$T/key.pub" "$jail/upload/in"
	ok $? "its files lie there"
	is "$(stat -c %U "$jail/upload/in")" "$user" "and are the user's"
	chmod 777 "$jail"
	echo pwd | jailed >/dev/null 2>&1
	is $? 255 "a chroot that others may write is refused"
	logged "bad ownership or modes for chroot directory \"$jail\"" "and named"
	chmod 755 "$jail"
	mv "$jail" /mnt/wsuser
	serve "ChrootDirectory /mnt/%u" "ForceCommand internal-sftp" "Subsystem sftp internal-sftp"
	echo pwd | jailed >"$T/out" 2>&1
	ok $? "ChrootDirectory with a token" "$T/out"
else
	skip "no folder for a chroot"
fi

# ---- further

ssh-keygen -q -t ecdsa -N '' -f "$T/hostkey2"
rm -f "$T/known_hosts"
serve "HostKey $T/hostkey2"
on $host true
mkfifo "$T/hold"
on -o UpdateHostKeys=yes $host "cat $T/hold" & holder=$!
until_true '[ "$(grep -c "\[127.0.0.1\]:$port" "$T/known_hosts")" = 2 ]'
: >"$T/hold"
wait $holder
is "$(grep -c "\[127.0.0.1\]:$port" "$T/known_hosts")" 2 "host keys are announced and proved" "$T/known_hosts"
serve "ExposeAuthInfo yes"
is "$(on $host 'cat $SSH_USER_AUTH')" "publickey $(cut -d' ' -f1,2 "$T/key.pub")" "ExposeAuthInfo"
until_true '[ -z "$(ls /tmp/sshauth.* 2>/dev/null)" ]'
is "$(ls /tmp/sshauth.* 2>/dev/null | wc -l)" 0 "whose file is removed"
serve "HostKeyAlgorithms ecdsa-sha2-nistp256" "HostKey $T/hostkey2"
is "$(on -o HostKeyAlgorithms=ecdsa-sha2-nistp256 $host 'echo in')" in "HostKeyAlgorithms"
serve "RekeyLimit 64K"
head -c 3000000 /dev/urandom >"$T/data"
is "$(on $host cat <"$T/data" | sha256sum)" "$(sha256sum <"$T/data")" "the server re-keys every 64 KB"
# How often depends on how much the client has in flight when an exchange begins: up to its whole window.
[ "$(grep -c "Ltype: Kex" "$T/log")" -gt 3 ]
ok $? "many times"
serve "UseDNS yes"
is "$(on $host 'echo in')" in "UseDNS"
serve "RefuseConnection yes"
on $host true 2>/dev/null
is $? 255 "RefuseConnection"
logged "^administratively prohibited connection for $user from 127\.0\.0\.1 port [0-9]+" "refused by the rule"
on -o ExitOnForwardFailure=yes -R 0:127.0.0.1:1 $host true 2>/dev/null
serve
on -W 127.0.0.1:1 $host >"$T/out" 2>&1 </dev/null
logged "^refused local port forward: originator 127\.0\.0\.1 port [0-9]+, target 127\.0\.0\.1 port 1" "forwards are refused"
until_true '[ "$(processes_of_server)" = 0 ]'
is "$(processes_of_server)" 0 "nobody is left"
is "$(grep -Ec 'died of signal|broke the rules|Sanitizer' "$T/log")" 0 "nothing crashed"
stop
umount /etc 2>/dev/null
done_testing
