#!/bin/sh
# Accounts that may do little and want more, and strangers who want to know which accounts there are.
. "$(dirname "$0")/sshd_lib.sh"

# ---- SFTP for whom it is not meant: the name of the server inside sshd is no command

hello() { printf '\0\0\0\5\1\0\0\0\3'; }
# SFTP's VERSION begins with its length and the byte 2
speaks_sftp() { od -An -tx1 -N5 "$1" | grep -q ' 02$'; }

serve || exit 1
hello | on $host internal-sftp >"$T/out" 2>/dev/null
! speaks_sftp "$T/out"
ok $? "internal-sftp as a command of the user's is the shell's business"
if $root; then
	mkdir -p "$T/home/wsfalse/.ssh" && cp "$T/key.pub" "$T/home/wsfalse/.ssh/authorized_keys"
	chown -R wsfalse: "$T/home/wsfalse/.ssh"; chmod 700 "$T/home/wsfalse/.ssh"; chmod 600 "$T/home/wsfalse/.ssh/authorized_keys"
	hello | as=wsfalse on $host internal-sftp >"$T/out" 2>/dev/null
	! speaks_sftp "$T/out"
	ok $? "and does not get round a shell that refuses everything"
else
	skip "no second account"
fi
serve "Subsystem sftp internal-sftp" || exit 1
hello | on -s $host sftp >"$T/out" 2>/dev/null
speaks_sftp "$T/out"
ok $? "as a subsystem it is served"

# ---- sftp-server as a login shell or a forced command: who may only handle files must not rewrite the program's memory

cp "$WS_BUILD/sftp-server" "$T/sftp-server"
# OPEN, for writing, of a file whose name has 14 characters; the answer begins behind the 5 bytes and what VERSION's length says
opens() {
	{ hello; printf '\0\0\0\37\3\0\0\0\7\0\0\0\16%s\0\0\0\2\0\0\0\0' "$1"; } | $unprivileged "$T/sftp-server" >"$T/out" 2>/dev/null
	at=$(($(od -An -tu1 -j3 -N1 "$T/out") + 256 * $(od -An -tu1 -j2 -N1 "$T/out") + 9))
	[ "$(od -An -tx1 -j$((at - 1)) -N1 "$T/out")" = " 66" ]
}
unprivileged=
$root && unprivileged="setpriv --reuid wsuser --regid wsuser --clear-groups"
if grep -q 'define WITH_SANITIZERS' "$WS_BUILD/config.h"; then
	skip "sanitizers trace the process themselves"
elif command -v setpriv >/dev/null && [ -e /proc/self/mem ]; then
	: >"$home/a-file.mem.txt"
	$root && chown wsuser "$home/a-file.mem.txt"
	(cd "$home" && opens a-file.mem.txt)
	ok $? "sftp-server opens files"
	! opens /proc/self/mem
	ok $? "but not its own memory"
else
	skip "no setpriv, or no /proc"
fi

# ---- who is there

# What is done between two answers shows in the time of the second: after "none" PAM is got ready for everybody, or for nobody.
if $root && grep -q 'define HAVE_PAM 1' "$WS_BUILD/config.h" && [ -d /etc/pam.d ]; then
	printf 'auth\trequired\tpam_unix.so nodelay\naccount\trequired\tpam_unix.so\n' >/etc/pam.d/wstest
	serve "UsePAM yes" "PAMServiceName wstest" || exit 1
	# asked for the password, it looks whether a monitor has PAM's module by now
	cat >"$T/look" <<LOOK
#!/bin/sh
i=0
until cat \$(pgrep -P $sshd_pid | sed 's|.*|/proc/&/maps|') 2>/dev/null | grep -q pam_unix; do
	i=\$((i + 1))
	[ \$i -lt 60 ] || { echo >"$T/none"; break; }
	sleep 0.05
done
LOOK
	chmod 755 "$T/look"
	for someone in $user nosuchuser; do
		rm -f "$T/none"
		until_true '[ "$(processes_of_server)" = 0 ]'
		SSH_ASKPASS=$T/look SSH_ASKPASS_REQUIRE=force timeout 30 setsid ssh -F "$T/ssh_config" -p "$port" -l $someone -o BatchMode=no \
			-o NumberOfPasswordPrompts=1 -o PreferredAuthentications=password $host true </dev/null 2>/dev/null
		[ ! -e "$T/none" ]
		ok $? "PAM is got ready for $someone"
	done
else
	skip "no PAM, or not root"
fi

done_testing
