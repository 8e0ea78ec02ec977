#!/bin/sh
# Makes the seeds of the harnesses for keys/ from regress/unit/keys/data.
set -e
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../../unit/keys/data
for d in key_blob private_key authorized_keys known_hosts agent_msg; do rm -rf "$here/$d"; mkdir "$here/$d"; done
blob() { cut -d' ' -f2 "$data/$1.pub" | base64 -d; }
inside() { sed '/^-----/d' "$data/$1" | base64 -d; }
# string: stdin with its length in front
string() { perl -e 'local $/; my $s = <STDIN>; print pack "N/a", $s'; }
# A private key without encryption: its fields stand behind the two check numbers.
private() { inside "$1" | perl -e 'local $/; my $b = <STDIN>; my $at = 15; my @s;
	for (1 .. 3) { push @s, unpack "x$at N/a", $b; $at += 4 + length $s[-1] } $at += 4;
	$at += 4 + length unpack "x$at N/a", $b; print substr((unpack "x$at N/a", $b), 8)'; }
for k in ed25519 ecdsa256 ecdsa521 rsa; do
	{ printf '\0'; blob $k; } >"$here/key_blob/public_$k"
	{ printf '\1'; private $k; } >"$here/key_blob/private_$k"
	{ printf '\2'; blob $k | string; printf 'ssh-ed25519' | string | cat - "$data/ed25519.pub" | string; printf message; } >"$here/key_blob/sig_$k"
	{ printf '\1'; inside $k; } >"$here/private_key/inside_$k"
	{ printf '\21'; private $k; printf '\1\0\0\0\74\2'; } >"$here/agent_msg/add_$k"
done
{ printf '\0'; blob sk; } >"$here/key_blob/public_sk"
{ printf '\0'; blob ecdsa256-cert; } >"$here/key_blob/public_cert"
for k in ed25519 rsa_pem rsa_pem_enc ecdsa384_pem ecdsa256_pkcs8 rsa_pkcs8_enc ed25519_pkcs8 enc_aes256-ctr; do
	{ printf '\0'; cat "$data/$k"; } >"$here/private_key/text_$k"
done
{ printf '\0---- BEGIN SSH2 PUBLIC KEY ----\r\nComment: "a\\\nb"\n'; cut -d' ' -f2 "$data/ed25519.pub"
	echo '---- END SSH2 PUBLIC KEY ----'; } >"$here/private_key/text_rfc4716"
{ printf '\1'; inside enc_aes256-gcm; } >"$here/private_key/inside_enc"
{ printf '\0# keys\n\n'; cat "$data/ed25519.pub" "$data/sk.pub"
	printf 'restrict,pty,command="a \\"b\\" c",environment="A=b" '; cat "$data/ecdsa256.pub"; } >"$here/authorized_keys/plain"
{ printf '\0from="*.a,!b,10.0.0.0/8,::1",expiry-time="20300101Z",permitopen="h:1",permitopen="[::1]:*",permitlisten="2" '
	cat "$data/ed25519.pub"
	printf 'cert-authority,principals="u,v",tunnel="any",no-touch-required,verify-required,no-agent-forwarding '
	cat "$data/ecdsa256.pub"; } >"$here/authorized_keys/options"
printf '\1\1\1\1\1\1\0\0\0\1\0\0\0\1a\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\3A=b\0\0\0\1\0\0\0\3h:1\0\0\0\0\0\0\0\0\0\0\0\0\377\377\377\377' \
	>"$here/authorized_keys/handed"
{ printf '# hosts\n\nhost.a,10.0.0.1 '; cat "$data/ed25519.pub"; printf '[h]:2222,*.x,!y '; cat "$data/rsa.pub"
	printf '|1|ODziHjjF9aZUS0bf+zbfQhD2bGg=|M57v2ugUTaDn/I8Dvz1Rv379ITI= '; cat "$data/rsa.pub"
	printf '@revoked host.* '; cat "$data/sk.pub"; printf '@cert-authority *.a '; cat "$data/ed25519.pub"
	printf 'host.a '; cat "$data/sk.pub"; } >"$here/known_hosts/all"
{ printf '\14\0\0\0\2'; blob ed25519 | string; printf 'comment' | string; blob sk | string; printf '' | string; } >"$here/agent_msg/list"
{ printf '\16'; { printf 'ssh-ed25519' | string; head -c 64 "$data/rsa" | string; } | string; } >"$here/agent_msg/signature"
{ printf '\15'; blob rsa | string; printf 'data' | string; printf '\0\0\0\4'; } >"$here/agent_msg/sign"
{ printf '\33'; printf 'session-bind@openssh.com' | string; blob ed25519 | string; printf 'sid' | string; printf 'sig' | string
	printf '\1'; } >"$here/agent_msg/bind"
