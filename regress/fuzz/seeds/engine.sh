#!/bin/sh
# Makes the seeds of the harnesses for packets, proposals, transports and hand-off.
set -e
here=$(cd "$(dirname "$0")" && pwd)
for d in packet_in proposal transport handoff; do rm -rf "$here/$d"; mkdir "$here/$d"; done
string() { printf "$(printf '\\%03o\\%03o\\%03o\\%03o' 0 0 $((${#1} / 256)) $((${#1} % 256)))%s" "$1"; }
kexinit() {	# kex, host key, cipher, mac, compression, guess
	printf 0123456789abcdef
	string "$1"; string "$2"; string "$3"; string "$3"; string "$4"; string "$4"; string "$5"; string "$5"; string ''; string ''
	printf "$6\\0\\0\\0\\0"
}
aead=chacha20-poly1305@openssh.com,aes128-gcm@openssh.com
kexinit curve25519-sha256,ext-info-c,kex-strict-c-v00@openssh.com ssh-ed25519 $aead hmac-sha2-256 none '\0' >"$here/proposal/client"
kexinit ecdh-sha2-nistp256,curve25519-sha256,kexguess2@matt.ucc.asn.au rsa-sha2-512,ssh-ed25519 aes128-ctr,none \
	umac-64@openssh.com,none none,zlib@openssh.com '\1' >"$here/proposal/guess"
kexinit a b none none none '\0' >"$here/proposal/none"
printf 'hello\r\nSSH-2.0-OpenSSH_9.2p1 Debian\r\n' >"$here/proposal/ident"
printf 'SSH-1.99-x\n' >"$here/proposal/ident_old"

for i in 0 1 2 3 4 5 6 7 8 9 10 11 12; do
	printf "$(printf '\\%03o' "$i")\\0\\0\\5hello\\030more of it, to fill a few blocks\\0\\1x" >"$here/packet_in/sealed_$i"
done
printf '\043\0\0\050aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\5bbbbb' >"$here/packet_in/sealed_zlib"
printf '\120\0\0\0\014\004\136abcdef\0\0\0\0\0\0\0\014\012\002\0\0\0\0\0\0\0\0\0\0' >"$here/packet_in/plain"
printf '\026\1\2\3\4\5\6\7\10aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' >"$here/packet_in/garbage"

# Before a handshake: a whole KEXINIT packet, as server and as client.
plain_packet() {	# type in octal, file with the body
	n=$(($(wc -c <"$2") + 2)) pad=4
	while [ $(((n + 4 + pad) % 8)) != 0 ]; do pad=$((pad + 1)); done
	printf "$(printf '\\0\\0\\%03o\\%03o\\%03o' $(((n + pad) / 256)) $(((n + pad) % 256)) $pad)\\$1"
	cat "$2"
	head -c $pad /dev/zero
}
for t in client guess none; do
	{ printf '\002\001'; plain_packet 024 "$here/proposal/$t"; plain_packet 036 "$here/proposal/ident"; } >"$here/transport/server_$t"
	{ printf '\000\001'; plain_packet 024 "$here/proposal/$t"; plain_packet 037 "$here/proposal/ident"; } >"$here/transport/client_$t"
done
printf '\002\000SSH-2.0-x\r\nrest' >"$here/transport/server_ident"
printf '\000\000hello\nSSH-1.5-x\n' >"$here/transport/client_ident"
# After one: messages by type; KEXINIT, EXT_INFO, PING, DEBUG, DISCONNECT, data, garbage.
message() { printf "\\$1$(printf '\\%03o\\%03o' $(($(wc -c <"$2") / 256)) $(($(wc -c <"$2") % 256)))"; cat "$2"; }
b=$(mktemp)
trap 'rm -f "$b"' EXIT
for how in '\001' '\003' '\047' '\065' '\013' '\111' '\123'; do
	f=$here/transport/after_$(printf %s "$how" | tr -d '\\')
	printf "$how" >"$f"
	{ printf '\0\0\0\1'; string ping@openssh.com; string 0; } >"$b"; message 007 "$b" >>"$f"
	string x >"$b"; message 300 "$b" >>"$f"
	{ printf '\1'; string text; string ''; } >"$b"; message 004 "$b" >>"$f"
	{ printf '\0\0\0\0'; string 'some data'; } >"$b"; message 136 "$b" >>"$f"
	message 024 "$here/proposal/client" >>"$f"
	string 01234567890123456789012345678901 >"$b"; message 036 "$b" >>"$f"
	printf '\025\0\0' >>"$f"
	{ printf '\0\0\0\13'; string bye; string ''; } >"$b"; message 001 "$b" >>"$f"
	printf '\0\0\0garbage garbage garbage' >>"$f"
done
printf '\001\000\100\000\000\200\377' >"$here/handoff/edit_gcm"
printf '\003\001\000\003\001\100\7' >"$here/handoff/edit_ctr"
printf '\005\002\000\001' >"$here/handoff/edit_cbc"
{ printf '\000\001'; string SSH-2.0-Wirespeed_x; string SSH-2.0-OpenSSH_9.2; string 01234567890123456789012345678901
	string blob; printf '\1\1\1\1\0\0\0\1'; } >"$here/handoff/raw"
