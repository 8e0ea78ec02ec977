#!/bin/sh
# PuTTY's plink, pscp and psftp against our sshd: ciphers, kex and host keys of both, new keys by either side, files, logins.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OUR_SSHD" "$HELPERS/net_tool" plink puttygen
make_login || { ok 1 "keys made"; finish; }
HOME=$T
export HOME
puttygen "$T/id" -o "$T/id.ppk" >"$T/log" 2>&1 || skip_all "puttygen cannot read our key"
lists="Ciphers $("$OURS" -Q cipher | grep -v '^none$' | paste -sd, -)
MACs $("$OURS" -Q mac | grep -v '^none$' | paste -sd, -)
KexAlgorithms $("$OURS" -Q kex | paste -sd, -)"
login_server plain "$lists" || { ok 1 "our sshd started"; finish; }
plain=$PORT
login_server often "$lists" "RekeyLimit 1M" || { ok 1 "our sshd started"; finish; }
often=$PORT
random_file "$T/data" 8388608
sum=$(sum "$T/data")
mkdir -p "$T/.putty/sessions"
print_of() { "${STOCK_KEYGEN:-$OUR_KEYGEN}" -lf "$1" | awk '{ print $2 }'; }
set --
for h in $HOST_KEYS; do set -- "$@" -hostkey "$(print_of "$T/host_$h.pub")"; done
host_keys=$*

# session NAME LINE...: options that plink has no flag for
session() {
	session_file=$T/.putty/sessions/$1
	shift
	printf '%s\n' "Protocol=ssh" "UserName=$LOGIN" "$@" >"$session_file"
}
put() { put_port=$1; shift; limit 120 plink -batch -no-antispoof -P "$put_port" -i "$T/id.ppk" $host_keys "$@"; }

# run PORT NAME WANTED-IN-LOG [FLAG...]: 8 MiB there and back with the session of that name
run() {
	run_port=$1 name=$2 wanted=$3
	shift 3
	rm -f "$T/work/there" "$T/out"
	put "$run_port" -load "$name" -v "$@" 127.0.0.1 "tee $T/work/there; exit 3" <"$T/data" >"$T/out" 2>"$T/log"
	status=$?
	[ $status = 3 ] && [ "$(sum "$T/work/there")" = "$sum" ] && [ "$(sum "$T/out")" = "$sum" ] && grep -q -e "$wanted" "$T/log"
	ok $? "plink, our sshd: $name" "$T/log" || diag "status $status, wanted $wanted"
}
session default
run $plain default 'Initialised .* outbound'
for c in aesgcm aes chacha20 3des; do
	session "$c" "Cipher=$c,aes,chacha20,3des,WARN"
	case $c in aesgcm) pattern='GCM' ;; aes) pattern='AES-256 SDCTR' ;; chacha20) pattern='ChaCha20' ;; 3des) pattern='[Tt]riple-DES' ;; esac
	run $plain "$c" "Initialised .*$pattern"
done
for k in ntru-curve25519 ecdh dh-group14-sha1 dh-group16-sha512; do
	# What is not named goes where PuTTY has it by itself, NTRU in front.
	session "$k" "KEX=$k,ecdh,dh-group14-sha1,WARN,ntru-curve25519"
	case $k in ntru*) pattern='NTRU Prime' ;; ecdh) pattern='Curve25519\|ECDH' ;; *) pattern='Diffie-Hellman' ;; esac
	run $plain "$k" "Doing .*\($pattern\)\|Using .*\($pattern\)"
done
for h in ed25519 ecdsa rsa; do
	session "$h" "HostKey=$h,ed25519,ecdsa,rsa,WARN" "PreferKnownHostKeys=0"
	run $plain "$h" "ssh-$h\|ecdsa-sha2\|rsa-sha2"
done
session zip
run $plain zip 'zlib (RFC1950) compression' -C
session keys "RekeyBytes=1M"
run $plain keys 'too much data received\|too much data sent\|Initiating key re-exchange'
[ "$(grep -c 'Initialised .* outbound .*encryption' "$T/log")" -ge 6 ]
ok $? "new keys by plink, several times" "$T/log"
session keys
run $often keys 'Remote side initiated key re-exchange'
[ "$(grep -c 'Initialised .* outbound .*encryption' "$T/log")" -ge 6 ]
ok $? "new keys by the server, several times" "$T/log"

put $plain -l "$LOGIN" 127.0.0.1 "cat $T/data; cat $T/data >&2" >"$T/out" 2>"$T/err" </dev/null
is "stdout and stderr" "$(sum "$T/out") $(tail -c 8388608 "$T/err" | sum /dev/stdin)" "$sum $sum"
put $plain -l "$LOGIN" -t 127.0.0.1 'tty; exit 6' >"$T/out" 2>"$T/log" </dev/null
is "a terminal: status" $? 6
is_line "a terminal" '/dev/pts/' "$T/out"
printf 'echo from a shell; exit 9\n' | put $plain -l "$LOGIN" -T 127.0.0.1 >"$T/out" 2>"$T/log"
is "a shell" "$? $(cat "$T/out")" "9 from a shell"
# PuTTY closes the channel as soon as both sides have said EOF.
put $plain -l "$LOGIN" 127.0.0.1 'exec >&- 2>&-; sleep 0.5; exit 3' >"$T/out" 2>"$T/log" </dev/null
is "a status that comes after the end of output" $? 3
same=0 wanted=$(seq 1 200000 | sha256sum)
for i in 1 2 3 4 5 6 7 8; do
	got=$( { put $often -l "$LOGIN" 127.0.0.1 'seq 1 200000; exit 7' </dev/null 2>>"$T/log"; echo $? >"$T/status"; } |
		(sleep 0.05; cat) | sha256sum)
	[ "$got" = "$wanted" ] && [ "$(cat "$T/status")" = 7 ] && same=$((same + 1))
done
is "all of the output, and the status" $same 8

# ---- files

for flag in -sftp -scp; do
	for p in $plain $often; do
		rm -f "$T/work/up" "$T/down"
		limit 120 pscp $flag -q -batch -P $p -l "$LOGIN" -i "$T/id.ppk" $host_keys "$T/data" "127.0.0.1:$T/work/up" >"$T/log" 2>&1 </dev/null
		is "pscp $flag up: status" $? 0
		limit 120 pscp $flag -q -batch -P $p -l "$LOGIN" -i "$T/id.ppk" $host_keys "127.0.0.1:$T/work/up" "$T/down" >"$T/log" 2>&1 </dev/null
		is "pscp $flag down: status" $? 0
		is "pscp $flag there and back" "$(sum "$T/work/up") $(sum "$T/down")" "$sum $sum"
	done
done
mkdir -p "$T/tree/sub"
cp "$T/data" "$T/tree/sub/data"
echo small >"$T/tree/small"
limit 120 pscp -r -p -q -batch -P $plain -l "$LOGIN" -i "$T/id.ppk" $host_keys "$T/tree" "127.0.0.1:$T/work/" >"$T/log" 2>&1 </dev/null
is "pscp -r: status" $? 0
diff -r "$T/tree" "$T/work/tree" >"$T/log" 2>&1
ok $? "pscp -r"
printf '%s\n' "cd $T/work" "put $T/data sftp.data" "get sftp.data $T/sftp.back" "mkdir sd" "mv sftp.data sd/data" "ls sd" \
	"chmod 600 sd/data" "del sd/data" "rmdir sd" "quit" >"$T/batch"
limit 120 psftp -batch -P $plain -l "$LOGIN" -i "$T/id.ppk" $host_keys -b "$T/batch" 127.0.0.1 >"$T/log" 2>&1 </dev/null
is "psftp: status" $? 0
is "psftp there and back" "$(sum "$T/sftp.back")" "$sum"

# ---- logins

puttygen -q -t ed25519 --new-passphrase /dev/null -o "$T/other.ppk" >"$T/log" 2>&1 </dev/null
limit 30 plink -batch -no-antispoof -P $plain -l "$LOGIN" -i "$T/other.ppk" $host_keys 127.0.0.1 true >"$T/log" 2>&1 </dev/null
ok "$([ $? != 0 ]; echo $?)" "a key that is not allowed is refused"
if [ -n "$PASSWORD" ]; then
	printf '%s\n' "$PASSWORD" >"$T/pw"
	echo wrong >"$T/pw.wrong"
	limit 30 plink -batch -no-antispoof -P $plain -l "$LOGIN" -pwfile "$T/pw" $host_keys 127.0.0.1 'echo in' >"$T/out" 2>"$T/log" </dev/null
	is "by password (keyboard-interactive)" "$? $(cat "$T/out")" "0 in"
	session pw "AuthKI=0"
	limit 30 plink -load pw -batch -no-antispoof -P $plain -l "$LOGIN" -pwfile "$T/pw" $host_keys 127.0.0.1 'echo in' >"$T/out" 2>"$T/log" </dev/null
	is "by password" "$? $(cat "$T/out")" "0 in"
	limit 30 plink -batch -no-antispoof -P $plain -l "$LOGIN" -pwfile "$T/pw.wrong" $host_keys 127.0.0.1 'echo in' >"$T/out" 2>"$T/log" </dev/null
	is "not by a wrong one" "$? $(cat "$T/out")" "1 "
else skip "by password" "no private accounts"; fi
no_line "nothing went wrong inside" 'broke the rules\|died of signal\|Sanitizer\|internal error' "$T/plain.log"
finish
