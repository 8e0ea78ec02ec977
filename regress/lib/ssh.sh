# ssh.sh: what the scripts of regress/e2e and regress/interop share: TAP, a private folder, keys, servers, data. POSIX sh.
# A script begins with
#
#	. "$(dirname "$0")/../lib/ssh.sh"
#
# and ends with `finish`. After sourcing there are: $T (private folder, gone at the end), $ME (who runs this), $OURS, $OUR_SSHD,
# $OUR_SCP, $OUR_SFTP, $OUR_KEYGEN (the build tree), $STOCK_SSH, $STOCK_SSHD, ... (empty when absent), $PYTHON, $FULL (1: --full).
# Everything that was started with `track` is ended with its children when the script ends, however that happens.

WS_SRC=${WS_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
WS_BUILD=${WS_BUILD:-$WS_SRC/build}
HELPERS=$WS_BUILD/regress/helpers
FULL=${WS_FULL:+1}
export WS_SRC WS_BUILD
unset SSH_AUTH_SOCK SSH_ASKPASS DISPLAY WAYLAND_DISPLAY SSH_CONNECTION SSH_CLIENT
LC_ALL=C
export LC_ALL
# The programs of administrators, also for those who are none; and ours by their absolute path only.
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin

find_program() {	# names and paths: prints the first that is there
	for f; do command -v "$f" 2>/dev/null && return 0; done
	return 1
}

OURS=$WS_BUILD/ssh OUR_SSHD=$WS_BUILD/sshd OUR_SCP=$WS_BUILD/scp OUR_SFTP=$WS_BUILD/sftp OUR_KEYGEN=$WS_BUILD/ssh-keygen
OUR_SFTP_SERVER=$WS_BUILD/sftp-server
STOCK_SSH=$(find_program ssh) STOCK_SSHD=$(find_program sshd) STOCK_SCP=$(find_program scp) STOCK_SFTP=$(find_program sftp)
STOCK_KEYGEN=$(find_program ssh-keygen)
STOCK_SFTP_SERVER=$(find_program /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server /usr/lib/ssh/sftp-server \
	/usr/libexec/sftp-server)
ME=$(id -un)

# ---- TAP

tests=0 failures=0

diag() { printf '%s\n' "$@" | sed 's/^/# /'; }

skip_all() { echo "1..0 # SKIP $*"; tests=-1; exit 0; }

# ok STATUS NAME [FILE...]: one test. When it failed, the ends of the files follow as comments ($T/log without any).
ok() {
	ok_status=$1 ok_name=$2
	shift 2
	tests=$((tests + 1))
	if [ "$ok_status" = 0 ]; then
		echo "ok $tests - $ok_name"
		return 0
	fi
	echo "not ok $tests - $ok_name"
	failures=$((failures + 1))
	[ $# -gt 0 ] || set -- "$T/log"
	for ok_file; do
		[ ! -s "$ok_file" ] || { diag "$ok_file:"; tail -n 40 "$ok_file" | cut -c 1-300 | tr -cd '\11\12\40-\176' | sed 's/^/#   /'; }
	done
	return 1
}

# from_program COMMAND...: tests of a program that prints lines "ok NAME", "not ok NAME", "skip NAME" and comments; a program that
# fails otherwise is a failed test.
from_program() {
	"$@" >"$T/tap" 2>"$T/tap.err" </dev/null
	from_status=$?
	while IFS= read -r from_line; do
		case $from_line in
		"ok "*) ok 0 "${from_line#ok }" ;;
		"not ok "*) ok 1 "${from_line#not ok }" /dev/null ;;
		"skip "*) skip "${from_line#skip }" "not there" ;;
		*) echo "# $from_line" ;;
		esac
	done <"$T/tap"
	[ $from_status = 0 ] || ok 1 "$1 ends well (status $from_status)" "$T/tap.err"
}

skip() { tests=$((tests + 1)); echo "ok $tests - $1 # SKIP $2"; }

# is NAME GOT WANTED; is_line NAME PATTERN FILE: a line matches the basic regular expression; no_line: none does.
is() {
	[ "$2" = "$3" ]
	ok $? "$1" && return 0
	diag "  got: $2" "  wanted: $3"
	return 1
}
is_line() { grep -q -e "$2" "$3" 2>/dev/null; ok $? "$1" "$3" || diag "wanted a line with: $2"; }
no_line() { ! grep -q -e "$2" "$3" 2>/dev/null; ok $? "$1" "$3" || diag "wanted no line with: $2"; }

finish() {
	[ $tests -gt 0 ] || skip_all "${1:-nothing to test here}"
	echo "1..$tests"
	[ $failures = 0 ]
	exit $?
}

# ---- what is needed

have() { for f; do command -v "$f" >/dev/null 2>&1 || return 1; done; }
need() { for f; do have "$f" || skip_all "no ${f##*/} here"; done; }
need_stock_server() { [ -n "$STOCK_SSHD" ] && [ -n "$STOCK_KEYGEN" ] || skip_all "no stock sshd here"; }

# find_python MODULE...: sets PYTHON to one that has them all, or fails.
find_python() {
	for PYTHON in /usr/bin/python3 "$(find_program python3)"; do
		py_all=1
		for m; do "${PYTHON:-false}" -W ignore -c "import $m" 2>/dev/null || py_all=; done
		[ -z "$py_all" ] || return 0
	done
	PYTHON=
	return 1
}

# ---- a world of its own

# private_world: root's scripts run on in mount and process namespaces, where accounts, logins and mounts are nobody else's and
# every process dies with the script. Call it right after sourcing. Sets WS_PRIVATE to 1 inside, to 0 where it cannot be had.
private_world() {
	[ -z "$WS_PRIVATE" ] || return 0
	WS_PRIVATE=0
	export WS_PRIVATE
	[ "$(id -u)" = 0 ] && unshare -m -p -f --mount-proc true 2>/dev/null || return 0
	rm -rf "$T"
	WS_PRIVATE=1 exec unshare -m -p -f --mount-proc --kill-child --propagation private /bin/sh "$0" "$@"
}

# The account files and the records of logins become copies. Fails outside a private world.
private_accounts() {
	[ "$WS_PRIVATE" = 1 ] || return 1
	[ ! -d "$T/etc" ] || return 0
	mkdir "$T/etc" "$T/home" "$T/var-log" && chmod 755 "$T/home" || return 1
	for f in passwd group shadow; do
		cp "/etc/$f" "$T/etc/$f" && mount --bind "$T/etc/$f" "/etc/$f" || return 1
	done
	chmod 644 "$T/etc/passwd" "$T/etc/group" && chmod 600 "$T/etc/shadow"
	[ ! -d /var/log ] || mount --bind "$T/var-log" /var/log
	for f in wtmp lastlog btmp; do : >"/var/log/$f"; done
	[ ! -f /run/utmp ] || { : >"$T/etc/utmp"; mount --bind "$T/etc/utmp" /run/utmp; }
	next_uid=61000
	id sshd >/dev/null 2>&1 || echo "sshd:x:60999:65534::/run/sshd:/usr/sbin/nologin" >>/etc/passwd
}

# hash_password PASSWORD: as for shadow(5).
hash_password() {
	if have openssl; then openssl passwd -6 "$1"; else perl -e 'print crypt($ARGV[0], "\$6\$saltsalt\$")' "$1"; fi
}

# add_account NAME PASSWORD [SHELL]: in the private account files; its home is $T/home/NAME, with our key allowed to log in.
add_account() {
	next_uid=$((next_uid + 1))
	echo "$1:x:$next_uid:$next_uid:test account:$T/home/$1:${3:-/bin/sh}" >>/etc/passwd
	echo "$1:x:$next_uid:" >>/etc/group
	echo "$1:$(hash_password "$2"):19000:0:99999:7:::" >>/etc/shadow
	mkdir -p "$T/home/$1/.ssh"
	[ ! -f "$T/authorized_keys" ] || cp "$T/authorized_keys" "$T/home/$1/.ssh/authorized_keys"
	chmod -R go-rwx "$T/home/$1"
	chown -R "$next_uid:$next_uid" "$T/home/$1"
}

# ---- start and end

T=$(mktemp -d "${TMPDIR:-/tmp}/ws-test-XXXXXX") || exit 1
chmod 711 "$T"
XDG_CACHE_HOME=$T/cache
export XDG_CACHE_HOME
: >"$T/pids"

track() { echo "$1" >>"$T/pids"; }

children_of() {
	if [ -d /proc/self/task ]; then cat "/proc/$1/task/"*/children 2>/dev/null; else pgrep -P "$1"; fi
}

# end PID...: with all below it.
end() {
	for end_pid; do
		end_below=$(children_of "$end_pid")
		kill "$end_pid" 2>/dev/null
		kill -CONT "$end_pid" 2>/dev/null
		[ -z "$end_below" ] || end $end_below
	done
}

# A process of the script's own shell is waited for, so that the port is free and the shell quiet.
stop() { end "$1"; wait "$1" 2>/dev/null; }

cleanup() {
	[ -d "$T" ] || return
	while read -r cleanup_pid; do end "$cleanup_pid"; done <"$T/pids"
	if [ "$WS_PRIVATE" = 1 ] && [ -d "$T/etc" ]; then
		umount /etc/passwd /etc/group /etc/shadow /etc/pam.d /var/log /run/utmp 2>/dev/null
	fi
	[ -n "$WS_KEEP" ] && { diag "kept: $T"; return; }
	rm -rf "$T"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# limit SECONDS COMMAND...: 124 when it takes longer.
limit() { timeout -k 5 "$@"; }

# ---- waiting

# wait_until SECONDS COMMAND...: until the command succeeds.
wait_until() {
	wait_end=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $wait_end ] || return 1
		sleep 0.02
	done
}
wait_line() { wait_until "${3:-10}" grep -q -e "$1" "$2" 2>/dev/null; }	# PATTERN FILE [SECONDS]
is_gone() { ! kill -0 "$1" 2>/dev/null; }
# has_stalled PID FIELD: rchar or wchar in /proc/PID/io is something and does not grow any more. Not for our own sessions, which
# nobody may look into.
has_stalled() {
	stall_before=$(sed -n "s/^$2: //p" "/proc/$1/io")
	[ "${stall_before:-0}" -gt 100000 ] || return 1
	# A process that does not get its turn on a busy machine is not one that has stalled.
	for stall_look in 1 2 3; do
		sleep 0.3
		[ "$stall_before" = "$(sed -n "s/^$2: //p" "/proc/$1/io")" ] || return 1
	done
}
parent_of() { sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status"; }
memory_peak_kib() { sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status"; }

free_port() { "$HELPERS/net_tool" free-port; }

# ---- keys and data

make_key() {	# FILE TYPE [OPTION...]
	make_key_file=$1 make_key_type=$2
	shift 2
	"${STOCK_KEYGEN:-$OUR_KEYGEN}" -q -t "$make_key_type" -N '' -f "$make_key_file" "$@" </dev/null
}

# make_keys: the user's key ($T/id) and a host key of each type, made once.
make_keys() {
	[ ! -f "$T/id" ] || return 0
	make_key "$T/id" ed25519 && cp "$T/id.pub" "$T/authorized_keys" || return 1
	chmod 644 "$T/authorized_keys"
	make_key "$T/host_ed25519" ed25519 && make_key "$T/host_rsa" rsa -b 2048 || return 1
	for bits in 256 384 521; do make_key "$T/host_ecdsa$bits" ecdsa -b $bits || return 1; done
	awk '{ print "* " $1 " " $2 }' "$T"/host_*.pub >"$T/known_hosts"
}

sum() { if have sha256sum; then sha256sum; else openssl dgst -sha256 -r; fi <"$1" | cut -c 1-64; }
random_file() { head -c "$2" /dev/urandom >"$1"; }			# FILE BYTES

# ---- servers

# HOST_KEYS: the types a server shows.
HOST_KEYS="ed25519 ecdsa256 ecdsa384 ecdsa521 rsa"

# server_config: lines for PORT that a test server of either make needs; what the caller wants stands before them.
server_config() {
	printf '%s\n' "Port $1" "ListenAddress 127.0.0.1" "PidFile none" "AuthorizedKeysFile $T/authorized_keys" \
		"StrictModes no" "UsePAM no" "PermitRootLogin yes" "LogLevel VERBOSE" "MaxStartups 200" "MaxSessions 50"
	for h in $HOST_KEYS; do echo "HostKey $T/host_$h"; done
}

# start_sshd PROGRAM NAME [LINE...]: a daemon with its configuration in $T/NAME.conf and log in $T/NAME.log. Sets PORT and PID.
start_sshd() {
	sshd_program=$1 sshd_name=$2
	shift 2
	make_keys || return 1
	for try in 1 2 3 4 5 6; do
		PORT=$(free_port) || return 1
		{ [ $# = 0 ] || printf '%s\n' "$@"; server_config "$PORT"; } >"$T/$sshd_name.conf"
		: >"$T/$sshd_name.log"
		"$sshd_program" -D -f "$T/$sshd_name.conf" -E "$T/$sshd_name.log" >"$T/$sshd_name.out" 2>&1 </dev/null &
		PID=$!
		track $PID
		wait_until 20 server_is_up_or_dead && grep -q 'Server listening' "$T/$sshd_name.log" && return 0
		kill $PID 2>/dev/null
		grep -q 'Address already in use' "$T/$sshd_name.log" || break
	done
	PID=
	diag "$sshd_program did not start:"
	cat "$T/$sshd_name.out" "$T/$sshd_name.log" | sed 's/^/#   /'
	return 1
}
server_is_up_or_dead() { is_gone $PID || grep -q 'Server listening' "$T/$sshd_name.log"; }

# start_stock NAME [LINE...], start_ours NAME [LINE...]
start_stock() {
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
	start_sshd "$STOCK_SSHD" "$@"
}
# Addresses of tests are not punished for what tests do.
start_ours() {
	ours_name=$1
	shift
	start_sshd "$OUR_SSHD" "$ours_name" "$@" "PerSourcePenalties no"
}

# start_dropbear TYPE...: with a host key of each type it has, which is known then; log in $T/db.log. Sets PORT and PID.
start_dropbear() {
	db_types=$*
	set --
	for type in $db_types; do
		dropbearkey -t "$type" -f "$T/db_$type" >"$T/log" 2>&1 && set -- "$@" -r "$T/db_$type"
		dropbearkey -y -f "$T/db_$type" 2>/dev/null | awk '/^(ssh|ecdsa)-/ { print "* " $1 " " $2 }' >>"$T/known_hosts"
	done
	PORT=$(free_port) || return 1
	dropbear -F -E -p "127.0.0.1:$PORT" -P "$T/db.pid" "$@" >"$T/db.log" 2>&1 </dev/null &
	PID=$!
	track $PID
	wait_until 10 dropbear_listens
}
dropbear_listens() { "$HELPERS/net_tool" relay 127.0.0.1 "$PORT" </dev/null >/dev/null 2>&1; }

# make_login: who the clients log in as: LOGIN, with PASSWORD and home $LOGIN_HOME; a scratch account where there can be some,
# otherwise $ME, whose password nobody knows (PASSWORD is empty).
make_login() {
	make_client || return 1
	LOGIN=$ME PASSWORD= LOGIN_HOME=
	if private_accounts; then
		LOGIN=zwlogin PASSWORD='right Horse 9' LOGIN_HOME=$T/home/zwlogin
		add_account $LOGIN "$PASSWORD" || return 1
	fi
	sed "s/^User .*/User $LOGIN/" "$T/client.conf" >"$T/client.new" && mv "$T/client.new" "$T/client.conf"
	printf '#!/bin/sh\ncat <<"END"\n%s\nEND\n' "$PASSWORD" >"$T/askpass"
	chmod 755 "$T/askpass"
	mkdir "$T/work" && chmod 777 "$T/work"
}

# login_server NAME [LINE...]: our sshd for that login, by key, password and keyboard-interactive (PAM where there is a password).
login_server() {
	login_name=$1
	shift
	set -- "$@" "AuthorizedKeysFile $T/authorized_keys" "Subsystem sftp internal-sftp"
	if [ -n "$PASSWORD" ]; then
		[ -f /etc/pam.d/sshd ] || [ ! -d /etc/pam.d ] || mount_pam
		set -- "UsePAM yes" "KbdInteractiveAuthentication yes" "$@"
	fi
	start_ours "$login_name" "$@"
}
mount_pam() {
	cp -a /etc/pam.d "$T/etc/pam.d" && cp "$WS_SRC/etc/sshd.pam" "$T/etc/pam.d/sshd" && mount --bind "$T/etc/pam.d" /etc/pam.d
}

# ---- a long line

# far_link MS: a line of 1 Gbit/s with so many ms each way between two namespaces of a private world.
far_link() {
	FAR_ADDRESS=10.99.1.2
	[ "$WS_PRIVATE" = 1 ] && have ip "$WS_BUILD/regress/bench/wansim" && [ -e /dev/net/tun ] || return 1
	mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip netns add near && ip netns add far || return 1
	"$WS_BUILD/regress/bench/wansim" near far "$1" 1000 0 12500000 >"$T/wansim.log" 2>&1 &
	track $!
	wait_until 10 ip -n far link show wan0 >/dev/null 2>&1 || return 1
	for n in near:1 far:2; do
		ip -n ${n%:*} link set lo up && ip -n ${n%:*} addr add 10.99.1.${n#*:}/24 dev wan0 && ip -n ${n%:*} link set wan0 up || return 1
	done
}
FROM_NEAR="ip netns exec near"
# start_far PROGRAM NAME [LINE...]: as start_sshd, beyond the line.
start_far() {
	printf '#!/bin/sh\nexec ip netns exec far "%s" "$@"\n' "$1" >"$T/far_${1##*/}"
	chmod 755 "$T/far_${1##*/}"
	far_program=$T/far_${1##*/}
	shift
	start_sshd "$far_program" "$@" "ListenAddress $FAR_ADDRESS"
}

# ---- clients

# client_config FILE: what every client of ours or OpenSSH needs to log in as $ME without a question.
client_config() {
	printf '%s\n' "IdentityFile $T/id" "IdentitiesOnly yes" "UserKnownHostsFile $T/known_hosts" "GlobalKnownHostsFile none" \
		"StrictHostKeyChecking yes" "BatchMode yes" "User $ME" "Hostname 127.0.0.1" "ConnectTimeout 20" >"$1"
}

# ours PORT ARGUMENT..., stock PORT ARGUMENT...: the client to the server "peer" on that port.
ours() { client_port=$1; shift; "$OURS" -F "$T/client.conf" -p "$client_port" "$@"; }
stock() { client_port=$1; shift; "$STOCK_SSH" -F "$T/client.conf" -p "$client_port" "$@"; }

# make_client: the user's and the hosts' keys and $T/client.conf.
make_client() { make_keys && client_config "$T/client.conf"; }

# common_names KIND A B: what both ssh programs list under -Q KIND, one a line.
common_names() {
	"$2" -Q "$1" | sort >"$T/names.a"
	"$3" -Q "$1" | sort | comm -12 "$T/names.a" -
}

# ---- combinations

# pairwise FILE: FILE holds a line "NAME VALUE VALUE..." per factor and lines "!NAME=VALUE NAME=VALUE" for pairs that do not
# exist. Prints rows of values, in the order of the factors, in which every pair that exists occurs at least once.
pairwise() {
	awk -f "$WS_SRC/regress/lib/pairwise.awk" "$1"
}

# every FILE: all combinations, without those pairs.
every() {
	awk -v every=1 -f "$WS_SRC/regress/lib/pairwise.awk" "$1"
}
