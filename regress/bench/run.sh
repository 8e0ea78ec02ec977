#!/bin/bash
# run.sh [-n RUNS] [-s SIZE_MB] [-o FILE.csv] [CASE ...]: ours and the stock OpenSSH side by side in one run, A B A B, medians and
# ratios. Prints numbers and judges nothing. Needs a build (WS_BUILD, default build/ in the tree), the stock ssh, scp and sshd, and
# GNU time. With gnuplot, FILE.csv also becomes FILE.svg.
#
# Cases (default: all but the wide-area ones):
#   gcm-up gcm-down gcm256-up ctr-up ctr-down chacha-up chacha-down    scp of one file, with that cipher on both sides
#   none-up none-down nonemac-up nonemac-down                          ours with NoneSwitch; stock with aes128-gcm
#   from-stock to-stock                                                our scp with the stock sshd; stock to stock beside it
#   pipe-up pipe-down                                                  ssh host 'cat >/dev/null' < file, ssh host 'cat file' | cat
#   small-up small-down                                                scp -r of 1,000 files of 4 KiB (SMALL=N: another number)
#   true                                                               ssh host true
#   wan:RTT[:LOSS]                                                     scp up and down over 1 Gbit/s with that round trip in ms
#   pump                                                               the least work that moves the file: the physical limit
# Congestion control is cubic for all sides, where that can be set. Data lies in memory. WS_USER names an account with a quick
# shell start-up to log in as (default: ourselves).

set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$(cd "${WS_BUILD:-$top/build}" && pwd) || exit 1
runs=5
size=1024
csv=
while getopts n:s:o: o; do
	case $o in
	n) runs=$OPTARG ;;
	s) size=$OPTARG ;;
	o) csv=$OPTARG ;;
	*) sed -n '2,3p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
cases=("$@")
[ ${#cases[@]} -gt 0 ] || cases=(pump gcm-up gcm-down ctr-up ctr-down chacha-up chacha-down none-up none-down nonemac-up
	nonemac-down from-stock to-stock pipe-up pipe-down small-up small-down true)

work=$(mktemp -d /dev/shm/wsbench.XXXXXX) || exit 1
. "$here/lib.sh"
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
bench_serve ours || exit 1
bench_serve stock || exit 1

user=${WS_USER:-$(id -un)}
mkdir -p "$work/far" && chmod 777 "$work/far"
head -c $((size * 1048576)) /dev/urandom >"$work/file"
chmod 644 "$work/file"
opts=(-q -F none -i "$work/key" -o UserKnownHostsFile="$work/known" -o StrictHostKeyChecking=no -o BatchMode=yes -l "$user")
scp_opts=("${opts[@]:0:9}")
host=127.0.0.1

program() { if [ "$1" = ours ]; then echo "$build/$2"; else echo "/usr/bin/$2"; fi; }

# copy CLIENT SERVER up|down OPTION...: one scp, compared afterwards. Outside of the time.
copy() {
	local client=$1 server=$2 dir=$3 from to
	shift 3
	rm -f "$work/far/copy" "$work/copy"
	if [ "$dir" = up ]; then from=$work/file to=$user@$host:$work/far/copy; else from=$user@$host:$work/file to=$work/copy; fi
	timed "$server" ${inside:-} "$(program "$client" scp)" "${scp_opts[@]}" -P "${port[$server]}" "$@" "$from" "$to" || return 1
	if [ "$dir" = up ]; then cmp -s "$work/file" "$work/far/copy"; else cmp -s "$work/file" "$work/copy"; fi
}

pipe() {
	local who=$1 dir=$2
	if [ "$dir" = up ]; then
		timed "$who" ${inside:-} sh -c 'exec "$@" "cat >/dev/null" <"$0"' "$work/file" "$(program "$who" ssh)" "${opts[@]}" \
			-p "${port[$who]}" $host
	else
		timed "$who" ${inside:-} sh -c '"$@" "cat $0" | cat >/dev/null' "$work/file" "$(program "$who" ssh)" "${opts[@]}" \
			-p "${port[$who]}" $host
	fi
}

small() {
	local who=$1 dir=$2 from to
	rm -rf "$work/far/tree" "$work/tree_copy"
	if [ "$dir" = up ]; then from=$work/tree to=$user@$host:$work/far/tree; else from=$user@$host:$work/tree to=$work/tree_copy; fi
	timed "$who" ${inside:-} "$(program "$who" scp)" -r "${scp_opts[@]}" -P "${port[$who]}" "$from" "$to" || return 1
	if [ "$dir" = up ]; then diff -r "$work/tree" "$work/far/tree" >/dev/null; else diff -r "$work/tree" "$work/tree_copy" >/dev/null; fi
}

login() {
	timed "$1" ${inside:-} "$(program "$1" ssh)" "${opts[@]}" -p "${port[$1]}" $host true
}

# row NAME MEGABYTES COMMAND_A COMMAND_B: both in turn; each is a function and its arguments.
row() {
	local name=$1 mb=$2 i c what
	local -A t=() k=() m=()
	for ((i = 0; i <= runs; i++)); do
		for what in 1 2; do
			c=$3
			[ $what = 1 ] || c=$4
			# shellcheck disable=SC2086
			if ! $c; then
				printf '%-16s %s failed: %s\n' "$name" "${c%% *}" "$(tail -1 "$work/err")"
				return
			fi
			[ $i = 0 ] && continue   # warm-up
			t[$what]+="$seconds"$'\n' k[$what]+="$cpu"$'\n' m[$what]+="$peak_kb"$'\n'
		done
	done
	for what in 1 2; do
		t[$what]=$(printf %s "${t[$what]}" | median) k[$what]=$(printf %s "${k[$what]}" | median) m[$what]=$(printf %s "${m[$what]}" | median)
	done
	awk -v n="$name" -v mb="$mb" -v a="${t[1]}" -v b="${t[2]}" -v ka="${k[1]}" -v kb="${k[2]}" -v ma="${m[1]}" -v mb2="${m[2]}" -v csv="$csv" '
	BEGIN {
		if (mb) { va = mb * 1.048576 / a; vb = mb * 1.048576 / b; f = "%.0f"; g = mb * 1.048576 / 1000 }
		else { va = a * 1000; vb = b * 1000; f = "%.0f"; g = 1 }
		printf "%-16s %9s %9s %7.2fx %8.2f %8.2f %8.1f %8.1f\n", n, sprintf(f, va), sprintf(f, vb), b / a, ka / g, kb / g, ma / 1024, mb2 / 1024
		if (csv != "") printf "%s,%.1f,%.1f,%.3f,%.3f,%.3f,%.1f,%.1f\n", n, va, vb, b / a, ka / g, kb / g, ma / 1024, mb2 / 1024 >> csv
	}'
}

pump() {
	local bin=$build/regress/bench/pump mode i v
	[ -x "$bin" ] || ${CC:-cc} -O2 -o "${bin:=$work/pump}" "$here/pump.c" -lcrypto || return
	for mode in gcm ctr-hmac plain; do
		v=
		for ((i = 0; i < runs; i++)); do
			v+=$("$bin" $mode 65536 "$work/file" "$work/copy" | awk '{ print $(NF - 1) }')$'\n'
		done
		printf 'pump %-11s %9s\n' $mode "$(printf %s "$v" | median)"
	done
	rm -f "$work/copy"
}

make_tree() {
	local i n=${SMALL:-1000}
	[ -d "$work/tree" ] && return
	mkdir -p "$work/tree"
	for ((i = 0; i < n; i++)); do head -c 4096 /dev/urandom >"$work/tree/file$i"; done
}

# wan:RTT[:LOSS]: both servers in one namespace, the clients in the other.
wan() {
	local rtt loss saved=$size
	IFS=: read -r _ rtt loss <<<"$1"
	bench_stop_servers
	sh "$here/wan.sh" up $((rtt / 2)) 1000 "${loss:-0}" || return
	wan_up=1
	address=10.99.0.2
	bench_serve ours ip netns exec wan-b || return
	bench_serve stock ip netns exec wan-b || return
	host=10.99.0.2 inside="ip netns exec wan-a"
	size=256
	head -c $((size * 1048576)) "$work/file" >"$work/file.small" && mv "$work/file" "$work/file.large" && mv "$work/file.small" "$work/file"
	row "$1 up" $size "copy ours ours up $gcm" "copy stock stock up $gcm"
	row "$1 down" $size "copy ours ours down $gcm" "copy stock stock down $gcm"
	mv "$work/file.large" "$work/file"
	size=$saved inside= host=127.0.0.1 address=
	bench_stop_servers
	sh "$here/wan.sh" down
	wan_up=
	bench_serve ours && bench_serve stock
}

[ -z "$csv" ] || echo "case,ours,stock,ratio,cpu_s_per_gb_ours,cpu_s_per_gb_stock,client_peak_mb_ours,client_peak_mb_stock" >"$csv"
echo "$size MB, $runs runs each, medians; congestion control $(cat $cc_file); $(nproc) processors; load $(cut -d' ' -f1 /proc/loadavg)"
printf '%-16s %9s %9s %8s %8s %8s %8s %8s\n' "" "ours" "stock" "ratio" "cpu" "cpu" "peak MB" "peak MB"
printf '%-16s %9s %9s %8s %8s %8s %8s %8s\n' "case" "MB/s" "MB/s" "" "ours/GB" "stock/GB" "ours" "stock"
gcm="-c aes128-gcm@openssh.com"
none="-oNoneSwitch=yes"
both() { row "$1" "$size" "copy ours ours $2 $3" "copy stock stock $2 ${4:-$3}"; }
for c in "${cases[@]}"; do
	case $c in
	gcm-up) both $c up "$gcm" ;;
	gcm-down) both $c down "$gcm" ;;
	gcm256-up) both $c up "-c aes256-gcm@openssh.com" ;;
	ctr-up) both $c up "-c aes128-ctr" ;;
	ctr-down) both $c down "-c aes128-ctr" ;;
	chacha-up) both $c up "-c chacha20-poly1305@openssh.com" ;;
	chacha-down) both $c down "-c chacha20-poly1305@openssh.com" ;;
	none-up) both $c up "$none" "$gcm" ;;
	none-down) both $c down "$none" "$gcm" ;;
	nonemac-up) both $c up "$none -oNoneMacEnabled=yes" "$gcm" ;;
	nonemac-down) both $c down "$none -oNoneMacEnabled=yes" "$gcm" ;;
	from-stock) row $c "$size" "copy ours stock down $gcm" "copy stock stock down $gcm" ;;
	to-stock) row $c "$size" "copy ours stock up $gcm" "copy stock stock up $gcm" ;;
	pipe-up) row $c "$size" "pipe ours up" "pipe stock up" ;;
	pipe-down) row $c "$size" "pipe ours down" "pipe stock down" ;;
	small-up) make_tree; row "$c, ms" 0 "small ours up" "small stock up" ;;
	small-down) make_tree; row "$c, ms" 0 "small ours down" "small stock down" ;;
	true) row "$c, ms" 0 "login ours" "login stock" ;;
	wan:*) wan "$c" ;;
	pump) pump ;;
	*) echo "no such case: $c" >&2 ;;
	esac
done
if [ -n "$csv" ] && command -v gnuplot >/dev/null; then
	grep -v ', ms' "$csv" >"$work/plot.csv"
	gnuplot <<-END
		set terminal svg size 900,500 font "sans,12"
		set output "${csv%.csv}.svg"
		set datafile separator ","
		set style data histograms
		set style fill solid 0.8
		set boxwidth 0.9
		set ylabel "MB/s"
		set yrange [0:*]
		set xtics rotate by -40
		plot "$work/plot.csv" every ::1 using 2:xtic(1) title "Wirespeed SSH", "" every ::1 using 3 title "stock OpenSSH"
	END
fi
