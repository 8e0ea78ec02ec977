#!/bin/sh
# Makes the files beside it again, with the stock ssh-keygen and openssl: what our code must read, and what must come out.
# The keys are for tests only.
set -e
cd "$(dirname "$0")"
find . -maxdepth 1 -type f ! -name make.sh -delete
gen() { ssh-keygen -q -t "$1" -b "$2" -f "$3" -N "$4" -C "test $3" $5; }
gen ed25519 256 ed25519 ''
gen ecdsa 256 ecdsa256 ''
gen ecdsa 384 ecdsa384 ''
gen ecdsa 521 ecdsa521 ''
gen rsa 2048 rsa ''
for c in aes128-ctr aes192-ctr aes256-ctr aes128-cbc aes192-cbc aes256-cbc aes128-gcm@openssh.com \
	aes256-gcm@openssh.com chacha20-poly1305@openssh.com 3des-cbc; do
	cp ed25519 "enc_${c%@*}" && ssh-keygen -q -p -f "enc_${c%@*}" -N 'open sesame' -Z $c -a 2 >/dev/null
done
cp rsa rsa_pem && ssh-keygen -q -p -m PEM -f rsa_pem -N '' >/dev/null
cp rsa rsa_pem_enc && ssh-keygen -q -p -m PEM -f rsa_pem_enc -N 'open sesame' >/dev/null
cp ecdsa384 ecdsa384_pem && ssh-keygen -q -p -m PEM -f ecdsa384_pem -N '' >/dev/null
cp ecdsa256 ecdsa256_pkcs8 && ssh-keygen -q -p -m PKCS8 -f ecdsa256_pkcs8 -N '' >/dev/null
cp rsa rsa_pkcs8_enc && ssh-keygen -q -p -m PKCS8 -f rsa_pkcs8_enc -N 'open sesame' >/dev/null
openssl genpkey -quiet -algorithm ed25519 -out ed25519_pkcs8 2>/dev/null || openssl genpkey -algorithm ed25519 -out ed25519_pkcs8
openssl ecparam -name secp256k1 -genkey -noout -out other_pkcs8
ssh-keygen -q -s ed25519 -I id -n user ecdsa256.pub
# A FIDO key, made by hand: type, point, application.
perl -MMIME::Base64 -e 'my $t = "sk-ssh-ed25519\@openssh.com"; my $b = join "", map { pack "N/a", $_ } $t, "k" x 32, "ssh:";
	print "$t ", encode_base64($b, ""), " test sk\n"' >sk.pub
for k in ed25519 ecdsa256 ecdsa384 ecdsa521 rsa; do
	for h in sha256 md5 sha1 sha512; do ssh-keygen -l -E $h -f $k.pub; done >$k.fp
	ssh-keygen -lv -f $k.pub >$k.art
	ssh-keygen -B -f $k.pub >$k.bubble
done
