#!/bin/sh
# Peers that behave as HPN-SSH does on the wire (double re-key to none, pseudo-algorithms repeated, none listed from the
# start, packets of 32,896 bytes at most), made of our engine: our ssh to such a server, such a client to our sshd.
tool="$WS_BUILD/regress/helpers/engine_talk"
ssh="$WS_BUILD/ssh"
sshd="$WS_BUILD/sshd"
n=0 failed=0
[ -x "$tool" ] || { echo "1..0 # SKIP engine_talk is not built"; exit 0; }

T=$(mktemp -d) || exit 1
chmod 755 "$T"
XDG_CACHE_HOME=$T/cache
export XDG_CACHE_HOME
daemon=
cleanup() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	rm -rf "$T"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

ok() {	# status, name
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; return; fi
	echo "not ok $n - $2"
	failed=1
	sed 's/^/# /' "$T/log" "$T/err" 2>/dev/null
}
head -c 3000000 /dev/urandom >"$T/in"

# to_server NAME "engine options" "ssh options" "what the engine must say at the end" "what ssh must say"
to_server() {
	rm -f "$T/port"
	mkfifo "$T/port"
	# shellcheck disable=SC2086
	"$tool" server software=OpenSSH_10.2p1_hpn18.8.0 $2 >"$T/port" 2>"$T/log" &
	server=$!
	read -r port <"$T/port"
	# shellcheck disable=SC2086
	"$ssh" -F none -p "$port" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes $3 \
		nobody@127.0.0.1 cat <"$T/in" >"$T/out" 2>"$T/err"
	status=$?
	wait $server || status=1
	cmp "$T/in" "$T/out" >>"$T/log" 2>&1 || status=1
	grep -q "$4" "$T/log" || status=1
	grep -q "$5" "$T/err" || status=1
	ok $status "our ssh to an HPN server: $1"
}

to_server "none, MAC kept, re-keyed often" none=cipher "-o NoneSwitch=yes -o RekeyLimit=200K" \
	" none umac-64-etm@openssh.com none exchanges=[1-9][0-9]" "ENABLED NONE CIPHER"
to_server "none and none MAC, re-keyed by the server" "none=mac rekey=300000" "-o NoneSwitch=yes -o NoneMacEnabled=yes" \
	" none none none exchanges=[1-9]" "ENABLED NONE MAC"
to_server "none MAC not asked for" none=mac "-o NoneSwitch=yes" " none umac-64-etm@openssh.com " "ENABLED NONE CIPHER"
to_server "none not asked for" none=mac "-o NoneMacEnabled=yes -o NoneEnabled=yes" " chacha20-poly1305@openssh.com " ""
to_server "none asked for, not offered, fallback" "" "-o NoneSwitch=yes -o NoneSwitchFallback=yes" \
	" chacha20-poly1305@openssh.com .* exchanges=[2-9]" "NONE cipher switch not possible"

# from_client NAME "engine options" "what the engine must say" [expected to fail]
from_client() {
	# shellcheck disable=SC2086
	"$tool" client "$port" key="$T/key" user="$(id -un)" bytes=3000000 $2 >"$T/out" 2>"$T/log"
	status=$?
	if [ -n "$4" ]; then [ $status -ne 0 ] && status=0 || status=1; fi
	grep -q "$3" "$T/log" || status=1
	ok $status "an HPN client to our sshd: $1"
}

# start_sshd LINES
start_sshd() {
	[ -z "$daemon" ] || { kill "$daemon"; wait "$daemon" 2>/dev/null; }
	{ cat "$T/base.conf"; printf '%s\n' "$1"; } >"$T/sshd.conf"
	port=$((20100 + $$ % 20000))
	while :; do
		: >"$T/sshd.log"
		"$sshd" -D -f "$T/sshd.conf" -p $port -E "$T/sshd.log" &
		daemon=$!
		while ! grep -q "Server listening" "$T/sshd.log" && kill -0 $daemon 2>/dev/null; do sleep 0.05; done
		kill -0 $daemon 2>/dev/null && return 0
		grep -q "Address already in use" "$T/sshd.log" || { sed 's/^/# /' "$T/sshd.log"; daemon=; return 1; }
		port=$((port + 1))
	done
}

if [ -x "$sshd" ]; then
	"$WS_BUILD/ssh-keygen" -q -t ed25519 -N '' -f "$T/key" && cp "$T/key.pub" "$T/authorized_keys"
	"$WS_BUILD/ssh-keygen" -q -t ed25519 -N '' -f "$T/host_key"
	cat >"$T/base.conf" <<-END
		ListenAddress 127.0.0.1
		HostKey $T/host_key
		PidFile none
		AuthorizedKeysFile $T/authorized_keys
		StrictModes no
	END
	if start_sshd "NoneEnabled yes
NoneMacEnabled yes"; then
		hpn="software=OpenSSH_10.2p1_hpn18.8.0"
		from_client "none twice, MAC kept" "$hpn none=cipher" " none umac-64-etm@openssh.com none exchanges=3"
		from_client "none twice, none MAC" "$hpn none=mac" " none none none exchanges=3"
		from_client "none, then re-keyed on none" "$hpn none=mac rekey=500000" " none none none exchanges=[1-9]"
		from_client "an old one" "software=OpenSSH_7.6p1-hpn14v15 none=cipher" " none umac-64-etm@openssh.com none"
		from_client "no switch" "$hpn" " chacha20-poly1305@openssh.com <implicit> none exchanges=1"
	else
		ok 1 "sshd starts"
	fi
	if start_sshd "NoneEnabled yes"; then
		from_client "none MAC not permitted" "software=OpenSSH_10.2p1_hpn18.8.0 none=mac" "MAC" refused
	fi
	if start_sshd "NoneEnabled no"; then
		from_client "none not permitted: told so" "software=OpenSSH_10.2p1_hpn18.8.0 none=cipher" "[Nn][Oo][Nn][Ee]" refused
	fi
else
	n=$((n + 1))
	echo "ok $n - # SKIP sshd is not built"
fi
echo "1..$n"
exit $failed
