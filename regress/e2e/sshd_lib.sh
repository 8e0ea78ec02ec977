# sshd_lib.sh: for sshd_*.t: a private world in which our sshd runs, as root with accounts of its own, or as whoever runs the test.
#
# As root everything happens in a private mount namespace: passwd, shadow, group and pam.d are copies with test users added, bound
# over /etc, so that nothing is left behind. Users: wsuser (password "right horse"), wsother, wslocked, wsfalse (shell
# /bin/false), sshd. Keys: $T/key is wsuser's.

WS_BUILD=${WS_BUILD:-$(pwd)}
WS_SRC=${WS_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
export WS_BUILD WS_SRC
umask 022

command -v ssh >/dev/null 2>&1 || { echo "1..0 # SKIP the stock ssh is needed"; exit 0; }
[ -x "$WS_BUILD/sshd" ] || { echo "1..0 # SKIP sshd is not built"; exit 0; }

root=false
[ "$(id -u)" = 0 ] && root=true
if $root && [ -z "${WS_IN_NAMESPACE:-}" ]; then
	WS_IN_NAMESPACE=1; export WS_IN_NAMESPACE
	if unshare --mount --propagation private true 2>/dev/null; then
		exec unshare --mount --propagation private sh "$0" "$@"
	fi
	echo "1..0 # SKIP no private mount namespace is to be had"; exit 0
fi

T=$(mktemp -d /tmp/ws-sshd-XXXXXX) || exit 1
chmod 755 "$T"
n=0 sshd_pid= made= silent_pids=
cleanup() {
	quiet_end
	[ -z "$sshd_pid" ] || kill "$sshd_pid" 2>/dev/null
	[ -z "$sshd_pid" ] || wait "$sshd_pid" 2>/dev/null
	for d in $made; do rmdir "$d" 2>/dev/null; done
	cd / && rm -rf "$T"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# ---- results

show() { for f in "$@"; do [ -f "$f" ] && tail -n ${WS_SHOW:-20} "$f" | sed "s|^|# |"; done; }
# ok STATUS NAME [FILES to show when it failed]
ok() {
	n=$((n + 1))
	status=$1 name=$2
	shift 2
	if [ "$status" = 0 ]; then echo "ok $n - $name"; return 0; fi
	echo "not ok $n - $name"
	show "$@" "$T/log"
	return 0
}
# is GOT WANTED NAME
is() {
	if [ "$1" = "$2" ]; then ok 0 "$3"; return; fi
	ok 1 "$3"
	printf '#      got: %s\n#   wanted: %s\n' "$1" "$2"
}
skip() { n=$((n + 1)); echo "ok $n # SKIP $1"; }
done_testing() { echo "1..$n"; }
# waits for a condition, at most 30 s (the argument is a command)
until_true() {
	until_end=$(($(date +%s) + 30))
	until eval "$1" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt $until_end ] || return 1
		sleep 0.05
	done
}
# logged REGEX NAME
logged() {
	logged_pattern=$1
	if until_true 'grep -Eq -e "$logged_pattern" "$T/log"'; then ok 0 "log: $2"; return; fi
	ok 1 "log: $2"
	printf '#   wanted: %s\n' "$1"
}

# ---- the world

path_of() { sed -n "s/^#define $1 \"\(.*\)\"\$/\1/p" "$WS_BUILD/paths.h"; }
make_folder() {	# with those above it; what is new is removed at the end
	[ -d "$1" ] && return
	make_folder "$(dirname "$1")"
	mkdir "$1" && made="$1 $made"
}

if $root; then
	privsep_path=$(path_of PATH_PRIVSEP) privsep_user=$(path_of PRIVSEP_USER)
	make_folder "$privsep_path"
	if [ "$(stat -c %u "$privsep_path")" != 0 ]; then echo "1..0 # SKIP $privsep_path is not root's"; exit 0; fi
	mkdir -p "$T/etc" "$T/home"
	cp -a /etc/passwd /etc/shadow /etc/group "$T/etc/"
	# "right horse" and, for the locked one, the same behind a "!"
	hash=$(openssl passwd -6 -salt wirespeed "right horse")
	grep -q "^$privsep_user:" "$T/etc/passwd" || echo "$privsep_user:x:61099:61099::/nonexistent:/usr/sbin/nologin" >>"$T/etc/passwd"
	id=61001
	for user in wsuser wsother wslocked wsfalse; do
		shell=/bin/sh password=$hash
		[ $user = wsfalse ] && shell=/bin/false
		[ $user = wslocked ] && password="!$hash"
		echo "$user:x:$id:$id::$T/home/$user:$shell" >>"$T/etc/passwd"
		echo "$user:$password:19000:0:99999:7:::" >>"$T/etc/shadow"
		echo "$user:x:$id:" >>"$T/etc/group"
		mkdir -p "$T/home/$user/.ssh"
		chown -R $id:$id "$T/home/$user"
		id=$((id + 1))
	done
	echo "wsgroup:x:61050:wsuser" >>"$T/etc/group"
	mount --bind "$T/etc/passwd" /etc/passwd && mount --bind "$T/etc/shadow" /etc/shadow &&
		mount --bind "$T/etc/group" /etc/group || { echo "1..0 # SKIP files cannot be bound over /etc"; exit 0; }
	if [ -d /etc/pam.d ]; then
		cp -a /etc/pam.d "$T/etc/pam.d"
		mount --bind "$T/etc/pam.d" /etc/pam.d
	fi
	user=wsuser home=$T/home/wsuser
else
	user=$(id -un) home=$T/home
	mkdir -p "$home/.ssh"
fi

cp "$WS_BUILD/sshd" "$T/sshd"
sshd=$T/sshd
ssh-keygen -q -t ed25519 -N '' -f "$T/hostkey" && ssh-keygen -q -t ed25519 -N '' -C test -f "$T/key" &&
	ssh-keygen -q -t ed25519 -N '' -C other -f "$T/key2"
cp "$T/key.pub" "$home/.ssh/authorized_keys"
$root && chown wsuser: "$home/.ssh/authorized_keys"
chmod 700 "$home/.ssh"; chmod 600 "$home/.ssh/authorized_keys"

# ---- the server

port=$((20000 + $$ % 20000))
# config LINES...: writes sshd_config
config() {
	{
		echo "Port $port"
		echo "ListenAddress 127.0.0.1"
		echo "HostKey $T/hostkey"
		echo "PidFile $T/pid"
		echo "LogLevel VERBOSE"
		# no group of other people's tests shall shut us out
		echo "PerSourcePenalties no"
		echo "MaxStartups 100"
		$root || echo "AuthorizedKeysFile $home/.ssh/authorized_keys"
		$root || echo "StrictModes no"
		for directive in "$@"; do echo "$directive"; done
	} >"$T/sshd_config"
}
# start [ARGUMENTS]: with the configuration written before; sets sshd_pid
start() {
	stop
	tries=0
	while [ $tries -lt 20 ]; do
		: >"$T/log"
		"$sshd" -D -f "$T/sshd_config" -E "$T/log" "$@" 2>"$T/sshd.err" &
		sshd_pid=$!
		until_true "grep -q 'Server listening' '$T/log' || ! kill -0 $sshd_pid 2>/dev/null"
		if kill -0 "$sshd_pid" 2>/dev/null && grep -q 'Server listening' "$T/log"; then return 0; fi
		grep -q 'Bind to port' "$T/log" || break
		port=$((port + 1)) tries=$((tries + 1))
		sed "s/^Port .*/Port $port/" "$T/sshd_config" >"$T/sshd_config.new" && mv "$T/sshd_config.new" "$T/sshd_config"
	done
	sshd_pid=
	echo "# sshd does not start"
	show "$T/sshd.err" "$T/log"
	return 1
}
stop() {
	[ -n "$sshd_pid" ] || return 0
	kill "$sshd_pid" 2>/dev/null
	wait "$sshd_pid" 2>/dev/null
	sshd_pid=
}
serve() { config "$@" && start; }

# ---- clients

cat >"$T/ssh_config" <<CONFIG
Host *
 StrictHostKeyChecking no
 UserKnownHostsFile $T/known_hosts
 GlobalKnownHostsFile /dev/null
 IdentitiesOnly yes
 BatchMode yes
 LogLevel ERROR
 ConnectTimeout 20
CONFIG
unset SSH_AUTH_SOCK SSH_ASKPASS DISPLAY
# on [ssh options] COMMAND: as the test's user
on() { timeout 60 ssh -F "$T/ssh_config" -p "$port" -l "${as:-$user}" -i "${key:-$T/key}" "$@"; }
host=127.0.0.1
# with_password PASSWORD [ssh options] COMMAND...
with_password() {
	printf '#!/bin/sh\ncat <<"END"\n%s\nEND\n' "$1" >"$T/askpass"
	chmod 755 "$T/askpass"
	shift
	SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force timeout 60 setsid ssh -F "$T/ssh_config" -p "$port" -l "${as:-$user}" \
		-i "$T/key" -o BatchMode=no -o NumberOfPasswordPrompts="${prompts:-1}" -o PubkeyAuthentication="${pubkey:-no}" "$@" </dev/null
}
# silent_client FILE: connects to the server and says nothing; what it is told goes to FILE. Until quiet_end, or the server hangs up.
silent_client() {
	[ -p "$T/silence" ] || mkfifo "$T/silence"
	# open both ways: it neither waits for a writer nor sees an end
	timeout 300 nc 127.0.0.1 "$port" <>"$T/silence" >"$1" 2>&1 &
	silent_pids="$silent_pids $!"
}
quiet_end() {
	[ -z "$silent_pids" ] || kill $silent_pids 2>/dev/null
	[ -z "$silent_pids" ] || wait $silent_pids 2>/dev/null
	silent_pids=
}
# Children of the listener that are there still.
processes_of_server() { pgrep -P "$sshd_pid" 2>/dev/null | wc -l; }
