#!/bin/sh
# Our sshd with the stock client and with what runs over it: scp, sftp, rsync, git, sshfs, and with curl and lftp.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OUR_SSHD" "$HELPERS/net_tool"
[ -n "$STOCK_SSH" ] || skip_all "no stock ssh here"
make_login && login_server plain || { ok 1 "our sshd started"; finish; }
plain=$PORT plain_pid=$PID
login_server often "RekeyLimit 64K" || { ok 1 "our sshd started"; finish; }
often=$PORT
options="-q -F $T/client.conf -o Port=$plain"
random_file "$T/data" 8388608
chmod 644 "$T/data"
data_sum=$(sum "$T/data")
at() { at_port=$1; shift; limit 120 "$STOCK_SSH" -q -F "$T/client.conf" -p "$at_port" peer "$@"; }

# ---- the end of output is not lost; neither is the end of input

runs=${FULL:+500}
runs=${runs:-40}
wanted=$(seq 1 200000 | sha256sum)
same=0
for i in $(seq "$runs"); do
	case $((i % 4)) in 0) more="Compression=yes" ;; 1) more="RekeyLimit=64K" ;; *) more="Compression=no" ;; esac
	case $((i % 2)) in 0) p=$often ;; 1) p=$plain ;; esac
	got=$( { limit 60 "$STOCK_SSH" -q -F "$T/client.conf" -o KexAlgorithms=curve25519-sha256 -p $p -o $more peer \
		'seq 1 200000; exit 7' </dev/null; echo $? >"$T/status"; } | (sleep 0.05; cat) | sha256sum)
	[ "$got" = "$wanted" ] && [ "$(cat "$T/status")" = 7 ] && same=$((same + 1)) || diag "run $i: status $(cat "$T/status")"
done
is "all of the output, and the status, $runs times" $same "$runs"
same=0
for i in $(seq $((runs / 8))); do
	got=$(seq 1 200000 | limit 60 "$STOCK_SSH" -q -F "$T/client.conf" -o KexAlgorithms=curve25519-sha256 -o RekeyLimit=64K -p $often peer \
		'sleep 0.1; sha256sum')
	[ "$got" = "$wanted" ] && same=$((same + 1))
done
is "all of the input, $((runs / 8)) times" $same $((runs / 8))

# ---- those who do not read

mkfifo "$T/slow"
"$STOCK_SSH" -q -F "$T/client.conf" -p "$plain" peer 'echo $$ >'"$T/work/cat"'; exec cat /dev/zero' >"$T/slow" 2>"$T/log" </dev/null &
pid=$!
track $pid
exec 3<"$T/slow"
wait_until 10 test -s "$T/work/cat"
command=$(cat "$T/work/cat") session=$(parent_of "$(cat "$T/work/cat")")
wait_until 20 has_stalled "$command" wchar
ok $? "a client that does not read stops the command"
peak=$(memory_peak_kib $session)
ok "$([ "${peak:-999999}" -lt 65536 ]; echo $?)" "and the session's memory is bounded ($peak KiB)"
is "then all comes" "$(head -c 64000000 <&3 | tr -d '\0' | wc -c)" 0
peak=$(memory_peak_kib $session)
ok "$([ "${peak:-999999}" -lt 65536 ]; echo $?)" "and it stays bounded ($peak KiB)"
exec 3<&-
end $pid
wait $pid 2>/dev/null
wait_until 10 is_gone "$session"
ok $? "the session ends with its client"

mkfifo -m 666 "$T/work/sink"
"$STOCK_SSH" -q -F "$T/client.conf" -p "$plain" peer "echo \$PPID >$T/work/session; cat >$T/work/sink" </dev/zero >"$T/out" 2>"$T/log" &
pid=$!
track $pid
exec 3<"$T/work/sink"
session=$(cat "$T/work/session")
wait_until 20 has_stalled $pid rchar
ok $? "a command that does not read stops the client"
peak=$(memory_peak_kib $session)
# What the client may send before it must wait is the window, which grows to 15 MiB for this kind of client.
ok "$([ "${peak:-999999}" -lt 65536 ]; echo $?)" "and the session's memory is bounded ($peak KiB)"
exec 3<&-
end $pid
wait $pid 2>/dev/null

# ---- many sessions in one connection

"$STOCK_SSH" -q -F "$T/client.conf" -p "$plain" -M -S "$T/master" -N -f peer </dev/null >"$T/log" 2>&1
is "a master connection" $? 0
"$STOCK_SSH" -S "$T/master" -O check peer 2>&1 | sed -n 's/.*pid=\([0-9]*\).*/\1/p' >>"$T/pids"
for i in 1 2 3 4 5 6 7 8; do
	{ "$STOCK_SSH" -q -F "$T/client.conf" -S "$T/master" peer "cat; echo $i >&2; exit $i" <"$T/data" 2>"$T/err.$i" | sha256sum \
		>"$T/sum.$i"; } &
	track $!
	eval "job$i=$!"
done
good=0
for i in 1 2 3 4 5 6 7 8; do
	eval "wait \$job$i"
	[ "$(cut -c 1-64 "$T/sum.$i")" = "$data_sum" ] && [ "$(cat "$T/err.$i")" = $i ] && good=$((good + 1))
done
is "eight sessions at once, 8 MiB both ways each" $good 8
"$STOCK_SSH" -q -F "$T/client.conf" -S "$T/master" peer 'exit 9' </dev/null
is "a status through the master" $? 9
"$STOCK_SSH" -S "$T/master" -O exit peer >"$T/log" 2>&1
is "the master ends" $? 0

# ---- networks that give little at a time

for chunk in 1 1024; do
	case $chunk in 1) bytes=150000 ;; *) bytes=4000000 ;; esac
	random_file "$T/some" $bytes
	limit 200 "$STOCK_SSH" -q -F "$T/client.conf" -p "$plain" -o KexAlgorithms=curve25519-sha256 -o "RekeyLimit $((bytes / 8))" \
		-o "ProxyCommand $HELPERS/net_tool relay 127.0.0.1 %p $chunk" peer "tee $T/work/there" <"$T/some" >"$T/out" 2>"$T/log"
	is "$chunk bytes at a time: status" $? 0
	is "$chunk bytes at a time: there and back" "$(sum "$T/work/there") $(sum "$T/out")" "$(sum "$T/some") $(sum "$T/some")"
	rm -f "$T/work/there"
done

# ---- scp and sftp

mkdir -p "$T/tree/sub/deep"
for i in 1 2 3 4 5; do random_file "$T/tree/file $i" $((i * 1000)); done
random_file "$T/tree/sub/deep/large" 3000000
: >"$T/tree/sub/empty"
chmod 600 "$T/tree/file 1"
chmod 755 "$T/tree/sub/empty"
touch -d '2001-02-03 04:05:06' "$T/tree/file 2" "$T/tree/sub"
listing() { (cd "$1" && find . -printf '%p %y %m %s %Ts\n' | sort && find . -type f -exec sha256sum {} + | sort); }
if [ -n "$STOCK_SCP" ]; then
	for old in '' -O; do
		for limits in 'RekeyLimit=default' 'RekeyLimit=256K'; do
			rm -rf "$T/work/up" "$T/down"
			limit 120 "$STOCK_SCP" $old $options -o $limits "$T/data" peer:"$T/work/up" >"$T/log" 2>&1 &&
				limit 120 "$STOCK_SCP" $old $options -o $limits peer:"$T/work/up" "$T/down" >>"$T/log" 2>&1
			is "scp $old with $limits: status" $? 0
			is "scp $old with $limits: there and back" "$(sum "$T/work/up") $(sum "$T/down")" "$data_sum $data_sum"
		done
		rm -rf "$T/work/tree" "$T/back"
		limit 120 "$STOCK_SCP" $old $options -rp "$T/tree" peer:"$T/work/tree" >"$T/log" 2>&1 &&
			limit 120 "$STOCK_SCP" $old $options -rp peer:"$T/work/tree" "$T/back" >>"$T/log" 2>&1
		is "scp $old -rp: status" $? 0
		listing "$T/tree" >"$T/want"
		listing "$T/back" | diff "$T/want" - >"$T/log"
		ok $? "scp $old -rp: a tree there and back, with modes and times"
		limit 60 "$STOCK_SCP" $old $options peer:/nonexistent/file "$T/down" >"$T/log" 2>&1
		is "scp $old of a file that is not there" $? 1
		is_line "scp $old says so" 'No such file or directory' "$T/log"
	done
fi
if [ -n "$STOCK_SFTP" ]; then
	cat >"$T/batch" <<BATCH
cd $T/work
put $T/data sftp.data
get sftp.data $T/sftp.back
mkdir sftp.dir
rename sftp.data sftp.dir/data
ls -l sftp.dir
chmod 600 sftp.dir/data
symlink data sftp.dir/link
put -r "$T/tree" sftp.tree
get -r sftp.tree $T/sftp.tree
rm sftp.dir/data
rm sftp.dir/link
rmdir sftp.dir
df
BATCH
	limit 120 "$STOCK_SFTP" $options -b "$T/batch" peer >"$T/log" 2>&1
	is "sftp batch: status" $? 0
	is "sftp: there and back" "$(sum "$T/sftp.back")" "$data_sum"
	diff -r "$T/tree" "$T/sftp.tree" >"$T/log" 2>&1
	ok $? "sftp: a tree there and back"
fi

# ---- rsync, git, sshfs

sh_words="$STOCK_SSH -q -F $T/client.conf -p $plain -o RekeyLimit=1M -o KexAlgorithms=curve25519-sha256"
if have rsync; then
	limit 120 rsync -a -e "$sh_words" "$T/tree/" peer:"$T/work/rsync/" >"$T/log" 2>&1 &&
		limit 120 rsync -a -e "$sh_words" "$T/data" peer:"$T/work/rsync/" >>"$T/log" 2>&1 &&
		limit 120 rsync -a -z -e "$sh_words" peer:"$T/work/rsync/" "$T/rsync/" >>"$T/log" 2>&1
	is "rsync there and back: status" $? 0
	is "rsync: a large file" "$(sum "$T/rsync/data")" "$data_sum"
	rm -f "$T/rsync/data"
	diff -r "$T/tree" "$T/rsync" >"$T/log" 2>&1
	ok $? "rsync: a tree there and back"
	printf x | dd of="$T/data" bs=1 seek=4000000 conv=notrunc 2>/dev/null
	limit 120 rsync -a --no-whole-file -I --stats -e "$sh_words" "$T/data" peer:"$T/work/rsync/" >"$T/log" 2>&1
	is "rsync of a change: status" $? 0
	is "rsync of a change" "$(sum "$T/work/rsync/data")" "$(sum "$T/data")"
	data_sum=$(sum "$T/data")
else skip rsync "not installed"; fi
if have git; then
	GIT_SSH_COMMAND=$sh_words GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
	export GIT_SSH_COMMAND GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
	at "$plain" git init -q --bare -b trunk "$T/work/repo.git" >"$T/log" 2>&1 </dev/null
	(git init -q -b trunk "$T/repo" && cd "$T/repo" && cp "$T/data" data && git add data && git commit -q -m one &&
		limit 120 git push -q "ssh://peer:$plain$T/work/repo.git" trunk &&
		limit 120 git clone -q "ssh://peer:$plain$T/work/repo.git" "$T/clone") >>"$T/log" 2>&1
	is "git push and clone: status" $? 0
	is "git: the file" "$(sum "$T/clone/data")" "$data_sum"
else skip git "not installed"; fi
mkdir "$T/mount"
if ! have sshfs; then skip sshfs "not installed"
elif ! [ -w /dev/fuse ] || [ "$WS_PRIVATE" != 1 ] || ! (: >/dev/fuse) 2>/dev/null; then skip sshfs "FUSE cannot be used here"
elif ! limit 20 sshfs -F "$T/client.conf" -p "$plain" -o "ssh_command=$STOCK_SSH -q" peer:"$T/work" "$T/mount" >"$T/log" 2>&1 </dev/null; then
	if grep -q 'fuse: \(device not found\|mount failed\)\|Operation not permitted' "$T/log"; then skip sshfs "FUSE cannot be used here"; else
		ok 1 "sshfs mounts"
	fi
else
	cp "$T/data" "$T/mount/fs.data" && cmp "$T/data" "$T/mount/fs.data" >"$T/log" 2>&1
	ok $? "sshfs: a file there and back"
	cp -r "$T/tree" "$T/mount/fs.tree" && diff -r "$T/tree" "$T/work/fs.tree" >"$T/log" 2>&1
	ok $? "sshfs: a tree"
	umount "$T/mount"
fi

# ---- curl (libssh2 or libssh), lftp

if have curl && curl -V | grep -q ' sftp'; then
	curl_words="curl -sS --key $T/id --pubkey $T/id.pub --insecure -u $LOGIN:"
	for scheme in sftp scp; do
		curl -V | grep -qw $scheme || continue
		rm -f "$T/work/curl"
		limit 120 $curl_words -T "$T/data" "$scheme://127.0.0.1:$plain$T/work/curl" >"$T/log" 2>&1
		is "curl $scheme upload: status" $? 0
		is "curl $scheme upload" "$(sum "$T/work/curl")" "$data_sum"
		limit 120 $curl_words -o "$T/curl" "$scheme://127.0.0.1:$plain$T/work/curl" >"$T/log" 2>&1
		is "curl $scheme download: status" $? 0
		is "curl $scheme download" "$(sum "$T/curl")" "$data_sum"
	done
	limit 60 $curl_words "sftp://127.0.0.1:$plain$T/work/" >"$T/out" 2>"$T/log"
	is_line "curl lists a folder" ' curl$' "$T/out"
	if [ -n "$PASSWORD" ]; then
		limit 60 curl -sS --insecure -u "$LOGIN:$PASSWORD" "sftp://127.0.0.1:$plain$T/work/curl" 2>"$T/log" >"$T/curl"
		is "curl with a password" "$(sum "$T/curl")" "$data_sum"
		limit 60 curl -sS --insecure -u "$LOGIN:wrong" "sftp://127.0.0.1:$plain$T/work/curl" >"$T/log" 2>&1
		is "curl with a wrong password is refused" $? 67
	fi
	limit 60 $curl_words "sftp://127.0.0.1:$plain$T/work/nothing-here" >"$T/log" 2>&1
	is "curl of a file that is not there" $? 78
else skip curl "not installed, or without sftp"; fi
if have lftp; then
	rm -rf "$T/work/lftp" "$T/lftp"
	cat >"$T/lftp.cmd" <<LFTP
set sftp:connect-program "$STOCK_SSH -a -x -q -F $T/client.conf -o KexAlgorithms=curve25519-sha256 -o RekeyLimit=1M"
set net:max-retries 1
set net:timeout 30
set cmd:fail-exit yes
open -u $LOGIN,x -p $plain sftp://peer
cd $T/work
mirror -R $T/tree lftp
mirror lftp $T/lftp
put $T/data -o lftp.data
get lftp.data -o $T/lftp.data
LFTP
	HOME=$T limit 120 lftp -f "$T/lftp.cmd" >"$T/log" 2>&1 </dev/null
	is "lftp: status" $? 0
	is "lftp: a file" "$(sum "$T/lftp.data")" "$data_sum"
	diff -r "$T/tree" "$T/lftp" >"$T/log" 2>&1
	ok $? "lftp: a tree"
else skip lftp "not installed"; fi

# ---- passwords

if [ -n "$PASSWORD" ]; then
	with_askpass() { SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force DISPLAY=:0 limit 60 "$STOCK_SSH" -F "$T/client.conf" -p "$plain" \
		-o BatchMode=no -o PubkeyAuthentication=no -o NumberOfPasswordPrompts=1 "$@" >"$T/out" 2>"$T/log" </dev/null; }
	for method in password keyboard-interactive; do
		with_askpass -o PreferredAuthentications=$method peer 'echo in'
		is "$method" "$? $(cat "$T/out")" "0 in"
	done
	printf '#!/bin/sh\necho wrong\n' >"$T/askpass.wrong"
	chmod 755 "$T/askpass.wrong"
	cp "$T/askpass" "$T/askpass.right" && cp "$T/askpass.wrong" "$T/askpass"
	for method in password keyboard-interactive; do
		with_askpass -o PreferredAuthentications=$method peer 'echo in'
		is "a wrong answer to $method" "$? $(cat "$T/out")" "255 "
		is_line "and it says so" 'Permission denied (publickey,password,keyboard-interactive)' "$T/log"
	done
	cp "$T/askpass.right" "$T/askpass"
	with_askpass -o PreferredAuthentications=password -l nobody-of-this-name peer 'echo in'
	is "an unknown user is refused like another" $? 255
	is_line "and it is logged" 'Invalid user nobody-of-this-name from 127.0.0.1' "$T/plain.log"
	is_line "wrong passwords are logged" "Failed password for $LOGIN from 127.0.0.1 port [0-9]* ssh2" "$T/plain.log"
	is_line "right ones too" "Accepted password for $LOGIN from 127.0.0.1 port [0-9]* ssh2" "$T/plain.log"
	is_line "keyboard-interactive too" "Accepted keyboard-interactive/pam for $LOGIN from 127.0.0.1 port [0-9]* ssh2" "$T/plain.log"
else skip "passwords" "no private accounts"; fi

# ---- the server afterwards

quiet() { [ -z "$(children_of "$plain_pid")" ]; }
wait_until 10 quiet
ok $? "no session is left"
no_line "nothing went wrong inside" 'broke the rules\|died of signal\|Sanitizer\|internal error' "$T/plain.log"
finish
