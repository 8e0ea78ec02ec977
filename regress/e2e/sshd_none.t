#!/bin/sh
# Cipher none in our sshd: who may have it, when, and what it refuses then. The client is our engine dressed up as HPN-SSH, since it
# must do what a decent client does not, and our ssh.
. "$(dirname "$0")/sshd_lib.sh"
tool=$WS_BUILD/regress/helpers/engine_talk
grep -q 'define WITH_NONE_CIPHER 1' "$WS_BUILD/config.h" || { echo "1..0 # SKIP built without cipher none"; exit 0; }
[ -x "$tool" ] || { echo "1..0 # SKIP engine_talk is not built"; exit 0; }

hpn="software=OpenSSH_10.2p1_hpn18.8.0"
head -c 1000000 /dev/zero >"$T/zero"
# talk OPTIONS: the client's last words are in $T/said
talk() { timeout 60 "$tool" client "$port" key="$T/key" user="$user" bytes=100000 $hpn "$@" >"$T/out" 2>"$T/said"; }

serve "NoneEnabled yes" "NoneMacEnabled yes" || exit 1
talk none=cipher
ok $? "none for an HPN client" "$T/said"
logged "^SSH: Server;Ltype: Kex;Remote: [^;]*;Enc: none;MAC: umac-64-etm@openssh.com;Comp: none" "the exchange to none"
logged "^cipher none: data of user $user 127\.0\.0\.1 port [0-9]+ is not encrypted now" "none is logged"
for request in pty-req auth-agent-req@openssh.com x11-req; do
	talk none=cipher request=$request
	grep -q "^engine_talk: $request refused" "$T/said"
	ok $? "$request is refused on none" "$T/said"
	grep -q "not encrypted (cipher none)" "$T/said"
	ok $? "and why is said" "$T/said"
done
talk request=pty-req
grep -q "^engine_talk: pty-req granted" "$T/said"
ok $? "a terminal on an encrypted connection is granted" "$T/said"
# nobody sees none before authentication
is "$(on -vv $host true 2>&1 | grep -c '^debug2: ciphers .*none')" 0 "none is not in the first proposal"
on -c aes128-ctr -o MACs=hmac-sha2-256 $host true
is $? 0 "stock clients are served as ever"
serve "NoneEnabled yes" "Match User nobody-else" "NoneEnabled no"
talk none=cipher
ok $? "none for this user" "$T/said"
serve "NoneEnabled yes" "Match User $user" "NoneEnabled no"
talk none=cipher
[ $? != 0 ] && grep -qi "none" "$T/said"
ok $? "a Match block takes it away, and the client learns why" "$T/said"
logged "^Unable to negotiate with 127\.0\.0\.1 port [0-9]+: no matching cipher found\. Their offer: none" "refused"
serve "Match User $user" "NoneEnabled yes"
talk none=cipher
ok $? "and gives it to one user only" "$T/said"
serve
talk none=cipher
[ $? != 0 ] && grep -qi "none" "$T/said"
ok $? "not without NoneEnabled" "$T/said"
talk none=mac
[ $? != 0 ]
ok $? "nor MAC none" "$T/said"
serve "NoneEnabled yes" "RekeyLimit 100K"
if [ -x "$WS_BUILD/ssh" ]; then
	head -c 3000000 /dev/urandom >"$T/data"
	ours() { timeout 60 "$WS_BUILD/ssh" -F none -p "$port" -i "$T/key" -l "$user" -o StrictHostKeyChecking=no -o UserKnownHostsFile="$T/known" \
		-o BatchMode=yes "$@"; }
	is "$(ours -oNoneEnabled=yes -oNoneSwitch=yes $host cat <"$T/data" 2>"$T/err" | sha256sum)" "$(sha256sum <"$T/data")" "our ssh on none, the server re-keys" "$T/err"
	[ "$(grep -c 'Ltype: Kex;.*;Enc: none' "$T/log")" -ge 3 ]
	ok $? "and stays on none"
else
	skip "our ssh is not built"
fi
until_true '[ "$(processes_of_server)" = 0 ]'
is "$(processes_of_server)" 0 "nobody is left"
is "$(grep -Ec 'died of signal|broke the rules|Sanitizer' "$T/log")" 0 "nothing crashed"
stop
done_testing
