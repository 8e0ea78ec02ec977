#!/bin/sh
# Our sftp-server under the stock sftp client, side by side with the stock server: same answers, same files.
set -u
build=${WS_BUILD:-$(pwd)}
ours=$build/sftp-server
stock=
for f in /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server /usr/lib/ssh/sftp-server /usr/libexec/sftp-server; do
	[ -x "$f" ] && stock=$f && break
done
client=$(command -v sftp 2>/dev/null)
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
bad() { n=$((n + 1)); echo "not ok $n - $1"; shift; [ $# -gt 0 ] && printf '%s\n' "$@" | sed 's/^/# /'; }
if [ -z "$client" ] || [ -z "$stock" ]; then echo "1..0 # SKIP the stock sftp and sftp-server are needed"; exit 0; fi
T=$(mktemp -d /tmp/ws-sftps-XXXXXX) || exit 1
sshd_pid=
trap '[ -n "$sshd_pid" ] && kill "$sshd_pid" 2>/dev/null; chmod -R u+rwx "$T"; rm -rf "$T"' EXIT
trap 'exit 1' INT TERM HUP
umask 022
TZ=UTC; export TZ

make_tree() {
	mkdir -p "$1/in/sub/deep" "$1/in/many" "$1/local"
	echo alpha >"$1/in/a"; echo beta >"$1/in/b b"; : >"$1/in/empty"
	chmod 640 "$1/in/a"; chmod 4755 "$1/in/empty"; chmod 1777 "$1/in/sub"
	ln -s a "$1/in/link"; ln -s missing "$1/in/dangling"; ln -s sub "$1/in/tosub"; ln -s loop "$1/in/loop"
	mkfifo "$1/in/fifo"
	i=0; while [ $i -lt 250 ]; do : >"$1/in/many/file$i"; i=$((i + 1)); done
	touch -h -d '2001-02-03 04:05:06' "$1/in/a" "$1/in/link" "$1/in/sub" "$1/in/many"
	touch -d '2020-01-02 03:04:05' "$1/in/b b" "$1/in/empty" "$1/in/many"/*
	touch -h -d '2020-01-02 03:04:05' "$1/in/dangling" "$1/in/tosub" "$1/in/loop" "$1/in/fifo" "$1/in/sub/deep"
	head -c 3000000 /dev/zero | tr '\0' 'x' >"$1/local/big"
	echo 'local text' >"$1/local/small"; chmod 751 "$1/local/small"
	touch -d '2010-10-10 10:10:10' "$1/local/small" "$1/in"
}

# run NAME SERVER: the batch against SERVER in $T/NAME; what both print and what is left behind go to $T/NAME.out, .tree
run() {
	make_tree "$T/$1"
	(cd "$T/$1/local" && sed "s|@|$T/$1|g" "$T/batch" | "$client" -D "$2" -b - 2>&1 | sed "s|$T/$1|@|g; s|$2|SERVER|g") >"$T/$1.out"
	(cd "$T/$1" && find . \( -name new\* -o -newer "$T/batch" \) -printf '%p %y %m %s %l\n' | sort) >"$T/$1.tree"
	(cd "$T/$1" && find . ! -newer "$T/batch" -printf '%p %y %m %s %l %TY%Tm%Td%TH%TM\n' | sort) >>"$T/$1.tree"
	(cd "$T/$1" && find . -type f -exec md5sum {} + | sort) >>"$T/$1.tree"
}

cat >"$T/batch" <<'BATCH'
cd @/in
pwd
-ls
-ls -l
-ls -la
-ls -ln sub
-ls -1 many
-ls -l nosuch
-ls fifo
-ls -l loop
-ls tosub
put small
put -p small small_p
put big
-put small nosuch/dir
-put small sub
-get a
-get -p a a_p
-get nosuch
-get loop
-get -r sub
-get -r many
put -r @/local/many newmany
-mkdir newdir
-mkdir newdir
-mkdir a
-mkdir no/such/dir
-rmdir many
-rmdir nosuch
-rmdir a
-rmdir newdir
-rm dangling
-rm nosuch
-rm sub
-rename a newa
-rename newa small
-rename nosuch x
-rename -l newa "b b"
-rename -l newa newer
-ln newer newlink
-ln newer newlink
-ln -s newer newsym
-ln -s x y/z
-chmod 600 newer
-chmod 4711 newlink
-chmod 600 nosuch
-chmod 700 loop
-chown 0 nosuch
-chgrp 0 newer
-ls -l newer newsym newlink
-cd nosuch
-cd newer
-cd tosub
pwd
-cd ../..
pwd
-cd @/in
-df @/in/nosuch
-cp newer newcopy
-cp nosuch newcopy2
-reget @/in/big big2
-reput small small
-symlink a b c
version
-ls -l @/in/many/file1 @/in/many/nosuch
-get @/in/sub/deep
-rm @/in/many/file24*
-ls -1 @/in/many/file2*
BATCH
touch -d '2015-01-01' "$T/batch"
run ours "$ours"
run stock "$stock"
if d=$(diff "$T/stock.out" "$T/ours.out"); then ok "same answers to $(wc -l <"$T/batch") commands"; else bad "same answers" "$d"; fi
if d=$(diff "$T/stock.tree" "$T/ours.tree"); then ok "same files and modes afterwards"; else bad "same files" "$d"; fi
[ "$(wc -l <"$T/ours.out")" -gt 300 ] && ok "the batch ran to its end" || bad "the batch ran" "$(tail -3 "$T/ours.out")"

# Umask: -u on the command line.
for u in 022 027 077 002 000; do
	for s in ours stock; do
		eval "server=\$$s"
		mkdir -p "$T/u$u$s"
		printf 'put %s\nmkdir d\n' "$T/ours/local/small" | "$client" -q -D "$server -d $T/u$u$s -u $u" -b - >/dev/null 2>&1
		(cd "$T/u$u$s" && find . -mindepth 1 -printf '%p %m\n' | sort) >"$T/u$u$s.modes"
	done
	if cmp -s "$T/u${u}ours.modes" "$T/u${u}stock.modes" && [ -s "$T/u${u}ours.modes" ]; then ok "umask $u"; else
		bad "umask $u" "$(diff "$T/u${u}stock.modes" "$T/u${u}ours.modes")"; fi
done

# Read-only, deny and allow lists.
for flags in '-R' '-P remove,mkdir' '-p realpath,stat,lstat,opendir,readdir,close'; do
	for s in ours stock; do
		eval "server=\$$s"
		d=$T/r$s; rm -rf "$d"; mkdir -p "$d/sub"; echo x >"$d/f"
		printf -- '-put %s\n-rm f\n-mkdir d\n-chmod 600 f\n-ls -1\n-get f %s/got\n-rename f g\n-ln f h\n' "$T/ours/local/small" "$d" |
			"$client" -q -D "$server -d $d $flags" -b - 2>&1 | sed "s|$d|@|g; s|$server|SERVER|g" >"$T/r$s.out"
		(cd "$d" && find . | sort) >>"$T/r$s.out"
	done
	if d=$(diff "$T/rstock.out" "$T/rours.out"); then ok "sftp-server $flags"; else bad "sftp-server $flags" "$d"; fi
done

q=$("$ours" -Q requests)
if [ "$q" = "$("$stock" -Q requests)" ]; then ok "-Q requests"; else bad "-Q requests"; fi
"$ours" -Z >/dev/null 2>&1 </dev/null; s=$?
[ $s = 1 ] && ok "wrong flag: exit 1" || bad "wrong flag: exit 1" "got $s"
: | "$ours" -e; s=$?
[ $s = 0 ] && ok "end of input: exit 0" || bad "end of input: exit 0" "got $s"
printf '\0\4\0\1\3' | "$ours" -e 2>/dev/null; s=$?
[ $s = 11 ] && ok "message too long: exit 11" || bad "message too long: exit 11" "got $s"
printf '\0\0\0\5\1\0\0\0\3\0\0\0\1\3' | "$ours" -e >/dev/null 2>&1; s=$?
[ $s = 255 ] && ok "malformed message: exit 255" || bad "malformed message: exit 255" "got $s"

# The lines that scrapers read.
mkdir "$T/log"
printf 'put %s f\nrm f\nmkdir d\nrmdir d\n' "$T/ours/local/small" |
	SSH_CONNECTION='192.0.2.7 1 2 3' "$client" -q -D "$ours -e -l INFO -d $T/log" -b - >/dev/null 2>"$T/log.err"
for line in 'session opened for local user .* from \[192.0.2.7\]' 'open "f" flags WRITE,CREATE,TRUNCATE mode 0751' \
	'close "f" bytes read 0 written 11' 'remove name "f"' 'mkdir name "d" mode 0777' 'rmdir name "d"' \
	'session closed for local user .* from \[192.0.2.7\]'; do
	line=$(printf '%s' "$line" | sed 's|"f"|".*/f"|; s|"d"|".*/d"|')
	grep -q "$line" "$T/log.err" && ok "log: $line" || bad "log: $line" "$(cat "$T/log.err")"
done

# Under the stock sshd as its Subsystem.
sshd=$(command -v sshd 2>/dev/null || { [ -x /usr/sbin/sshd ] && echo /usr/sbin/sshd; })
if [ -n "$sshd" ] && command -v ssh-keygen >/dev/null && [ "$(id -u)" = 0 ]; then
	ssh-keygen -q -t ed25519 -N '' -f "$T/hostkey"; ssh-keygen -q -t ed25519 -N '' -f "$T/id"
	cp "$T/id.pub" "$T/authorized"
	mkdir -p /run/sshd 2>/dev/null
	port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
	cat >"$T/sshd_config" <<CONF
Port $port
ListenAddress 127.0.0.1
HostKey $T/hostkey
AuthorizedKeysFile $T/authorized
StrictModes no
UsePAM no
PermitRootLogin yes
PidFile $T/sshd.pid
Subsystem sftp $ours -d $T/ours/in
CONF
	"$sshd" -D -e -f "$T/sshd_config" 2>"$T/sshd.log" & sshd_pid=$!
	i=0; while [ ! -s "$T/sshd.pid" ] && [ $i -lt 100 ]; do i=$((i + 1)); sleep 0.1; done
	printf 'pwd\nput %s over_ssh\nget over_ssh %s\n' "$T/ours/local/big" "$T/back" |
		"$client" -q -F none -oPort="$port" -oIdentityFile="$T/id" -oUserKnownHostsFile=/dev/null -oStrictHostKeyChecking=no \
		-oLogLevel=ERROR -b - "$(id -un)@127.0.0.1" >"$T/ssh.out" 2>&1
	if cmp -s "$T/back" "$T/ours/local/big" && grep -q "$T/ours/in" "$T/ssh.out"; then ok "as Subsystem of the stock sshd"
	else bad "as Subsystem of the stock sshd" "$(cat "$T/ssh.out" "$T/sshd.log")"; fi
else
	ok "as Subsystem of the stock sshd # SKIP needs root and sshd"
fi
echo "1..$n"
