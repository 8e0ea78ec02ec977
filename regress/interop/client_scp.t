#!/bin/sh
# Our scp over connections of its own, to the stock sshd and to ours: files, trees, the old protocol, from there to there, a server
# without SFTP, refusals, re-keying, an interrupted copy, a server that dies.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
private_accounts
need "$OUR_SCP" "$HELPERS/net_tool"
make_client
random_file "$T/data" 8388608
data_sum=$(sum "$T/data")
mkdir -p "$T/tree/sub/deep" "$T/tree/empty"
echo alpha >"$T/tree/a"; echo 'b c' >"$T/tree/b c"; : >"$T/tree/sub/nothing"; head -c 300000 /dev/urandom >"$T/tree/sub/deep/file"
chmod 640 "$T/tree/a"; chmod 711 "$T/tree/sub"; touch -d '2001-02-03 04:05:06' "$T/tree/a" "$T/tree/sub/deep"

# run PORT ARGUMENT...: our scp; status, and what it says in $T/log.
run() {
	run_port=$1
	shift
	limit 120 "$OUR_SCP" -F "$T/client.conf" -P "$run_port" "$@" >"$T/log" 2>&1 </dev/null
	status=$?
}
same_tree() { diff -r "$1" "$2" >"$T/log" 2>&1; ok $? "$3"; }
accepted() { grep -c 'Accepted publickey' "$1"; }

# every SERVER PORT LOG: all that should work with that server.
all_of() {
	name=$1 port=$2 log=$3 w=$T/$1
	mkdir "$w"
	run "$port" "$T/data" "peer:$w/up"; is "$name: up" "$status" 0
	is "$name: up: content" "$(sum "$w/up")" "$data_sum"
	[ ! -s "$T/log" ]; ok $? "$name: and no word"
	run "$port" "peer:$w/up" "$w/down"; is "$name: down" "$status" 0
	is "$name: down: content" "$(sum "$w/down")" "$data_sum"
	run "$port" -r "$T/tree" "peer:$w/tree"; is "$name: tree up" "$status" 0
	same_tree "$T/tree" "$w/tree" "$name: tree up: content"
	run "$port" -pr "peer:$T/tree" "$w/dtree"; is "$name: tree down" "$status" 0
	same_tree "$T/tree" "$w/dtree" "$name: tree down: content"
	is "$name: -p" "$(stat -c '%a %Y' "$w/dtree/a")" "$(stat -c '%a %Y' "$T/tree/a")"
	before=$(accepted "$log")
	run "$port" "$T/tree/a" "$T/tree/b c" "$T/data" "peer:$w/"; is "$name: several up" "$status" 0
	run "$port" "peer:$w/a" "peer:$w/b*" "peer:$w/data" "$w/dtree/"; is "$name: several down" "$status" 0
	is "$name: several down: content" "$(sum "$w/dtree/data")" "$data_sum"
	is "$name: one login a command" $(($(accepted "$log") - before)) 2
	run "$port" -O -pr "$T/tree" "peer:$w/otree"; is "$name: -O up" "$status" 0
	same_tree "$T/tree" "$w/otree" "$name: -O up: content"
	run "$port" -O "peer:$w/up" "$w/odown"; is "$name: -O down" "$status" 0
	is "$name: -O down: content" "$(sum "$w/odown")" "$data_sum"
	run "$port" "peer:$w/up" "peer:$w/relay"; is "$name: from there to there" "$status" 0
	is "$name: from there to there: content" "$(sum "$w/relay")" "$data_sum"
	run "$port" -C "$T/data" "peer:$w/compressed"; is "$name: -C" "$status" 0
	is "$name: -C: content" "$(sum "$w/compressed")" "$data_sum"
	run "$port" -o RekeyLimit=1M "$T/data" "peer:$w/rekeyed"; is "$name: new keys each MiB, up" "$status" 0
	is "$name: new keys each MiB, up: content" "$(sum "$w/rekeyed")" "$data_sum"
	run "$port" -o RekeyLimit=1M "peer:$w/rekeyed" "$w/drekeyed"; is "$name: new keys each MiB, down" "$status" 0
	is "$name: new keys each MiB, down: content" "$(sum "$w/drekeyed")" "$data_sum"
	run "$port" "$T/data" "peer:$w/no/such"; is "$name: no such folder" "$status" 1
	is_line "$name: no such folder: says so" "$w/no/such.*No such file or directory" "$T/log"
	run "$port" "peer:$w/nope" "$w/x"; is "$name: no such file" "$status" 1
	is_line "$name: no such file: says so" "$w/nope: No such file or directory" "$T/log"
	run "$port" "$T/data" peer:/dev/full; is "$name: full disk" "$status" 1
	is_line "$name: full disk: says where" '/dev/full' "$T/log"
	run "$port" "$T/nope" "peer:$w/x"; is "$name: no such local file" "$status" 255
	run "$port" -o PubkeyAuthentication=no "$T/data" "peer:$w/x"; is "$name: no key" "$status" 255
	is_line "$name: no key: says so" 'Permission denied' "$T/log"
	is_line "$name: no key: and this" 'scp: Connection closed' "$T/log"
}

if [ -n "$STOCK_SSHD" ] && [ -n "$STOCK_KEYGEN" ]; then
	start_stock stock "Subsystem sftp ${STOCK_SFTP_SERVER:-internal-sftp}" || { ok 1 "stock sshd started"; finish; }
	stock_port=$PORT
	all_of stock "$PORT" "$T/stock.log"
	start_stock nosftp || { ok 1 "stock sshd started"; finish; }
	nosftp=$PORT
	run "$nosftp" "$T/data" "$T/tree/a" "peer:$T/stock/"; is "a server without SFTP: up" "$status" 0
	is "a server without SFTP: content" "$(sum "$T/stock/data")" "$data_sum"
	run "$nosftp" -r "peer:$T/tree" "$T/stock/ftree"; is "a server without SFTP: tree down" "$status" 0
	same_tree "$T/tree" "$T/stock/ftree" "a server without SFTP: content of the tree"
	is "a server without SFTP: one login each" "$(accepted "$T/nosftp.log")" 2
	run "$nosftp" -s "$T/data" "peer:$T/stock/x"; is "a server without SFTP, and -s" "$status" 255
	is_line "a server without SFTP, and -s: says why" 'no SFTP subsystem' "$T/log"
	limit 60 "$OUR_SCP" -F "$T/client.conf" "scp://peer:$stock_port/$T/data" "scp://peer:$nosftp/$T/stock/mixed" >"$T/log" 2>&1 </dev/null
	is "from one that has SFTP to one that has not" $? 0
	is "from one to the other: content" "$(sum "$T/stock/mixed")" "$data_sum"
	# The login shell talks.
	if [ -n "$STOCK_SFTP_SERVER" ]; then
		printf '#!/bin/sh\necho welcome to this host\nexec %s\n' "$STOCK_SFTP_SERVER" >"$T/talks"; chmod 755 "$T/talks"
		start_stock talking "Subsystem sftp $T/talks" || { ok 1 "stock sshd started"; finish; }
		run "$PORT" "$T/data" "peer:$T/stock/x"; is "a shell that talks" "$status" 255
		is_line "a shell that talks: its words are shown" 'welcome to this host' "$T/log"
	fi
else
	skip "the stock sshd" "not there"
fi

if [ -x "$OUR_SSHD" ]; then
	start_ours ours "Subsystem sftp internal-sftp" || { ok 1 "our sshd started"; finish; }
	all_of ours "$PORT" "$T/ours.log"
	# Interrupted: says what is incomplete; what is there is a true beginning.
	"$OUR_SCP" -F "$T/client.conf" -P "$PORT" -l 20000 "peer:$T/data" "$T/part" >"$T/log" 2>&1 </dev/null &
	pid=$!
	has_some() { [ "$(stat -c %s "$T/part" 2>/dev/null || echo 0)" -gt 200000 ]; }
	wait_until 20 has_some
	kill -TERM $pid
	wait $pid 2>/dev/null
	[ $? -gt 128 ]; ok $? "interrupted: ends by the signal"
	is_line "interrupted: says what is incomplete" 'part.*is not complete' "$T/log"
	head -c "$(stat -c %s "$T/part")" "$T/data" | cmp -s - "$T/part"; ok $? "interrupted: what is there is right"
	# The server dies.
	"$OUR_SCP" -F "$T/client.conf" -P "$PORT" -l 20000 "$T/data" "peer:$T/part2" >"$T/log" 2>&1 </dev/null &
	pid=$!
	has_some() { [ "$(stat -c %s "$T/part2" 2>/dev/null || echo 0)" -gt 200000 ]; }
	wait_until 20 has_some
	end $PID
	wait $pid 2>/dev/null
	is "a server that dies" $? 255
	is_line "a server that dies: says so" 'closed' "$T/log"
else
	skip "our sshd" "not built"
fi
finish
