#!/bin/sh
# ssh -Q speed, and CipherPreference on both ends: what is offered, what is kept, and that nothing is added. Processors differ:
# libcrypto's own switches make one with and one without AES instructions out of an x86.
. "$(dirname "$0")/../lib/ssh.sh"
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool"
XDG_CACHE_HOME=$T/cache
export XDG_CACHE_HOME
no_aes='~0x200000200000000:~0x0'

# ---- ssh -Q speed

limit 30 "$OURS" -Q speed >"$T/out" 2>"$T/err"
is "-Q speed" $? 0
is "and nothing on stderr" "$(cat "$T/err")" ""
# Every cipher with every MAC, or with none of its own; and none with all of them and none.
macs=$("$OURS" -Q mac | grep -c .) ciphers=$("$OURS" -Q cipher | grep -c .) aead=$("$OURS" -Q cipher-auth | grep -c .)
grep -v '^#' "$T/out" >"$T/rows"
is "as many lines as there are combinations" "$(grep -c . "$T/rows")" $((aead + (ciphers - aead + 1) * macs + 1))
for c in $("$OURS" -Q cipher) none; do
	awk -v c="$c" '$3 == c { found = 1 } END { exit !found }' "$T/rows"
	ok $? "$c is among them" "$T/out"
done
awk '$1 != "-" { n = $1 < $2 ? $1 : $2; if (last != "" && n > last + 1) exit 1; last = n }' "$T/rows"
ok $? "the fastest first, by the slower direction" "$T/out"
is "what is not encrypted is marked, and nothing else" "$(grep -c 'NOT ENCRYPTED' "$T/rows")" \
	"$(awk '$3 == "none"' "$T/rows" | grep -c 'NOT ENCRYPTED')"
is "all of it" "$(grep -c 'NOT ENCRYPTED' "$T/rows")" $((macs + 1))
is "with what is not authenticated either" "$(grep -c 'NOT AUTHENTICATED' "$T/rows")" 1
limit 10 "$OURS" -Q speed chacha20-poly1305@openssh.com >"$T/out" 2>&1
is "one cipher" "$(grep -vc '^#' "$T/out")" 1
limit 10 "$OURS" -Q speed no-such-cipher >"$T/out" 2>&1
is "a cipher that is not there: status" $? 255
is_line "and why" 'no cipher "no-such-cipher"' "$T/out"
limit 30 "$OURS" -Q speed=json aes128-ctr >"$T/json" 2>&1
is "-Q speed=json" $? 0
if perl -MJSON::PP -e 1 2>/dev/null; then
	perl -MJSON::PP -e 'local $/; my $j = decode_json(<STDIN>); my $r = $j->{results};
		exit !(@$r == $ARGV[0] && !grep { $_->{cipher} ne "aes128-ctr" || !$_->{encrypted} || $_->{seal} <= 0 } @$r)' \
		"$macs" <"$T/json"
	ok $? "can be read" "$T/json"
else
	skip "can be read" "no JSON::PP"
fi

# ---- CipherPreference of clients

make_client
start_ours plain || { ok 1 "our sshd started"; finish; }
plain=$PORT
# Of ours, AES-GCM has instructions that libcrypto's switches do not reach.
AES=aes128-ctr CHACHA=chacha20-poly1305@openssh.com

# offered OPTION...: what the client of ours would like best: the cipher that it and the server agree on.
offered() {
	limit 30 "$OURS" -v -F "$T/client.conf" -p "$plain" "$@" peer true >"$T/out" 2>"$T/log" </dev/null || return 1
	sed -n 's/.*kex: client->server cipher: \([^ ]*\) .*/\1/p' "$T/log" | head -n 1
}
is "default: as configured" "$(offered -o Ciphers=$CHACHA,$AES)" $CHACHA
no_line "and nothing is measured" 'CipherPreference' "$T/log"
[ ! -e "$T/cache/wirespeed/speeds" ]
ok $? "and nothing kept"
if "$OURS" -Q speed $AES | grep -q '^# .*processor:.* aes'; then
	is "fastest, with AES instructions" "$(offered -o CipherPreference=fastest -o Ciphers=$CHACHA,$AES)" $AES
	is_line "it is measured once" 'CipherPreference fastest: measured in' "$T/log"
	OPENSSL_ia32cap=$no_aes
	export OPENSSL_ia32cap
	is "fastest, without" "$(offered -o CipherPreference=fastest -o Ciphers=$AES,$CHACHA)" $CHACHA
	is_line "that is another machine" 'CipherPreference fastest: measured in' "$T/log"
	is "as configured, without" "$(offered -o Ciphers=$AES,$CHACHA)" $AES
	unset OPENSSL_ia32cap
	is "fastest, with them again" "$(offered -o CipherPreference=fastest -o Ciphers=$CHACHA,$AES)" $AES
	no_line "from the file" 'measured in' "$T/log"
else
	skip "fastest, with AES instructions" "no AES instructions that can be switched off here"
	offered -o CipherPreference=fastest -o Ciphers=$CHACHA,$AES >"$T/out"
fi
is "the file is ours alone" "$(stat -c %a "$T/cache/wirespeed/speeds")" 600
if "$OURS" -Q cipher | grep -qx aes128-cbc; then
	is "legacy stays behind" "$(offered -o CipherPreference=fastest -o Ciphers=aes128-cbc,aes256-ctr -o MACs=hmac-sha2-512)" aes256-ctr
	is "nothing is added" "$(sed -n 's/.*CipherPreference fastest: \(.*\);.*/\1/p' "$T/log" | tr -d '\r' | tail -n 1)" aes256-ctr,aes128-cbc
else
	skip "legacy stays behind" "no legacy ciphers in this build"
fi
echo nonsense >"$T/cache/wirespeed/speeds"
[ -n "$(offered -o CipherPreference=fastest)" ]
ok $? "a file that is nonsense does no harm"
is_line "it is measured again" 'measured in' "$T/log"
rm -rf "$T/cache" && : >"$T/cache"
[ -n "$(offered -o CipherPreference=fastest)" ]
ok $? "nor a folder that cannot be made"

# ---- and of servers

start_ours fast "CipherPreference fastest" "MACs hmac-sha2-512,umac-64@openssh.com" "LogLevel DEBUG" || { ok 1 "our sshd started"; finish; }
is_line "sshd measures when it starts" 'CipherPreference fastest: .*; umac-64@openssh.com,hmac-sha2-512' "$T/fast.log"
is "and serves" "$(ours $PORT peer 'echo served' 2>"$T/log" </dev/null)" served
is "once" "$(grep -c 'CipherPreference fastest' "$T/fast.log")" 1
"$OUR_SSHD" -T -f "$T/fast.conf" >"$T/out" 2>&1
is_line "sshd -T shows the keyword" '^[Cc]ipher[Pp]reference fastest' "$T/out"
is_line "and the list as it is configured" '^[Mm]acs hmac-sha2-512,umac-64@openssh.com' "$T/out"
finish
