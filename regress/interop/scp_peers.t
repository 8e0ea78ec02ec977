#!/bin/sh
# scp over the network: ours to the stock sshd, to ours, to dropbear and to asyncssh; the stock one to ours. Every cipher, every MAC,
# compression, new keys by either side; trees, many files, what fails.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
. "$WS_SRC/regress/lib/algorithms.sh"
need "$OURS" "$OUR_SCP" "$OUR_SSHD" "$HELPERS/net_tool"
make_login || { ok 1 "keys made"; finish; }
mib=${FULL:+64}
mib=${mib:-8}
mixed_data "$T/data" $((mib * 1048576))
chmod 644 "$T/data"
sum=$(sum "$T/data")
mkdir -p "$T/tree/sub/deep" "$T/tree/many"
for i in 1 2 3 4 5; do random_file "$T/tree/file $i" $((i * 1000)); done
random_file "$T/tree/sub/deep/large" 3000000
i=0
while [ $i -lt 300 ]; do echo "$i" >"$T/tree/many/$i"; i=$((i + 1)); done
chmod 600 "$T/tree/file 1"
chmod 755 "$T/tree/sub"
touch -d '2001-02-03 04:05:06' "$T/tree/file 2" "$T/tree/sub"
listing() { (cd "$1" && find . -printf '%p %y %m %s %Ts\n' | sort && find . -type f -exec sha256sum {} + | sort); }

# both_ways NAME OPTION...: the file there and back with $scp to $port
both_ways() {
	name=$1
	shift
	rm -f "$T/work/up" "$T/down"
	limit 120 $scp -q -F "$T/client.conf" -P "$port" "$@" "$T/data" peer:"$T/work/up" >"$T/log" 2>&1 &&
		limit 120 $scp -q -F "$T/client.conf" -P "$port" "$@" peer:"$T/work/up" "$T/down" >>"$T/log" 2>&1
	status=$?
	[ $status = 0 ] && [ "$(sum "$T/work/up")" = "$sum" ] && [ "$(sum "$T/down")" = "$sum" ]
	ok $? "$title: $name" || diag "status $status"
}

# pair TITLE SCP QUERY START
pair() {
	title=$1 scp=$2 query=$3 start=$4
	client=$OURS
	[ "$scp" = "$OUR_SCP" ] || client=$STOCK_SSH
	lists="Ciphers $("$query" -Q cipher | grep -v '^none$' | paste -sd, -)
MACs $("$query" -Q mac | grep -v '^none$' | paste -sd, -)
Subsystem sftp ${sftp_program:-internal-sftp}
AuthorizedKeysFile $T/authorized_keys"
	$start plain "$lists" && plain=$PORT && plain_pid=$PID && $start often "$lists" "RekeyLimit $((mib * 100))K" && often=$PORT ||
		{ ok 1 "$title: servers started"; return; }
	port=$plain
	for c in $(names_of cipher "$client" "$query"); do both_ways "$c" -o Ciphers=$c -o MACs=hmac-sha2-256-etm@openssh.com; done
	for m in $(names_of mac "$client" "$query"); do both_ways "$m" -o Ciphers=aes128-ctr -o MACs=$m; done
	both_ways "compression" -o Compression=yes
	both_ways "old protocol" -O
	for c in aes128-gcm@openssh.com aes128-ctr; do
		port=$plain
		both_ways "new keys by the client, $c" -o Ciphers=$c -o RekeyLimit=$((mib * 100))K -o KexAlgorithms=curve25519-sha256
		port=$often
		both_ways "new keys by the server, $c" -o Ciphers=$c -o KexAlgorithms=curve25519-sha256
		both_ways "new keys by both, $c" -o Ciphers=$c -o RekeyLimit=$((mib * 70))K -o KexAlgorithms=curve25519-sha256 -o Compression=yes
	done
	both_ways "old protocol, new keys" -O -o RekeyLimit=300K -o KexAlgorithms=curve25519-sha256
	port=$plain
	rm -rf "$T/work/tree" "$T/back"
	limit 120 $scp -q -F "$T/client.conf" -P $port -rp "$T/tree" peer:"$T/work/tree" >"$T/log" 2>&1 &&
		limit 120 $scp -q -F "$T/client.conf" -P $often -rp peer:"$T/work/tree" "$T/back" >>"$T/log" 2>&1
	is "$title: -rp: status" $? 0
	listing "$T/tree" >"$T/want"
	listing "$T/back" | diff "$T/want" - >"$T/log"
	ok $? "$title: -rp: a tree there and back, with modes and times"
	limit 60 $scp -q -F "$T/client.conf" -P $port peer:"$T/work/tree/f*" "$T/back/" >"$T/log" 2>&1
	is "$title: names with *: status" $? 0
	limit 60 $scp -q -F "$T/client.conf" -P $port peer:/nonexistent/file "$T/data" peer:"$T/work/" >"$T/log" 2>&1
	ok "$([ $? != 0 ]; echo $?)" "$title: one of two files that is not there"
	limit 60 $scp -F "$T/client.conf" -P $port "$T/data" peer:/nonexistent/folder/file >"$T/log" 2>&1 </dev/null
	ok "$([ $? != 0 ]; echo $?)" "$title: a folder that is not there"
	is_line "$title: and it says so" 'No such file or directory' "$T/log"
	stop $plain_pid
	stop $PID
}

pair "our scp, our sshd" "$OUR_SCP" "$OURS" start_ours
if [ -n "$STOCK_SSHD" ] && [ -n "$STOCK_SSH" ]; then
	sftp_program=$STOCK_SFTP_SERVER
	pair "our scp, stock sshd" "$OUR_SCP" "$STOCK_SSH" start_stock
	sftp_program=
fi
[ -z "$STOCK_SCP" ] || pair "stock scp, our sshd" "$STOCK_SCP" "$OURS" start_ours

# ---- other servers

scp=$OUR_SCP
if have dropbear dropbearkey && [ -n "$PASSWORD" ]; then
	title="our scp, dropbear"
	start_dropbear ed25519; ok $? "dropbear starts" "$T/db.log"
	port=$PORT
	if [ -x /usr/lib/sftp-server ] || [ -x /usr/libexec/sftp-server ]; then both_ways sftp; else skip "$title: sftp" "no sftp-server for it"; fi
	PATH=$PATH:/usr/bin both_ways "old protocol" -O
else skip "our scp, dropbear" "not there, or no private accounts"; fi
if find_python asyncssh; then
	title="our scp, asyncssh"
	HOST_KEY_FILES="$T/host_ed25519" AUTHORIZED=$T/authorized_keys
	export HOST_KEY_FILES AUTHORIZED
	"$PYTHON" -W ignore "$WS_SRC/regress/interop/asyncssh_server.py" >"$T/port" 2>"$T/server.log" </dev/null &
	track $!
	wait_line . "$T/port" 30 && read -r port <"$T/port"
	both_ways sftp
	both_ways "old protocol" -O
else skip "our scp, asyncssh" "not installed"; fi

# ---- no connection

limit 20 "$OUR_SCP" -F "$T/client.conf" -P "$(free_port)" "$T/data" peer:/x >"$T/log" 2>&1
is "connection refused is 255" $? 255
is_line "and it says so" 'connect to host 127.0.0.1 port [0-9]*: Connection refused' "$T/log"
limit 20 "$OUR_SCP" -F "$T/client.conf" -O -P "$(free_port)" "$T/data" peer:/x >"$T/log" 2>&1
is "connection refused, old protocol, is 1" $? 1
login_server last || ok 1 "our sshd started"
limit 20 "$OUR_SCP" -F "$T/client.conf" -P $PORT -o "UserKnownHostsFile=$T/none" "$T/data" peer:/x >"$T/log" 2>&1
is "an unknown host key is 255" $? 255
is_line "and it says so" 'Host key verification failed\.' "$T/log"
limit 20 "$OUR_SCP" -F "$T/client.conf" -P $PORT "$T/nothing" peer:"$T/work/" >"$T/log" 2>&1
is "a local file that is not there" $? 255
finish
