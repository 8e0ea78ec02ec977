#!/bin/sh
# The engine against OpenSSH: every algorithm that both have, data both ways, re-keying by either side.
tool="$WS_BUILD/regress/helpers/engine_talk"
sshd=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v sshd) || sshd=
ssh=$(command -v ssh) || ssh=
n=0 failed=0

skip_all() { echo "1..0 # SKIP $1"; exit 0; }
[ -x "$tool" ] || skip_all "engine_talk is not built"
[ -n "$ssh" ] && [ -n "$sshd" ] || skip_all "no OpenSSH here"

T=$(mktemp -d) || exit 1
chmod 755 "$T"
daemon=
cleanup() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	rm -rf "$T"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

ok() {	# status, name
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else
		echo "not ok $n - $2"; failed=1
		sed 's/^/# /' "$T/log"
	fi
}

head -c 1500000 /dev/urandom >"$T/in"

# Our engine as server, the stock client: what it sends comes back.
serve() {	# name, "engine options", "ssh options"
	name=$1
	rm -f "$T/port"
	"$tool" server rekey=200000 $2 >"$T/port" 2>"$T/log" &
	server=$!
	i=0
	while [ ! -s "$T/port" ] && [ $i -lt 1000 ]; do i=$((i + 1)); sleep 0.01; done
	"$ssh" -F none -p "$(cat "$T/port")" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes \
		-o LogLevel=ERROR -o HostKeyAlgorithms=+ssh-rsa $3 nobody@127.0.0.1 cat <"$T/in" >"$T/out" 2>>"$T/log"
	status=$?
	wait $server || status=1
	cmp "$T/in" "$T/out" >>"$T/log" 2>&1 || status=1
	grep -q 'exchanges=[3-9]\|exchanges=[1-9][0-9]' "$T/log" || status=1
	ok $status "stock ssh to our engine: $name"
}

both_have() {	# kind for ssh -Q, name
	"$ssh" -Q "$1" | grep -qx -- "$2"
}

kexes="curve25519-sha256 curve25519-sha256@libssh.org ecdh-sha2-nistp256 ecdh-sha2-nistp384 ecdh-sha2-nistp521
	sntrup761x25519-sha512 sntrup761x25519-sha512@openssh.com
	diffie-hellman-group14-sha256 diffie-hellman-group16-sha512 diffie-hellman-group18-sha512"
keys="ssh-ed25519 ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521 rsa-sha2-512 rsa-sha2-256"
aeads="aes128-gcm@openssh.com aes256-gcm@openssh.com chacha20-poly1305@openssh.com"
ciphers="aes128-ctr aes192-ctr aes256-ctr aes256-cbc 3des-cbc"
macs="hmac-sha1 hmac-sha2-256 hmac-sha2-512 umac-64@openssh.com umac-128@openssh.com hmac-sha1-etm@openssh.com
	hmac-sha2-256-etm@openssh.com hmac-sha2-512-etm@openssh.com umac-64-etm@openssh.com umac-128-etm@openssh.com"

for k in $kexes; do both_have kex "$k" && serve "$k" "" "-oKexAlgorithms=$k"; done
for k in $keys; do serve "$k" "hostkey=$k" ""; done
for c in $aeads; do both_have cipher "$c" && serve "$c" "cipher=$c" "-oCiphers=$c"; done
for c in $ciphers; do
	both_have cipher "$c" && serve "$c hmac-sha2-256" "cipher=$c mac=hmac-sha2-256" "-oCiphers=$c -oMACs=hmac-sha2-256"
done
for m in $macs; do both_have mac "$m" && serve "aes128-ctr $m" "cipher=aes128-ctr mac=$m" "-oCiphers=aes128-ctr -oMACs=$m"; done
serve "zlib" "compress=zlib@openssh.com" "-oCompression=yes"
serve "re-keying by both" "" "-oRekeyLimit=100K"

# The stock server, our engine as client.
if [ "$(id -u)" = 0 ]; then user=root; else user=$(id -un); fi
ssh-keygen -q -t ed25519 -N '' -f "$T/user" && cp "$T/user.pub" "$T/authorized" && chmod 600 "$T/authorized"
for t in ed25519 ecdsa rsa; do ssh-keygen -q -t $t -N '' -f "$T/host_$t"; done
start_sshd() {	# extra lines of configuration
	port=$((20000 + $$ % 20000)) tries=0
	while [ $tries -lt 50 ]; do
		tries=$((tries + 1)) port=$((port + 7))
		{
			printf '%s\n' "Port $port" "ListenAddress 127.0.0.1" "PidFile $T/pid" "AuthorizedKeysFile $T/authorized" \
				"HostKey $T/host_ed25519" "HostKey $T/host_ecdsa" "HostKey $T/host_rsa" "StrictModes no" "UsePAM no" \
				"PermitRootLogin yes" "Ciphers +aes256-cbc,3des-cbc" "KexAlgorithms +diffie-hellman-group14-sha256" \
				"LogLevel DEBUG" "$@"
		} >"$T/config"
		: >"$T/sshd.log"
		"$sshd" -D -f "$T/config" -E "$T/sshd.log" &
		daemon=$!
		i=0
		while [ $i -lt 300 ]; do
			grep -q 'Server listening' "$T/sshd.log" && return 0
			kill -0 $daemon 2>/dev/null || break
			i=$((i + 1)); sleep 0.01
		done
		kill $daemon 2>/dev/null
		daemon=
	done
	return 1
}

talk() {	# name, options
	name=$1
	shift
	"$tool" client "$port" "key=$T/user" "user=$user" bytes=1500000 "$@" >"$T/log" 2>&1
	ok $? "our engine to stock sshd: $name"
}

mkdir -p /run/sshd 2>/dev/null
if start_sshd "RekeyLimit 300K"; then
	for k in $kexes; do both_have kex "$k" && talk "$k" "kex=$k"; done
	for k in ssh-ed25519 ecdsa-sha2-nistp256 rsa-sha2-512 rsa-sha2-256; do talk "$k" "hostkey=$k"; done
	for c in $aeads; do both_have cipher "$c" && talk "$c" "cipher=$c"; done
	for c in $ciphers; do both_have cipher "$c" && talk "$c hmac-sha2-256" "cipher=$c" "mac=hmac-sha2-256"; done
	for m in $macs; do both_have mac "$m" && talk "aes128-ctr $m" cipher=aes128-ctr "mac=$m"; done
	talk zlib "compress=zlib@openssh.com"
	talk "re-keying by both" rekey=100000
else
	sed 's/^/# /' "$T/sshd.log"
	ok 1 "stock sshd started"
fi
echo "1..$n"
exit $failed
