#!/bin/sh
# What is only there for old peers: each legacy cipher, MAC, key exchange method and ssh-rsa, between our own ends, with OpenSSH as
# far as it still has them, with PuTTY (arcfour, blowfish, triple DES, group exchange) and with dropbear. Little data: the hand-off from the
# pre-auth process happens in every login, and a new key exchange in every run.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool"
make_login || { ok 1 "keys made"; finish; }
"$OURS" -Q cipher | grep -q -x 3des-cbc || skip_all "configured with --disable-legacy-ciphers"

ciphers="3des-cbc aes128-cbc aes192-cbc aes256-cbc blowfish-cbc cast128-cbc arcfour arcfour128 arcfour256"
macs="hmac-md5 hmac-md5-96 hmac-sha1-96 hmac-md5-etm@openssh.com hmac-md5-96-etm@openssh.com hmac-sha1-96-etm@openssh.com"
kexes="diffie-hellman-group1-sha1 diffie-hellman-group14-sha1 diffie-hellman-group-exchange-sha1 diffie-hellman-group-exchange-sha256"
list() { echo "$*" | tr ' ' ','; }
has() { "$1" -Q "$2" | grep -q -x -e "$3"; }
random_file "$T/data" 131072
wanted=$(sum "$T/data")

# run TITLE CLIENT PORT OPTION...: there and back, with new keys after every 64 KiB.
run() {
	title=$1 client=$2 port=$3
	shift 3
	rm -f "$T/out"
	[ -z "$WS_TIMES" ] || diag "$(date +%s.%N)"
	limit 60 "$client" -F "$T/client.conf" -p "$port" -v -E "$T/row.log" -o "RekeyLimit 64K" "$@" peer cat <"$T/data" >"$T/out" 2>>"$T/row.log"
	[ $? = 0 ] && [ "$(sum "$T/out")" = "$wanted" ]
	ok $? "$title" "$T/row.log"
}
plain="-o KexAlgorithms=ecdh-sha2-nistp256 -o MACs=hmac-sha2-256"

everything="Ciphers $(list $ciphers),aes128-ctr
MACs $(list $macs),hmac-sha2-256
KexAlgorithms $(list $kexes),ecdh-sha2-nistp256
HostKeyAlgorithms ssh-rsa,ssh-ed25519
PubkeyAcceptedAlgorithms +ssh-rsa"
cat "$T/host_rsa.pub" | awk '{ print "* " $1 " " $2 }' >>"$T/known_hosts"
make_key "$T/id_rsa" rsa -b 2048 && cat "$T/id_rsa.pub" >>"$T/authorized_keys"
[ ! -d "$LOGIN_HOME/.ssh" ] || cp "$T/authorized_keys" "$LOGIN_HOME/.ssh/authorized_keys"

# ---- our own ends

login_server ours "$everything" && ours=$PORT || { ok 1 "our sshd started"; finish; }
for c in $ciphers; do
	if has "$OURS" cipher $c; then run "ours, ours: $c" "$OURS" $ours $plain -o Ciphers=$c
	else skip "$c" "libcrypto does not have it"; fi
	case $c in
	arcfour)
		is_line "the client warns of arcfour" '^warning: cipher arcfour with 127.0.0.1: RC4' "$T/row.log"
		is_line "the server warns of arcfour" 'warning: cipher arcfour with 127.0.0.1: RC4' "$T/ours.log" ;;
	aes128-cbc) run "ours, ours: $c, encrypt-then-mac" "$OURS" $ours -o KexAlgorithms=ecdh-sha2-nistp256 -o MACs=hmac-md5-etm@openssh.com -o Ciphers=$c ;;
	esac
done
for m in $macs; do run "ours, ours: $m" "$OURS" $ours -o KexAlgorithms=ecdh-sha2-nistp256 -o MACs=$m -o Ciphers=aes128-ctr; done
for k in $kexes; do run "ours, ours: $k" "$OURS" $ours -o KexAlgorithms=$k -o MACs=hmac-md5 -o Ciphers=aes128-ctr; done
is_line "without a file the groups are fixed" "WARNING: could not open .*moduli (No such file or directory), using fixed modulus" "$T/ours.log"
run "ours, ours: host key and login with ssh-rsa" "$OURS" $ours $plain -o Ciphers=aes128-ctr -o HostKeyAlgorithms=ssh-rsa \
	-o IdentityFile=none -o IdentityFile="$T/id_rsa" -o PubkeyAcceptedAlgorithms=ssh-rsa
is_line "the client warns of ssh-rsa" '^warning: host key signature ssh-rsa with' "$T/row.log"
is_line "ssh-rsa is warned about by the server" 'warning: public key signature ssh-rsa ' "$T/ours.log"
run "ours, ours: -o Cipher=arcfour" "$OURS" $ours $plain -o Cipher=arcfour
is_line "which is noted" 'Cipher is a keyword of protocol 1: taken as -o Ciphers=arcfour' "$T/row.log"
# Not by patterns, and not by default.
"$OURS" -G -F none -o 'HostKeyAlgorithms=+ssh-*' -o 'PubkeyAcceptedAlgorithms=ssh-*' x 2>"$T/log" | grep -E '^(ciphers|macs|kexalg|hostkeyalg|pubkeyacc)' >"$T/out"
! tr ', ' '\n\n' <"$T/out" | grep -x -E "$(list $ciphers $macs | tr , '|')|diffie.*-sha1|ssh-rsa" >"$T/found"
ok $? "no default and no pattern has any" "$T/found"

# A provider that is not there.
mkdir "$T/empty"
OPENSSL_MODULES=$T/empty limit 20 "$OURS" -G -F none -o Ciphers=aes128-ctr,arcfour x 2>"$T/log" | grep '^ciphers' >"$T/out"
is "arcfour without its provider" "$(cat "$T/out")" "ciphers aes128-ctr"
is_line "which is said" "cipher arcfour is not offered: libcrypto's legacy provider cannot be loaded" "$T/log"
OPENSSL_MODULES=$T/empty "$OURS" -Q cipher >"$T/out"
is "what there is without it" "$(grep -c -E 'arcfour|blowfish|cast' "$T/out") $(grep -c -x 3des-cbc "$T/out")" "0 1"
OPENSSL_MODULES=$T/empty login_server lacking "Ciphers arcfour,blowfish-cbc,aes128-ctr" || ok 1 "a server without it starts"
is_line "the server says it too" "cipher blowfish-cbc is not offered: libcrypto's legacy provider" "$T/lacking.out"
limit 20 "$OURS" -F "$T/client.conf" -p $PORT -o Ciphers=arcfour,aes128-ctr -v peer true >"$T/log" 2>&1 </dev/null
is "and takes the rest of its list" "$? $(grep -c 'cipher: aes128-ctr' "$T/log")" "0 2"

# ---- OpenSSH

if [ -n "$STOCK_SSHD" ] && start_stock stock "$(echo "$everything" | sed "s/,cast128-cbc//; s/,blowfish-cbc//; s/,arcfour[0-9]*//g")"; then
	sed "s/^User .*/User $ME/" "$T/client.conf" >"$T/me.conf"
	for c in 3des-cbc aes128-cbc aes256-cbc; do run "stock sshd: $c" "$OURS" $PORT -F "$T/me.conf" $plain -o Ciphers=$c; done
	for m in hmac-md5 hmac-sha1-96 hmac-md5-96-etm@openssh.com; do
		run "stock sshd: $m" "$OURS" $PORT -F "$T/me.conf" -o KexAlgorithms=ecdh-sha2-nistp256 -o MACs=$m -o Ciphers=aes128-cbc
	done
	for k in $kexes; do run "stock sshd: $k" "$OURS" $PORT -F "$T/me.conf" -o KexAlgorithms=$k -o MACs=hmac-md5 -o Ciphers=aes128-ctr; done
	run "stock sshd: ssh-rsa" "$OURS" $PORT -F "$T/me.conf" $plain -o Ciphers=aes128-ctr -o HostKeyAlgorithms=ssh-rsa \
		-o IdentityFile="$T/id_rsa" -o PubkeyAcceptedAlgorithms=ssh-rsa
fi

# With a file of groups: the system's, if it has one.
moduli=$(find_program /nowhere; for f in /etc/ssh/moduli /usr/share/doc/openssh-server/moduli; do [ ! -f $f ] || { echo $f; break; }; done)
login_server groups "$everything" "ModuliFile ${moduli:-/nowhere}" && groups=$PORT || { ok 1 "our sshd started"; finish; }
if [ -n "$STOCK_SSH" ]; then
	for c in 3des-cbc aes128-cbc aes256-cbc; do run "stock ssh: $c" "$STOCK_SSH" $groups $plain -o Ciphers=$c; done
	for k in $kexes; do
		has "$STOCK_SSH" kex $k || continue
		run "stock ssh: $k" "$STOCK_SSH" $groups -o KexAlgorithms=$k -o MACs=hmac-md5 -o Ciphers=aes128-ctr
	done
	run "stock ssh: ssh-rsa" "$STOCK_SSH" $groups $plain -o Ciphers=aes128-ctr -o HostKeyAlgorithms=ssh-rsa \
		-o IdentityFile="$T/id_rsa" -o PubkeyAcceptedAlgorithms=ssh-rsa
fi
if [ -n "$moduli" ]; then
	run "ours, ours: groups out of a file" "$OURS" $groups -o KexAlgorithms=diffie-hellman-group-exchange-sha256 -o MACs=hmac-md5 -o Ciphers=aes128-ctr
	no_line "whose primes were not missed" 'using fixed modulus\|no suitable primes' "$T/groups.log"
else
	skip "groups out of a file" "the system has none"
fi

# ---- dropbear

if have dropbear dropbearkey && [ -n "$PASSWORD" ]; then
	start_dropbear rsa; ok $? "dropbear starts" "$T/db.log"
	db=$PORT
	run "dropbear: ssh-rsa" "$OURS" $db -o Ciphers=aes128-ctr -o HostKeyAlgorithms=ssh-rsa -o IdentityFile="$T/id_rsa" -o PubkeyAcceptedAlgorithms=+ssh-rsa
	for o in KexAlgorithms=diffie-hellman-group14-sha1 KexAlgorithms=diffie-hellman-group1-sha1 MACs=hmac-sha1-96 MACs=hmac-md5 \
		Ciphers=3des-cbc Ciphers=aes128-cbc Ciphers=blowfish-cbc; do
		limit 20 "$OURS" -F "$T/client.conf" -p $db -o HostKeyAlgorithms=rsa-sha2-256 -o $o -o Ciphers=aes128-ctr peer true >"$T/log" 2>&1 </dev/null
		if grep -q 'no matching' "$T/log"; then skip "dropbear: ${o#*=}" "it has none"; continue; fi
		run "dropbear: ${o#*=}" "$OURS" $db -o HostKeyAlgorithms=rsa-sha2-256 -o $o -o Ciphers=aes128-ctr
	done
fi

# A server that has nothing else.
login_server putty "$(echo "$everything" | sed 's/,aes128-ctr//; s/,ecdh-sha2-nistp256//')" \
	"ModuliFile ${moduli:-/nowhere}" && groups=$PORT
for o in KexAlgorithms=diffie-hellman-group14-sha1 MACs=hmac-md5; do
	limit 20 "$OURS" -F "$T/client.conf" -p $groups -o $o peer true >"$T/log" 2>&1 </dev/null
	is "naming only one of what is needed: $o" "$? $(grep -c 'no matching' "$T/log")" "255 1"
done

# ---- PuTTY

if have plink puttygen; then
	HOME=$T
	export HOME
	mkdir -p "$T/.putty/sessions"
	puttygen "$T/id" -o "$T/id.ppk" >"$T/log" 2>&1
	print_of() { "${STOCK_KEYGEN:-$OUR_KEYGEN}" -lf "$1" | awk '{ print $2 }'; }
	# putty NAME PATTERN LINE...
	putty() {
		name=$1 pattern=$2
		shift 2
		printf '%s\n' Protocol=ssh "UserName=$LOGIN" "$@" >"$T/.putty/sessions/$name"
		limit 60 plink -batch -no-antispoof -P $groups -i "$T/id.ppk" -hostkey "$(print_of "$T/host_ed25519.pub")" \
			-hostkey "$(print_of "$T/host_rsa.pub")" -load "$name" -v 127.0.0.1 "cat $T/data" >"$T/out" 2>"$T/log" </dev/null
		[ $? = 0 ] && [ "$(sum "$T/out")" = "$wanted" ] && grep -q -i -e "$pattern" "$T/log"
		ok $? "plink: $name" "$T/log"
	}
	chmod 644 "$T/data"
	old="KEX=dh-group14-sha1,WARN"
	putty arcfour 'arcfour' "Cipher=arcfour,WARN" "$old" RekeyBytes=64K
	putty blowfish 'blowfish' "Cipher=blowfish,WARN" "$old" RekeyBytes=64K
	putty 3des 'triple-des' "Cipher=3des,WARN" "$old" RekeyBytes=64K
	putty group14-sha1 'SHA-1' "Cipher=aes,WARN" "KEX=dh-group14-sha1,WARN"
	putty group1 'SHA-1' "Cipher=aes,WARN" "KEX=dh-group1-sha1,WARN"
	putty group-exchange 'group exchange' "Cipher=aes,WARN" "KEX=dh-gex-sha1,WARN"
	putty rsa-sha1 'ssh-rsa\|RSA' "Cipher=aes,WARN" "$old" "HostKey=rsa,WARN"
fi
finish
