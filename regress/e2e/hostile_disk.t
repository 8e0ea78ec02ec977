#!/bin/sh
# Full disks and limits on file sizes: clear errors, nothing that hangs, and the server goes on.
. "$(dirname "$0")/hostile_lib.sh"
$root || { echo "1..0 # SKIP file systems can be mounted by root only"; exit 0; }
command -v sftp >/dev/null 2>&1 || { echo "1..0 # SKIP the stock sftp is needed"; exit 0; }

small=$home/small disk=$T/disk
mkdir "$small" "$disk"
mount -t tmpfs -o size=1m,mode=777 none "$small" && mount -t tmpfs -o size=1m none "$disk" ||
	{ echo "1..0 # SKIP no tmpfs can be mounted"; exit 0; }
trap 'umount -l "$small" "$disk"; cleanup' EXIT
head -c 8000000 /dev/urandom >"$T/big"
echo small >"$T/little"
fill() { head -c 2000000 /dev/zero >"$1/filler" 2>/dev/null; [ "$(df --output=avail "$1" | tail -n 1)" -eq 0 ]; }
rest="-F $T/ssh_config -i $T/key -o User=$user"
# stock: sftp -b - of the stock client
stock() { timeout 60 sftp -q $rest -P "$port" -b - $host >"$T/out" 2>&1; }
# ended CODE NAME REGEX: not a success, in time, and said
ended() {
	[ "$1" != 0 ] && [ "$1" != 124 ]
	ok $? "$2: not a success, and no hang (exit status $1)" "$T/out"
	grep -Eq -e "$3" "$T/out"
	ok $? "$2: it is said" "$T/out"
}

# ---- files that come in

serve "UsePAM no" "Subsystem sftp internal-sftp" || exit 1
remember
echo "put $T/big small/big" | stock
ended $? "sftp put" "No space left on device|Failure|write remote"
rm -rf "$small"/*
echo "put $T/little small/little" | stock
is "$? $(cat "$small/little")" "0 small" "and once there is room it goes on"
fill "$small"
ok $? "(the disk is full)"
printf '%s\n' "-mkdir small/folder" "-put $T/little small/one" "-rename small/little small/two" "-symlink small/a small/b" "ls small" | stock
is $? 0 "sftp: one after the other" "$T/out"
grep -q 'small/two' "$T/out"
ok $? "what needs no room works all the same" "$T/out"
rm -rf "$small"/*
timeout 60 scp -q $rest -P "$port" "$T/big" "$host:small/big" >"$T/out" 2>&1
ended $? "scp of the stock client" "No space left on device|Failure|write remote"
rm -rf "$small"/*
on $host "cat >small/big" <"$T/big" >"$T/out" 2>&1
ended $? "a command that writes" "No space left on device"
rm -rf "$small"/*

if [ -x "$WS_BUILD/scp" ]; then
	timeout 60 "$WS_BUILD/scp" -q $rest -P "$port" "$T/big" "$host:small/big" >"$T/out" 2>&1
	ended $? "our scp, upload" "small/big.*No space left on device|No space left on device.*small/big"
	rm -rf "$small"/*
	cp "$T/big" "$home/big"
	timeout 60 "$WS_BUILD/scp" -q $rest -P "$port" "$host:big" "$disk/big" >"$T/out" 2>&1
	ended $? "our scp, download" "$disk/big.*No space left on device"
	rm -f "$disk"/* "$home/big"
fi
unharmed 60000

# ---- a limit on the size of files, as from limits.conf: SIGXFSZ must not end the session

config "UsePAM no" "Subsystem sftp internal-sftp"
saved=$sshd
printf '#!/bin/sh\nulimit -f 4000\nexec "%s" "$@"\n' "$saved" >"$T/limited"
chmod 755 "$T/limited"
sshd=$T/limited
start || exit 1
echo "put $T/big big" | stock
ended $? "a file beyond the limit" "File too large|Failure|write remote"
printf '%s\n' "-put $T/big big" "put $T/little little" | stock
is "$? $(cat "$home/little")" "0 small" "and the session lives on"
rm -f "$home/big" "$home/little"
sshd=$saved

# ---- where the server itself writes

config "UsePAM no"
fill "$disk"
ok $? "(the disk is full)"
stop
: >"$T/log"
"$sshd" -D -f "$T/sshd_config" -o PidFile="$disk/pid" -E "$disk/log" 2>"$T/sshd.err" &
sshd_pid=$!
until_true good_login
ok $? "logins work while neither log nor pid file can be written" "$T/sshd.err" "$disk/log"
good_login && good_login
ok $? "and again"
kill -HUP "$sshd_pid"
until_true good_login
ok $? "a restart too"
rm -f "$disk/filler"
good_login
until_true "grep -q '^Accepted publickey' '$disk/log'"
ok $? "when there is room the log goes on" "$disk/log"

# ---- where clients write

fill "$disk"
if [ -x "$WS_BUILD/ssh" ]; then
	timeout 60 "$WS_BUILD/ssh" -F none -p "$port" -i "$T/key" -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o BatchMode=yes \
		-o UserKnownHostsFile="$disk/known" -l $user $host 'echo in' >"$T/out" 2>"$T/err" </dev/null
	is "$? $(cat "$T/out")" "0 in" "a host key that cannot be filed does not hinder"
	grep -q "Failed to add the host to the list of known hosts ($disk/known)" "$T/err"
	ok $? "but it is said" "$T/err"
	timeout 60 "$WS_BUILD/ssh" -F none -p "$port" -i "$T/key" -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o BatchMode=yes \
		-o UserKnownHostsFile="$T/kh" -l $user $host 'head -c 3000000 /dev/zero' >"$disk/out" 2>"$T/out" </dev/null
	ended $? "output into a full disk" "write to stdout: No space left on device"
	rm -f "$disk/out"
fi
if [ -x "$WS_BUILD/ssh-keygen" ]; then
	fill "$disk"
	timeout 60 "$WS_BUILD/ssh-keygen" -q -t ed25519 -N '' -f "$disk/key" >"$T/out" 2>&1
	ended $? "a new key" "$disk/key.*No space left on device"
	[ ! -e "$disk/key" ]
	ok $? "and no part of it is left" "$T/out"
	rm -f "$disk"/*
	cp "$T/key" "$disk/key"; cp "$T/key" "$T/key.was"
	fill "$disk"
	timeout 60 "$WS_BUILD/ssh-keygen" -q -p -P '' -N secret -f "$disk/key" >"$T/out" 2>&1
	ended $? "a new passphrase" "No space left on device"
	cmp -s "$disk/key" "$T/key.was"
	ok $? "and the key is what it was" "$T/out"
fi
is "$(reports | head -5)" "" "no report of a sanitizer or the sandbox"
done_testing
