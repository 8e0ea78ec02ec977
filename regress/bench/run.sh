#!/bin/bash
# run.sh [-n RUNS] [-s SIZE_MB] [-o FILE.csv | -a FILE.csv] [CASE ...]: ours and the stock OpenSSH side by side in one run, A B A B,
# medians and ratios. Prints numbers and judges nothing; what is copied is compared. Needs a build (WS_BUILD, default build/ in the
# tree) with `make helpers`, the stock ssh, scp and sshd, perl; GNU time where no cgroup can be made. -a adds to a file. With
# gnuplot, FILE.csv also becomes FILE-rate.svg and FILE-time.svg.
#
# Cases (default: all but the wide-area ones):
#   CIPHER-up CIPHER-down    scp of one file, with that cipher on both sides: gcm gcm256 ctr ctr192 ctr256 chacha
#   none-up none-down nonemac-up nonemac-down                          ours with NoneSwitch; stock with aes128-gcm
#   from-stock to-stock                                                our scp with the stock sshd; stock to stock beside it
#   pipe-up pipe-down                                                  ssh host 'cat >/dev/null' < file, ssh host 'cat file' | cat
#   small-up small-down small20k-up small20k-down                      scp -r of 1,000 and of 20,000 files of 4 KiB
#   true-40 true-20                                                    ssh host true: 40 in a row (ms each), 20 at once (ms for all)
#   idle                                                               memory (PSS, KiB) of a session that idles, both sides together
#   wan:RTT[:LOSS]         scp up and down over 1 Gbit/s with that round trip in ms and loss in percent, nc on the same link beside it
#   wan-big:RTT[:LOSS] wan-stock:RTT[:LOSS] wan-small:RTT wan-true:RTT  there, in ms: the file with ours, nc and stock in turn; with a stock
#                          program at one end; 100 files of 4 KiB; ssh host true (wan_cases.sh; WAN_ONLY chooses among the rows)
#   wan                                                                RTT 10, 50, 100, 200 ms, loss 0 and 0.1 %
#   pump                                                               the least work that moves the file: the physical limit
#
# Columns: MB/s (10^6 bytes) or ms; how many times as fast; CPU seconds per GB of all processes of both sides (of a run, where the row
# counts ms); the largest memory (PSS, MiB) of all processes of the client's and of the server's side, its listener included, in the
# warm-up run; how much of the machine others used meanwhile: a row with more than a few percent of it should be measured again.
# Congestion control is cubic for all sides, where that can be set. Data lies in memory. WS_USER names an account with a quick
# shell start-up to log in as (default: ourselves).

set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$(cd "${WS_BUILD:-$top/build}" && pwd) || exit 1
runs=5
size=1024
csv=
append=
while getopts n:s:o:a: o; do
	case $o in
	n) runs=$OPTARG ;;
	s) size=$OPTARG ;;
	o) csv=$OPTARG ;;
	a) csv=$OPTARG append=1 ;;
	*) sed -n '2,2p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
cases=("$@")
[ ${#cases[@]} -gt 0 ] || cases=(pump gcm-up gcm-down gcm256-up gcm256-down ctr-up ctr-down ctr192-up ctr192-down ctr256-up ctr256-down
	chacha-up chacha-down none-up none-down nonemac-up nonemac-down from-stock to-stock pipe-up pipe-down small-up small-down
	small20k-up small20k-down true-40 true-20 idle)

work=$(mktemp -d /dev/shm/wsbench.XXXXXX) || exit 1
. "$here/lib.sh"
cleanup() {
	bench_stop_servers
	[ -z "${wan_up:-}" ] || sh "$here/wan.sh" down
	bench_restore_cc
	cgroup_done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
cgroup_init
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

# ---- what is timed

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

# small WHO up|down COUNT
small() {
	local who=$1 dir=$2 tree=$work/tree$3 from to
	rm -rf "$work/far/tree" "$work/tree_copy"
	if [ "$dir" = up ]; then from=$tree to=$user@$host:$work/far/tree; else from=$user@$host:$tree to=$work/tree_copy; fi
	timed "$who" ${inside:-} "$(program "$who" scp)" -r "${scp_opts[@]}" -P "${port[$who]}" "$from" "$to" || return 1
	if [ "$dir" = up ]; then diff -r "$tree" "$work/far/tree" >/dev/null; else diff -r "$tree" "$work/tree_copy" >/dev/null; fi
}

# logins WHO COUNT row|once
logins() {
	local who=$1 count=$2 how=$3 i
	local -a one=("$(program "$who" ssh)" "${opts[@]}" -p "${port[$who]}" $host true) jobs=()
	if [ "$how" = row ]; then
		for ((i = 0; i < count; i++)); do "${one[@]}" || return; done
	else
		for ((i = 0; i < count; i++)); do "${one[@]}" & jobs+=($!); done
		for i in "${jobs[@]}"; do wait "$i" || return; done
	fi
}
true_row() { timed "$1" logins "$1" 40 row || return; seconds=$(awk "BEGIN { print $seconds / 40 }") cpu=$(awk "BEGIN { print $cpu / 40 }"); }
true_once() { timed "$1" logins "$1" 20 once; }

# ---- rows of the table

# row NAME MEGABYTES COMMAND_A COMMAND_B: both in turn; each is a function and its arguments. 0 megabytes: the row counts ms.
row() {
	local name=$1 mb=$2 i c what server
	local -A t=() k=() m=() n=()
	for ((i = 0; i <= runs; i++)); do
		for what in 1 2; do
			c=$3
			[ $what = 1 ] || c=$4
			server=ours
			[[ $c != *stock* ]] || server=stock
			[ $i != 0 ] || memory_watch $server
			# shellcheck disable=SC2086
			$c
			failed=$?
			if [ $i = 0 ]; then
				memory_stop
				m[$what]="$client_kb $server_kb"
			fi
			if [ $failed != 0 ]; then
				printf '%-16s %s failed: %s\n' "$name" "${c%% *}" "$(tail -1 "$work/err")"
				return
			fi
			[ $i = 0 ] || { t[$what]+="$seconds"$'\n' k[$what]+="$cpu"$'\n' n[$what]+="$others"$'\n'; }
		done
	done
	put_row "$name" "$mb" "$(printf %s "${t[1]}" | median)" "$(printf %s "${t[2]}" | median)" "$(printf %s "${k[1]}" | median)" \
		"$(printf %s "${k[2]}" | median)" "${m[1]}" "${m[2]}" "$(printf %s "${n[1]}${n[2]}" | median)"
}

# put_row NAME MEGABYTES SECONDS_A SECONDS_B CPU_A CPU_B MEMORY_A MEMORY_B OTHERS
put_row() {
	awk -v name="$1" -v mb="$2" -v a="$3" -v b="$4" -v ka="$5" -v kb="$6" -v ma="$7" -v mb2="$8" -v others="$9" -v csv="$csv" '
	BEGIN {
		split(ma, x, " "); split(mb2, y, " ")
		gb = mb ? mb * 1.048576 / 1000 : 1
		va = mb ? gb * 1000 / a : a * 1000
		vb = mb ? gb * 1000 / b : b * 1000
		unit = mb ? "MB/s" : "ms"
		f = va < 100 ? "%.1f" : "%.0f"
		printf "%-16s %4s %7s %7s %6.2fx %7.3f %7.3f %6.1f %6.1f %6.1f %6.1f %5.0f%%\n", name, unit, sprintf(f, va), sprintf(f, vb), b / a,
			ka / gb, kb / gb, x[1] / 1024, x[2] / 1024, y[1] / 1024, y[2] / 1024, others * 100
		if (csv != "") printf "%s,%s,%.1f,%.1f,%.3f,%.3f,%.3f,%.1f,%.1f,%.1f,%.1f,%.3f\n", name, unit, va, vb, b / a, ka / gb, kb / gb,
			x[1] / 1024, x[2] / 1024, y[1] / 1024, y[2] / 1024, others >> csv
	}'
}

# One figure without a counterpart.
put_alone() {
	printf '%-16s %4s %7s %7s %7s %7s\n' "$1" "$2" "$3" - - "${4:-}"
	[ -z "$csv" ] || echo "$1,$2,$3,,,${4:-},,,,,," >>"$csv"
}

# The record is as long as the longest packet between our own ends.
pump() {
	local bin=$build/regress/bench/pump mode i out v k
	[ -x "$bin" ] || { echo "pump: make helpers builds it"; return; }
	for mode in gcm ctr-umac ctr-hmac chacha umac plain; do
		v='' k=''
		for ((i = 0; i < runs; i++)); do
			out=$("$bin" $mode 261120 "$work/file" "$work/copy") || return
			v+=$(awk '{ print $(NF - 2) }' <<<"$out")$'\n' k+=$(awk '{ print $NF }' <<<"$out")$'\n'
		done
		put_alone "pump $mode" MB/s "$(printf %s "$v" | median)" "$(printf %s "$k" | median)"
	done
	rm -f "$work/copy"
}

make_tree() {
	local i
	[ -d "$work/tree$1" ] && return
	mkdir -p "$work/tree$1"
	perl -e 'my ($dir, $n) = @ARGV; srand(1); for my $i (1 .. $n) { open my $f, ">", "$dir/file$i" or die;
		print $f pack("N*", map { int rand 2**32 } 1 .. 1024) }' "$work/tree$1" "$1"
}

# A session whose command sleeps; two seconds after it began, when what the login needed has been given back.
idle_one() {
	"$(program "$1" ssh)" "${opts[@]}" -p "${port[$1]}" $host 'exec sleep 4' &
	sleep 2
	pss_now "$1"
	kill $!
	wait $! 2>/dev/null
	server_alone "$1"
}
idle() {
	local i a='' b=''
	[ -n "$groups" ] || { echo "idle: needs a cgroup of version 2"; return; }
	for ((i = 0; i < runs; i++)); do a+=$(idle_one ours)$'\n' b+=$(idle_one stock)$'\n'; done
	a=$(printf %s "$a" | median) b=$(printf %s "$b" | median)
	awk -v a="$a" -v b="$b" -v csv="$csv" 'BEGIN { printf "%-16s %4s %7d %7d %6.2fx\n", "idle", "KiB", a, b, b / a
		if (csv != "") printf "idle,KiB,%d,%d,%.3f,,,,,,,\n", a, b, b / a >> csv }'
}

# nc_run up|down: seconds that nc needs for the same file on the same link.
nc_run() {
	local from=wan-a to=wan-b addr=10.99.0.2 p begin end
	[ "$1" = up ] || { from=wan-b to=wan-a addr=10.99.0.1; }
	p=$((20000 + RANDOM % 20000))
	ip netns exec $to nc -l $addr $p >"$work/copy" &
	local receiver=$!
	sleep 0.3
	begin=${EPOCHREALTIME/./}
	ip netns exec $from nc -N $addr $p <"$work/file" && wait $receiver || return
	end=${EPOCHREALTIME/./}
	awk "BEGIN { print ($end - $begin) / 1e6 }"
}
nc_row() {
	local i v=
	for ((i = 0; i < runs; i++)); do v+=$(nc_run "$2")$'\n'; done
	put_alone "$1 nc" MB/s "$(printf %s "$v" | median | awk -v mb=$size '{ printf "%.1f", mb * 1.048576 / $1 }')"
}

# wan:RTT[:LOSS]: both servers in one namespace, the clients in the other.
wan() {
	local rtt loss saved=$size dir
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
	for dir in up down; do
		row "$1 $dir" $size "copy ours ours $dir $gcm" "copy stock stock $dir $gcm"
		nc_row "$1 $dir" $dir
	done
	mv "$work/file.large" "$work/file"
	size=$saved inside= host=127.0.0.1 address=
	bench_stop_servers
	sh "$here/wan.sh" down
	wan_up=
	bench_serve ours && bench_serve stock
}

. "$here/wan_cases.sh"

if [ -n "$csv" ] && { [ -z "$append" ] || [ ! -s "$csv" ]; }; then
	echo "case,unit,ours,stock,ratio,cpu_s_per_gb_ours,cpu_s_per_gb_stock,client_mb_ours,server_mb_ours,client_mb_stock,server_mb_stock,others" \
		>"$csv"
fi
echo "$size MB, $runs runs each, medians; congestion control $(cat $cc_file); $(nproc) processors; load $(cut -d' ' -f1 /proc/loadavg)"
printf '%-16s %4s %7s %7s %7s %7s %7s %13s %13s %6s\n' "" "" "" "" "" "cpu/GB" "cpu/GB" "peak MB ours" "peak MB stock" others
printf '%-16s %4s %7s %7s %7s %7s %7s %6s %6s %6s %6s\n' "case" unit "ours" "stock" "ratio" ours stock client server client server
gcm="-c aes128-gcm@openssh.com"
none="-oNoneSwitch=yes"
nonemac="$none -oNoneMacEnabled=yes"
declare -A cipher=([gcm]="$gcm" [gcm256]="-c aes256-gcm@openssh.com" [ctr]="-c aes128-ctr" [ctr192]="-c aes192-ctr" [ctr256]="-c aes256-ctr"
	[chacha]="-c chacha20-poly1305@openssh.com" [none]="$none" [nonemac]="$nonemac")

case_run() {
	local c=$1 kind=${1%-*} dir=${1##*-} rtt loss
	case $c in
	none-* | nonemac-*) row "$c" "$size" "copy ours ours $dir ${cipher[$kind]}" "copy stock stock $dir $gcm" ;;
	gcm*-* | ctr*-* | chacha-*) row "$c" "$size" "copy ours ours $dir ${cipher[$kind]}" "copy stock stock $dir ${cipher[$kind]}" ;;
	from-stock) row "$c" "$size" "copy ours stock down $gcm" "copy stock stock down $gcm" ;;
	to-stock) row "$c" "$size" "copy ours stock up $gcm" "copy stock stock up $gcm" ;;
	pipe-*) row "$c" "$size" "pipe ours $dir" "pipe stock $dir" ;;
	small-*) make_tree 1000; row "$c" 0 "small ours $dir 1000" "small stock $dir 1000" ;;
	small20k-*) make_tree 20000; row "$c" 0 "small ours $dir 20000" "small stock $dir 20000" ;;
	true-40) row "$c" 0 "true_row ours" "true_row stock" ;;
	true-20) row "$c" 0 "true_once ours" "true_once stock" ;;
	idle) idle ;;
	wan) for loss in 0 0.1; do for rtt in 10 50 100 200; do wan "wan:$rtt:$loss"; done; done ;;
	wan:*) wan "$c" ;;
	wan-*:*) wan_case "$c" ;;
	pump) pump ;;
	*) echo "no such case: $c" >&2 ;;
	esac
}
for c in "${cases[@]}"; do case_run "$c"; done
[ -z "$csv" ] || bash "$here/plot.sh" "$csv"
