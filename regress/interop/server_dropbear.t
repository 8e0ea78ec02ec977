#!/bin/sh
# dbclient against our sshd: every algorithm that both have, our new keys, logins.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool" dbclient dropbearkey
make_login || { ok 1 "keys made"; finish; }
dropbearkey -t ed25519 -f "$T/db_id" >"$T/log" 2>&1
dropbearkey -y -f "$T/db_id" 2>/dev/null | grep '^ssh-ed25519' >>"$T/authorized_keys"
lists="Ciphers $("$OURS" -Q cipher | grep -v '^none$' | paste -sd, -)
MACs $("$OURS" -Q mac | grep -v '^none$' | paste -sd, -)"
login_server plain "$lists" || { ok 1 "our sshd started"; finish; }
plain=$PORT
random_file "$T/data" 8388608
sum=$(sum "$T/data")
HOME=$T
export HOME

# dbclient ends when its input ends before the answer has come, so the command says when it has all.
run() {
	run_port=$1 name=$2
	shift 2
	rm -f "$T/work/there" "$T/out"
	limit 120 dbclient -q -y -y -i "$T/db_id" -p "$run_port" "$@" "$LOGIN@127.0.0.1" "tee $T/work/there; exit 3" <"$T/data" >"$T/out" 2>"$T/log"
	status=$?
	[ $status = 3 ] && [ "$(sum "$T/work/there")" = "$sum" ] && [ "$(sum "$T/out")" = "$sum" ]
	ok $? "dbclient, our sshd: $name" "$T/log" "$T/plain.log"
}
# Those of `dbclient -c help` that our sshd has.
db_names() { dbclient $1 help "$LOGIN@127.0.0.1" 2>&1 | tr -c 'a-z0-9@.\n-' '\n' | grep -xF -f "$T/names"; }
"$OURS" -Q cipher >"$T/names"
ciphers=$(db_names -c)
"$OURS" -Q mac >"$T/names"
macs=$(db_names -m)
[ -n "$ciphers" ] && [ -n "$macs" ]
ok $? "algorithms in common"
for c in $ciphers; do
	for m in $macs; do
		case $c-$m in *gcm*-hmac-sha2-256|chacha*-hmac-sha2-256|*-ctr-*) run "$plain" "$c $m" -c "$c" -m "$m" ;; esac
	done
done
for k in $("$OURS" -Q kex); do
	login_server one "KexAlgorithms $k" || { ok 1 "our sshd started"; continue; }
	limit 30 dbclient -q -y -y -i "$T/db_id" -p "$PORT" "$LOGIN@127.0.0.1" 'exit 5' >"$T/log" 2>&1 </dev/null
	status=$?
	if grep -qi "no matching" "$T/log"; then skip "$k" "dbclient does not have it"; else is "dbclient, our sshd: $k" $status 5; fi
	stop $PID
done
for h in ed25519 ecdsa256 rsa; do
	HOST_KEYS_ALL=$HOST_KEYS HOST_KEYS=$h
	login_server one || ok 1 "our sshd started"
	HOST_KEYS=$HOST_KEYS_ALL
	limit 30 dbclient -q -y -y -i "$T/db_id" -p "$PORT" "$LOGIN@127.0.0.1" 'exit 5' >"$T/log" 2>&1 </dev/null
	is "dbclient, our sshd: host key $h" $? 5
	stop $PID
done
login_server often "RekeyLimit 1M" || ok 1 "our sshd started"
often=$PORT
for c in $ciphers; do case $c in chacha*|aes128-ctr) run "$often" "new keys with $c" -c "$c" ;; esac; done
run "$plain" "a large window" -W 10000000
limit 60 dbclient -q -y -y -i "$T/db_id" -p "$often" "$LOGIN@127.0.0.1" "cat $T/data; cat $T/data >&2" >"$T/out" 2>"$T/err" </dev/null
tail -c 8388608 "$T/err" >"$T/err.end"		# after what dbclient itself says
is "stdout and stderr" "$(sum "$T/out") $(sum "$T/err.end")" "$sum $sum"
# dbclient (2022.83) may wait for ever once the channel is closed, if keys were exchanged shortly before; with OpenSSH's server
# as well. Such a run must have brought all of the output too, and is done again.
same=0 hung=0 wanted=$(seq 1 200000 | sha256sum)
while [ $same -lt 8 ] && [ $hung -lt 8 ]; do
	got=$( { limit 10 dbclient -q -y -y -i "$T/db_id" -p "$often" "$LOGIN@127.0.0.1" 'seq 1 200000; exit 7' </dev/null 2>>"$T/log"
		echo $? >"$T/status"; } | (sleep 0.05; cat) | sha256sum)
	[ "$got" = "$wanted" ] || break
	case $(cat "$T/status") in 7) same=$((same + 1)) ;; 124) hung=$((hung + 1)) ;; *) break ;; esac
done
is "all of the output, and the status" $same 8
if [ -n "$PASSWORD" ]; then
	DROPBEAR_PASSWORD=$PASSWORD limit 60 dbclient -q -y -y -p "$plain" "$LOGIN@127.0.0.1" 'echo in' >"$T/out" 2>"$T/log" </dev/null
	is "by password" "$? $(cat "$T/out")" "0 in"
	DROPBEAR_PASSWORD=wrong limit 60 dbclient -q -y -y -p "$plain" "$LOGIN@127.0.0.1" 'echo in' >"$T/out" 2>"$T/log" </dev/null
	is "not by a wrong one" "$([ $? != 0 ] && cat "$T/out")" ""
else skip "by password" "no private accounts"; fi
finish
