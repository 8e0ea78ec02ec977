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

done_testing
