#!/bin/sh
# Our ssh against a dropbear server: every algorithm that both have, our new keys, logins.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$HELPERS/net_tool" dropbear dropbearkey
# Its authorized keys lie in a home and nowhere else.
make_login && [ -n "$PASSWORD" ] || skip_all "accounts of one's own are needed for dropbear"

start_dropbear ed25519 ecdsa rsa || { ok 1 "dropbear started" "$T/db.log"; finish; }

random_file "$T/data" 8388608
sum=$(sum "$T/data")

# run NAME OPTION...: 8 MiB there and back
run() {
	name=$1
	shift
	rm -f "$T/work/there" "$T/out" "$T/row.log"
	limit 120 "$OURS" -F "$T/client.conf" -p "$PORT" -v -E "$T/row.log" "$@" peer "tee $T/work/there; exit 3" <"$T/data" >"$T/out" 2>&1
	status=$?
	if grep -q 'no matching .* found' "$T/row.log"; then
		skip "$name" "dropbear does not have it"
		return
	fi
	[ $status = 3 ] && [ "$(sum "$T/work/there")" = "$sum" ] && [ "$(sum "$T/out")" = "$sum" ]
	ok $? "our ssh, dropbear: $name" "$T/row.log" "$T/db.log"
}
for k in $("$OURS" -Q kex); do
	case $k in *group18*|*group16*|*group1-*) continue ;; esac
	run "$k" -o KexAlgorithms=$k
done
run "diffie-hellman-group16-sha512" -o KexAlgorithms=diffie-hellman-group16-sha512
for k in ssh-ed25519 ecdsa-sha2-nistp256 rsa-sha2-256 ssh-rsa; do run "$k" -o HostKeyAlgorithms=$k; done
for c in $("$OURS" -Q cipher); do
	case $c in none|*cbc|arcfour*|blowfish*|cast*) continue ;; esac
	for m in $("$OURS" -Q mac); do
		case $c-$m in
		*-none|*-etm@*|*umac*|*md5*) continue ;;
		*gcm*-hmac-sha2-256|chacha*-hmac-sha2-256|*-ctr-*) ;;
		*) continue ;;
		esac
		run "$c $m" -o Ciphers=$c -o MACs=$m
	done
done
run "compression" -o Compression=yes
for c in chacha20-poly1305@openssh.com aes128-ctr; do
	run "new keys with $c" -o RekeyLimit=1M -o Ciphers=$c
	[ "$(grep -c 'kex: algorithm: ' "$T/row.log")" -ge 8 ]
	ok $? "our ssh, dropbear: eight times" "$T/row.log"
done

limit 60 "$OURS" -F "$T/client.conf" -p "$PORT" peer "cat $T/data; cat $T/data >&2" >"$T/out" 2>"$T/err" </dev/null
is "stdout and stderr" "$(sum "$T/out") $(sum "$T/err")" "$sum $sum"
same=0 wanted=$(seq 1 200000 | sha256sum)
for i in 1 2 3 4 5 6 7 8; do
	got=$( { limit 60 "$OURS" -F "$T/client.conf" -p "$PORT" -o RekeyLimit=64K peer 'seq 1 200000; exit 7' </dev/null 2>>"$T/log"
		echo $? >"$T/status"; } | (sleep 0.05; cat) | sha256sum)
	[ "$got" = "$wanted" ] && [ "$(cat "$T/status")" = 7 ] && same=$((same + 1))
done
is "all of the output, and the status" $same 8
limit 20 "$OURS" -F "$T/client.conf" -p "$PORT" peer 'kill -TERM $$' >"$T/log" 2>&1 </dev/null
is "a command that a signal ends" $? 255
limit 20 "$OURS" -F "$T/client.conf" -p "$PORT" -tt peer 'tty; exit 4' >"$T/out" 2>&1 </dev/null
is "a terminal: status" $? 4
is_line "a terminal" '/dev/pts/' "$T/out"
printf '#!/bin/sh\necho wrong\n' >"$T/askpass.wrong"
chmod 755 "$T/askpass.wrong"
for ask in askpass askpass.wrong; do
	SSH_ASKPASS=$T/$ask SSH_ASKPASS_REQUIRE=force limit 60 "$OURS" -F "$T/client.conf" -p "$PORT" -o BatchMode=no \
		-o PubkeyAuthentication=no -o NumberOfPasswordPrompts=1 peer 'echo in' >"$T/out" 2>"$T/log" </dev/null
	echo "$? $(cat "$T/out")" >"$T/$ask.got"
done
is "by password" "$(cat "$T/askpass.got")" "0 in"
is "by a wrong one" "$(cat "$T/askpass.wrong.got")" "255 "
limit 60 "$OURS" -F "$T/client.conf" -p "$PORT" -o NoneSwitch=yes -o NoneSwitchFallback=yes peer 'echo hidden' >"$T/out" 2>"$T/log" </dev/null
is "none asked of dropbear, fallback" "$? $(cat "$T/out")" "0 hidden"
finish
