#!/bin/bash
# latency.sh [-n KEYS] [CASE ...]: how soon a typed byte comes back while bulk data flows over the
# same connection: milliseconds, and kilobytes of the bulk data that came and went before the echo.
# Prints numbers and judges nothing. Needs a build with helpers (WS_BUILD, default build/ in the tree).
# WS_USER names the account to log in as (default: ourselves).
#
# Cases (default: all):
#   none down up both     on loopback: nothing beside it, bulk data to us, from us, both
#   slow                  the same four over 10 Mbit/s with a round trip of 20 ms between two network namespaces (as root). So that
#                         the figure is ours and not that of the link's queue and of losses there, receive buffers of 64 KiB
#                         keep in flight what the line holds and little more (some 13 ms of queue: see rtt).
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$(cd "${WS_BUILD:-$top/build}" && pwd) || exit 1
keys=200
while getopts n: o; do
	case $o in
	n) keys=$OPTARG ;;
	*) sed -n '2,5p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
cases=("$@")
[ ${#cases[@]} -gt 0 ] || cases=(none down up both slow)
[ -x "$build/regress/helpers/keystroke" ] || { echo "make helpers builds what this needs" >&2; exit 1; }

work=$(mktemp -d /dev/shm/wslatency.XXXXXX) || exit 1
. "$here/lib.sh"
groups=
cleanup() {
	bench_stop_servers
	[ -z "${wan_up:-}" ] || sh "$here/wan.sh" down
	bench_restore_cc
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
bench_use_cubic
bench_keys

user=${WS_USER:-$(id -un)}
# keys_beside NAME down|up|both|none HOST [COMMAND BEFORE]
keys_beside() {
	local name=$1 bulk=$2 host=$3
	shift 3
	printf '%-10s %s\n' "$name" "$("$@" "$build/regress/helpers/keystroke" -n "$keys" -e 20 -b "$bulk" -o "IdentityFile $work/key" \
		-o "UserKnownHostsFile $work/known" -o "StrictHostKeyChecking no" -o "BatchMode yes" -o "PeerMemory no" \
		-o "Port ${port[ours]}" "$user@$host" 2>&1)"
}
slow() {
	local b
	bench_stop_servers
	sh "$here/wan.sh" up 10 10 0 100000 || return
	wan_up=1
	for b in wan-a wan-b; do ip netns exec $b sysctl -qw net.ipv4.tcp_rmem="4096 32768 65536"; done
	address=10.99.0.2
	bench_serve ours ip netns exec wan-b || return
	for b in none down up both; do keys_beside "slow $b" $b 10.99.0.2 ip netns exec wan-a; done
	bench_stop_servers
	sh "$here/wan.sh" down
	wan_up= address=
	bench_serve ours
}

echo "$keys keys; $(nproc) processors; load $(cut -d' ' -f1 /proc/loadavg); ms: median, 99th percentile, greatest; KB: median, greatest"
bench_serve ours || exit 1
for c in "${cases[@]}"; do
	case $c in
	none | down | up | both) keys_beside "$c" "$c" 127.0.0.1 ;;
	slow) slow ;;
	*) echo "no such case: $c" >&2 ;;
	esac
done
