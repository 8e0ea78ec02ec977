# algorithms.sh: one client against one server over every algorithm that both have; sourced after ssh.sh.
#
# algorithms TITLE CLIENT SERVER_QUERY START: CLIENT is an ssh program of ours or OpenSSH's, SERVER_QUERY the ssh program whose -Q
# tells what the server has, START start_ours or start_stock. In a run, data goes to the server, is kept there and comes back; what
# arrived is compared at both ends. In some runs the client starts a new key exchange after each tenth, in some the server.
# Quick: rows that hold every pair, 8 MiB. Full: every kex with every host key, every cipher with every MAC and compression, 16 MiB:
# there are as many exchanges with more, but hours of them. WS_ROWS="FROM TO" runs only these rows.

ALGORITHMS_MIB=${FULL:+16}
ALGORITHMS_MIB=${ALGORITHMS_MIB:-8}

is_aead() { case $1 in *-gcm@*|chacha20-*) return 0 ;; esac; return 1; }

# What nobody should use any more gets a row of its own, not all pairs.
is_old() { case $1 in *-cbc|*-md5*|*-sha1-96*|*-96-etm*|arcfour*|blowfish*|cast128*|*-group1-sha1|*-exchange-sha1|*-group14-sha1) return 0 ;; esac; return 1; }

# names_of KIND [old]: what both have, without the old or only those.
names_of() {
	for name in $(common_names "$1" "$2" "$3"); do
		case $name in *-cert-v01@*|sk-*|webauthn-*) continue ;; esac
		if is_old "$name"; then [ "$4" != old ]; else [ "$4" = old ]; fi || echo "$name"
	done
}

host_key_names() { for name in $(names_of key-sig "$1" "$2"); do case $name in ssh-dss|*mldsa*) ;; *) echo "$name" ;; esac; done; }

# factors FILE CIPHERS MACS: cipher and MAC are factors of which some pairs do not exist.
mac_factors() {
	echo "cipher" $1
	echo "mac" implicit $2
	for c in $1; do
		if is_aead "$c"; then
			for m in $2; do echo "!cipher=$c mac=$m"; done
		else
			echo "!cipher=$c mac=implicit"
		fi
	done
}

# run_row KEX KEY CIPHER MAC COMPRESSION REKEY
run_row() {
	rekey_option="RekeyLimit default" wanted_exchanges=5 every_kib=$((ALGORITHMS_MIB * 100)) row_port=$port_often
	# These take long; so does the data that is on its way meanwhile.
	case $1 in *-group1[4678]-*|*-group-exchange-*) row_port=$port_rarely every_kib=$((ALGORITHMS_MIB * 250)) wanted_exchanges=3 ;; esac
	case $6 in
	client) row_port=$port_never rekey_option="RekeyLimit ${every_kib}K" ;;
	none) row_port=$port_never wanted_exchanges=1 ;;
	esac
	rm -f "$T/there" "$T/back" "$T/row.log"
	macs=$4
	[ "$macs" != implicit ] || macs=hmac-sha2-256
	begin=$(date +%s%N)
	limit 120 "$client" -F "$T/client.conf" -p "$row_port" -v -E "$T/row.log" -o "KexAlgorithms $1" -o "HostKeyAlgorithms $2" \
		-o "Ciphers $3" -o "MACs $macs" -o "Compression $5" -o "$rekey_option" peer "tee $T/there" \
		<"$T/data" >"$T/back" 2>>"$T/row.log"
	status=$?
	[ -z "$WS_TIMES" ] || diag "$((($(date +%s%N) - begin) / 1000000)) ms"
	[ $status = 0 ] || echo "exit status $status" >>"$T/row.log"
	cmp "$T/data" "$T/there" >>"$T/row.log" 2>&1 || status=1
	cmp "$T/data" "$T/back" >>"$T/row.log" 2>&1 || status=1
	[ "$5" = yes ] && compression=${ALGORITHMS_ZLIB:-zlib@openssh.com} || compression=none
	[ "$4" = implicit ] && mac='<implicit>' || mac=$4
	for wanted in "kex: algorithm: $1" "kex: host key algorithm: $2" \
		"kex: server->client cipher: $3 MAC: $mac compression: $compression" \
		"kex: client->server cipher: $3 MAC: $mac compression: $compression"; do
		grep -qF -e "$wanted" "$T/row.log" || { status=1; echo "missing: $wanted" >>"$T/row.log"; }
	done
	exchanges=$(grep -c 'kex: algorithm: ' "$T/row.log")
	[ "$exchanges" -ge $wanted_exchanges ] || { status=1; echo "$exchanges exchanges, not $wanted_exchanges" >>"$T/row.log"; }
	ok $status "$title: $1 $2 $3 $4 compression=$5 rekey=$6" "$T/row.log"
}

# data FILE BYTES: mostly random, some text that deflates.
mixed_data() {
	random_file "$1" $(($2 * 3 / 4))
	seq 1 100000000 | head -c $(($2 - $2 * 3 / 4)) >>"$1"
}

algorithms() {
	title=$1 client=$2 query=$3 start=$4
	everything="Ciphers $("$query" -Q cipher | grep -v '^none$' | paste -sd, -)
MACs $("$query" -Q mac | grep -v '^none$' | paste -sd, -)
KexAlgorithms $("$query" -Q kex | paste -sd, -)
HostKeyAlgorithms +ssh-rsa
Compression yes"
	$start never "$everything" && port_never=$PORT &&
		$start often "$everything" "RekeyLimit $((ALGORITHMS_MIB * 100))K" && port_often=$PORT &&
		$start rarely "$everything" "RekeyLimit $((ALGORITHMS_MIB * 250))K" && port_rarely=$PORT && make_client ||
		{ ok 1 "$title: servers started"; return; }
	mixed_data "$T/data" $((ALGORITHMS_MIB * 1024 * 1024))

	kexes=$(names_of kex "$client" "$query") keys=$(host_key_names "$client" "$query")
	ciphers=$(names_of cipher "$client" "$query") macs=$(names_of mac "$client" "$query")
	old_ciphers=$(names_of cipher "$client" "$query" old) old_macs=$(names_of mac "$client" "$query" old)
	old_kexes=$(names_of kex "$client" "$query" old)
	any_kex=$(echo "$kexes" | head -n 1) any_key=$(echo "$keys" | head -n 1)

	if [ -n "$FULL" ]; then
		{ echo "kex" $kexes $old_kexes; echo "key" $keys; echo "cipher" aes128-ctr; echo "mac" hmac-sha2-256; echo "=zip" no
			echo "rekey" none client server; } >"$T/factors"
		every "$T/factors" >"$T/rows"
		{ echo "kex" "$any_kex"; echo "key" "$any_key"; mac_factors "$ciphers $old_ciphers" "$macs $old_macs"
			echo "=zip" no yes; echo "rekey" none client server; } >"$T/factors"
		every "$T/factors" >>"$T/rows"
	else
		{ echo "kex" $kexes; echo "key" $keys; mac_factors "$ciphers" "$macs"; echo "=zip" no yes
			echo "rekey" none client server; } >"$T/factors"
		pairwise "$T/factors" >"$T/rows"
		for c in $old_ciphers; do echo "$any_kex $any_key $c hmac-sha2-256 no client"; done >>"$T/rows"
		for m in $old_macs; do echo "$any_kex $any_key aes128-ctr $m no server"; done >>"$T/rows"
		for k in $old_kexes; do echo "$k $any_key aes128-ctr hmac-sha2-256 no none"; done >>"$T/rows"
	fi
	[ -s "$T/rows" ] || ok 1 "$title: algorithms in common"
	[ -z "$WS_ROWS" ] || { sed -n "${WS_ROWS% *},${WS_ROWS#* }p" "$T/rows" >"$T/rows.some" && mv "$T/rows.some" "$T/rows"; }
	while read -r kex key cipher mac zip rekey; do run_row "$kex" "$key" "$cipher" "$mac" "$zip" "$rekey"; done <"$T/rows"
}
