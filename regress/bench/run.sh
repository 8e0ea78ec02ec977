#!/bin/bash
# run.sh [-n RUNS] [-s SIZE_MB] [CASE ...]: ours and the stock OpenSSH side by side in one run, A B A B, medians and ratios.
# Prints numbers and judges nothing. Needs a build (WS_BUILD, default build/ in the tree) and the stock ssh, scp and sshd.
#
# Cases: gcm-up gcm-down ctr-up chacha-up none-up none-down nonemac-up nonemac-down pump (default: all).
# Congestion control is cubic for all sides, where that can be set; bbr paces loopback. Data lies in memory.


set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${WS_BUILD:-$top/build}
runs=5
size=1024
while getopts n:s: o; do
	case $o in
	n) runs=$OPTARG ;;
	s) size=$OPTARG ;;
	*) sed -n '2,3p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
cases=("$@")
[ ${#cases[@]} -gt 0 ] || cases=(gcm-up gcm-down ctr-up chacha-up none-up none-down nonemac-up nonemac-down pump)

work=$(mktemp -d /dev/shm/wsbench.XXXXXX) || exit 1
chmod 711 "$work"
pids=()
cc=/proc/sys/net/ipv4/tcp_congestion_control
cc_was=$(cat $cc)
cleanup() {
	kill "${pids[@]}" 2>/dev/null
	[ -w $cc ] && echo "$cc_was" >$cc
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
[ -w $cc ] && echo cubic >$cc

free_port() { /usr/bin/perl -MSocket -e 'socket(S,PF_INET,SOCK_STREAM,0);bind(S,sockaddr_in(0,INADDR_LOOPBACK));print((sockaddr_in(getsockname S))[0])'; }

ssh-keygen -q -t ed25519 -N '' -f "$work/key"
ssh-keygen -q -t ed25519 -N '' -f "$work/host_key"
cp "$work/key.pub" "$work/authorized_keys"
head -c $((size * 1048576)) /dev/urandom >"$work/file"
sum=$(sha256sum <"$work/file")
common() {
	printf '%s\n' "ListenAddress 127.0.0.1" "HostKey $work/host_key" "AuthorizedKeysFile $work/authorized_keys" \
		"StrictModes no" "PermitRootLogin yes" "MaxStartups 100" "UsePAM no"
}
{ common; echo "PidFile $work/ours.pid"; echo "Subsystem sftp internal-sftp"; echo "NoneEnabled yes"; echo "NoneMacEnabled yes"; } >"$work/ours.conf"
{ common; echo "PidFile $work/stock.pid"; echo "Subsystem sftp internal-sftp"; } >"$work/stock.conf"
port_ours=$(free_port)
port_stock=$(free_port)
mkdir -p /run/sshd
"$build/sshd" -D -e -f "$work/ours.conf" -p "$port_ours" 2>"$work/ours.log" & pids+=($!)
/usr/sbin/sshd -D -e -f "$work/stock.conf" -p "$port_stock" 2>"$work/stock.log" & pids+=($!)
for log in ours stock; do
	until grep -q "Server listening" "$work/$log.log"; do
		kill -0 "${pids[@]}" 2>/dev/null || { cat "$work/$log.log" >&2; exit 1; }
		sleep 0.05
	done
done
opts=(-q -F none -i "$work/key" -o UserKnownHostsFile="$work/kh" -o StrictHostKeyChecking=no -o BatchMode=yes)

# one WHO DIRECTION OPTION...: seconds of one copy, checked.
one() {
	local who=$1 dir=$2 port scp from to begin end
	shift 2
	if [ "$who" = ours ]; then port=$port_ours scp=$build/scp; else port=$port_stock scp=/usr/bin/scp; fi
	rm -f "$work/copy"
	if [ "$dir" = up ]; then from=$work/file to=127.0.0.1:$work/copy; else from=127.0.0.1:$work/file to=$work/copy; fi
	begin=$EPOCHREALTIME
	"$scp" "${opts[@]}" -P "$port" "$@" "$from" "$to" 2>>"$work/err" || { echo fail; return; }
	end=$EPOCHREALTIME
	[ "$(sha256sum <"$work/copy")" = "$sum" ] || { echo wrong; return; }
	awk "BEGIN { print $end - $begin }"
}

median() { sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }
mbs() { awk -v s="$1" -v mb="$size" 'BEGIN { if (s + 0 > 0) printf "%.0f", mb * 1.048576 / s; else printf "%s", s }'; }

# pair NAME DIRECTION "OUR OPTIONS" "STOCK OPTIONS"
pair() {
	local ours=() stock=() a b i
	for ((i = 0; i <= runs; i++)); do
		a=$(one ours "$2" $3)
		b=$(one stock "$2" $4)
		[ $i = 0 ] && continue   # warm-up
		ours+=("$a") stock+=("$b")
	done
	a=$(printf '%s\n' "${ours[@]}" | median)
	b=$(printf '%s\n' "${stock[@]}" | median)
	awk -v n="$1" -v a="$(mbs "$a")" -v b="$(mbs "$b")" 'BEGIN { printf "%-14s %10s %10s %8s\n", n, a, b, (b + 0 > 0 ? sprintf("%.2fx", a / b) : "-") }'
}

pump() {
	local bin=$build/pump mode i v=()
	[ -x "$bin" ] && [ "$bin" -nt "$here/pump.c" ] || ${CC:-cc} -O2 -o "$bin" "$here/pump.c" -lcrypto || return
	for mode in gcm plain; do
		v=()
		for ((i = 0; i < runs; i++)); do v+=("$("$bin" $mode 65536 "$work/file" "$work/copy" | awk '{ for (i = 1; i <= NF; i++) if ($i + 0 > 0) x = $i } END { print x }')"); done
		printf 'pump %-9s %10s\n' $mode "$(printf '%s\n' "${v[@]}" | median)"
	done
}

echo "$size MB, $runs runs each, medians, MB/s; congestion control $(cat $cc), $(nproc) processors"
printf '%-14s %10s %10s %8s\n' case ours stock ratio
gcm="-c aes128-gcm@openssh.com"
for c in "${cases[@]}"; do
	case $c in
	gcm-up) pair $c up "$gcm" "$gcm" ;;
	gcm-down) pair $c down "$gcm" "$gcm" ;;
	ctr-up) pair $c up "-c aes128-ctr" "-c aes128-ctr" ;;
	chacha-up) pair $c up "-c chacha20-poly1305@openssh.com" "-c chacha20-poly1305@openssh.com" ;;
	none-up) pair $c up "-oNoneSwitch=yes" "$gcm" ;;
	none-down) pair $c down "-oNoneSwitch=yes" "$gcm" ;;
	nonemac-up) pair $c up "-oNoneSwitch=yes -oNoneMacEnabled=yes" "$gcm" ;;
	nonemac-down) pair $c down "-oNoneSwitch=yes -oNoneMacEnabled=yes" "$gcm" ;;
	pump) pump ;;
	*) echo "no such case: $c" >&2 ;;
	esac
done
[ ! -s "$work/err" ] || { echo "messages:"; sort "$work/err" | uniq -c | sort -rn | head -5; } >&2
