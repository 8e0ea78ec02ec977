#!/bin/sh
# Makes the seeds of the harnesses for crypto/ and compress.c; PEM keys from regress/unit/keys/data.
set -e
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../../unit/keys/data
for d in pem inflate; do rm -rf "$here/$d"; mkdir "$here/$d"; done
inside() { sed '/^-----/d' "$data/$1" | base64 -d; }
{ printf '\1'; inside ed25519_pkcs8; } >"$here/pem/der_ed25519"
{ printf '\1'; inside ecdsa256_pkcs8; } >"$here/pem/der_ecdsa256"
{ printf '\2'; inside rsa_pem; } >"$here/pem/der_rsa"
{ printf '\3'; inside ecdsa384_pem; } >"$here/pem/der_ecdsa384"
{ printf '\4'; inside rsa_pkcs8_enc; } >"$here/pem/der_encrypted"
{ printf '\0'; cat "$data/rsa_pem_enc"; } >"$here/pem/text_encrypted"
{ printf '\0'; cat "$data/ecdsa384_pem"; } >"$here/pem/text_ecdsa384"
# Packets of one stream, by hand: fixed Huffman codes, an empty one, a match, stored blocks.
{ printf '\0\0\016\170\234\312\110\315\311\311\127\310\100\047\271\0\2'; printf '\0\1\010'
	printf '\0\011\040\010\073\061\075\061\063\017\040'; } >"$here/inflate/hello"
{ printf '\0\0\014\170\001\0\5\0\372\377hello'; } >"$here/inflate/stored"
# Of our own methods, marked: raw, packed without a header, raw again; a mark that is none.
{ printf '\300\0\006\0hello\0\015\1\110\315\311\311\127\310\100\047\271\0\2\0\0\2\0x'; } >"$here/inflate/marked"
{ printf '\301\0\002\2x'; } >"$here/inflate/no_mark"
perl -MCompress::Zlib -e 'sub pack_up { my ($limit, $level, @text) = @_; my $d = deflateInit(-Level => $level);
	binmode STDOUT; print chr $limit;
	for (@text) { my $z = $d->deflate($_) . $d->flush(Z_PARTIAL_FLUSH); print pack "n/a", $z } }
	open STDOUT, ">", "$ARGV[0]/bomb"; pack_up(101, 9, "\0" x 100, "\0" x 100000);
	open STDOUT, ">", "$ARGV[0]/dynamic"; pack_up(0, 9, join("\n", map { $_ * $_ } 1 .. 300), join(" ", 1 .. 500));
	' "$here/inflate"
