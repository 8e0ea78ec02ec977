#!/bin/sh
# quickstart.sh: from a bare Debian to a copy at full speed, from any folder: installs what the build needs, builds, installs
# into a folder of its own, starts a throwaway sshd on 127.0.0.1 and copies a large file with aes128-gcm, with NoneSwitch,
# and with NoneSwitch and no MAC; checks what arrived and shows the speeds. Nothing stays running.
#
#   WS_SIZE_MB=N   size of the file (1024)        WS_RUNS=N   copies of each kind, the median counts (3)
#   WS_PORT=N      port (20022, or the next that is free)      WS_BUILD=DIR   build there instead of build/ in the tree

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS
build=${WS_BUILD:-$top/build}
mkdir -p "$build" && build=$(cd "$build" && pwd) || exit 1
# shellcheck source=tools/packages.sh
. "$top/tools/packages.sh"

say() { printf '\n== %s\n' "$*"; }
die() { echo "quickstart: $*" >&2; exit 1; }

say "build in $build-quick"
install_missing "$NEEDED_TO_BUILD"
quick=$build-quick
prefix=$quick/root
autoreconf_if_old || die "autoreconf failed"
configure_in "$quick" --prefix="$prefix" --with-pid-dir="$prefix/var/run" || die "configure failed"
# As root sshd needs an account without rights for the part that talks to strangers.
if [ "$(id -u)" = 0 ] && ! getent passwd sshd >/dev/null; then
	useradd --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin sshd ||
		die "the account sshd could not be made"
fi
echo "configured; compiling takes a minute or two (progress: $quick/make.log)"
make -C "$quick" --no-print-directory -j"$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" all install >"$quick/make.log" 2>&1 ||
	{ tail -20 "$quick/make.log" >&2; die "make failed, see $quick/make.log"; }

# ---- a place for everything

size=${WS_SIZE_MB:-1024}
runs=${WS_RUNS:-3}
room() { df -Pm "$1" 2>/dev/null | awk 'NR == 2 { print $4 }'; }
dir=/dev/shm
[ -w $dir ] && [ "$(room $dir)" -gt $((size * 2 + 64)) ] || dir=${TMPDIR:-/tmp}
[ "$(room "$dir")" -gt $((size * 2 + 64)) ] || die "$dir has no room for two files of $size MB; set TMPDIR or WS_SIZE_MB"
work=$(mktemp -d "$dir/wirespeed.XXXXXX") || exit 1
cc_file=/proc/sys/net/ipv4/tcp_congestion_control
cc_was=
cleanup() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	[ -z "$cc_was" ] || echo "$cc_was" >$cc_file
	rm -rf "$work"
}
pid=
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# bbr, where it is the default, paces loopback to a fraction of what it can carry.
if [ -w $cc_file ] && [ "$(cat $cc_file)" = bbr ] && grep -qw cubic /proc/sys/net/ipv4/tcp_available_congestion_control; then
	cc_was=bbr
	echo cubic >$cc_file && echo "congestion control of this machine: cubic instead of bbr until the end of this script"
fi

# ---- sshd

user=$(id -un)
"$prefix/bin/ssh-keygen" -q -t ed25519 -N '' -f "$work/key" || die "ssh-keygen failed"
"$prefix/bin/ssh-keygen" -q -t ed25519 -N '' -f "$work/host_key" || die "ssh-keygen failed"
cp "$work/key.pub" "$work/authorized_keys"
cat >"$work/sshd_config" <<END
ListenAddress 127.0.0.1
HostKey $work/host_key
PidFile $work/sshd.pid
AuthorizedKeysFile $work/authorized_keys
StrictModes no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
NoneEnabled yes
NoneMacEnabled yes
END
port=${WS_PORT:-20022}
tries=0
while :; do
	"$prefix/sbin/sshd" -D -f "$work/sshd_config" -p "$port" -E "$work/sshd.log" &
	pid=$!
	# It has its port, or it has ended.
	until grep -q "Server listening on" "$work/sshd.log" 2>/dev/null || ! kill -0 $pid 2>/dev/null; do
		sleep 0.05
	done
	kill -0 $pid 2>/dev/null && break
	tries=$((tries + 1))
	[ -z "$WS_PORT" ] && [ $tries -lt 20 ] && grep -q "Address already in use" "$work/sshd.log" ||
		{ cat "$work/sshd.log" >&2; die "sshd did not start"; }
	: >"$work/sshd.log"
	port=$((port + 1))
done
say "sshd of $prefix listens on 127.0.0.1 port $port"

# ---- copies

say "copying $size MB from $work/file to $work/copy, $runs times each"
dd if=/dev/urandom of="$work/file" bs=1M count="$size" 2>/dev/null || die "no room for the file"
sum=$(cksum <"$work/file")
options="-q -F none -P $port -i $work/key -o UserKnownHostsFile=$work/known_hosts -o StrictHostKeyChecking=accept-new"
failed=0
now() { date +%s%N; }

# copy NAME OPTION...: prints a line of the table.
copy() {
	name=$1
	shift
	times=
	i=0
	while [ $i -lt "$runs" ]; do
		rm -f "$work/copy"
		begin=$(now)
		# shellcheck disable=SC2086
		if ! "$prefix/bin/scp" $options "$@" "$work/file" "$user@127.0.0.1:$work/copy" 2>"$work/scp.err"; then
			cat "$work/scp.err" >&2
			printf '%-34s failed\n' "$name"
			failed=1
			return
		fi
		end=$(now)
		if [ "$(cksum <"$work/copy")" != "$sum" ]; then
			printf '%-34s WRONG CHECKSUM\n' "$name"
			failed=1
			return
		fi
		times="$times $((end - begin))"
		i=$((i + 1))
	done
	median=$(printf '%s\n' $times | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }')
	awk -v name="$name" -v mb="$size" -v ns="$median" -v sum="$sum" \
		'BEGIN { split(sum, s, " "); printf "%-34s %8.0f MB/s   cksum %s ok\n", name, mb * 1048576 / 1e6 / (ns / 1e9), s[1] }'
}

copy "aes128-gcm@openssh.com" -c aes128-gcm@openssh.com
copy "NoneSwitch" -oNoneSwitch=yes
copy "NoneSwitch, NoneMacEnabled" -oNoneSwitch=yes -oNoneMacEnabled=yes
if command -v /usr/bin/scp >/dev/null && /usr/bin/ssh -V 2>&1 | grep -q OpenSSH; then
	prefix_ours=$prefix
	prefix=/usr
	copy "stock scp to this sshd, aes128-gcm" -c aes128-gcm@openssh.com
	prefix=$prefix_ours
fi
[ $failed = 0 ] || { echo; tail -5 "$work/sshd.log" >&2; exit 1; }
echo
echo "To install for good, see INSTALL; what NoneSwitch gives up is in README.md."
