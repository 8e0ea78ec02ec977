#!/bin/bash
# compression.sh [-l LINES] [-s SETS] [-c CIPHERS] [-v LEVELS] [-r RUNS] [-t SECONDS] [-o NAME] [-R] [-x]: what compression does to a copy:
# our scp to our sshd over lines of different rates, with kinds of data, ciphers and levels. Prints numbers and judges nothing.
#
#   -l  of: 32 126 494 955 8533 12500 125000 (KB/s; a KB is 1,000 bytes) unlimited
#   -s  of: high hard mixed (compression_data.c says what they are)
#   -c  of: aes128-gcm@openssh.com 3des-cbc blowfish-cbc; one that the build lacks is left out
#   -v  of: off 1 2 3 4 5 6 7 8 9 auto (these with zlib) zstd (auto with zstd allowed) stock-off stock-auto (ours to the stock sshd)
#   -r  runs of each cell (default 3; up to 494 KB/s one; unlimited with gcm three times as many)
#   -t  seconds a cell of a fast line should take (default 2)
#   -o  NAME.raw.csv gets a row for each copy, after those that are there: so the table can be made in pieces, and
#       NAME.txt, NAME.csv (medians), NAME.SET.svg (with gnuplot) are made from all of it; NAME.logs/: what auto reported
#   -R  only make these from NAME.raw.csv
#   -x  instead: the line or the data change in the middle of a stream; how long until auto has the new level (some 50 s)
#
# Rates are those of the file: its bytes by the time of the copy less the time of an empty one over the same link. The lines are
# token buckets of the kernel (tc tbf) in a namespace that stands as a router between two others, with a queue of 100 ms of line
# each way; the rate counts whole frames. Lines up to 494 KB/s: one cipher, cells side by side, each over its own line; 955: four
# at a time. Everything takes some 37 minutes. Needs root, ip, tc. Lists are quoted: -l "32 126". WS_BUILD, WS_USER as in run.sh.

set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$(cd "${WS_BUILD:-$top/build}" && pwd) || exit 1
gcm=aes128-gcm@openssh.com
lines="32 126 494 955 8533 12500 125000 unlimited" sets="high hard mixed" ciphers="$gcm 3des-cbc blowfish-cbc"
levels="off 1 6 9 auto zstd stock-off stock-auto" runs=3 target=2 name=compression report= changes=
while getopts l:s:c:v:r:t:o:Rx o; do
	case $o in
	l) lines=$OPTARG ;;
	s) sets=$OPTARG ;;
	c) ciphers=$OPTARG ;;
	v) levels=$OPTARG ;;
	r) runs=$OPTARG ;;
	t) target=$OPTARG ;;
	o) name=$OPTARG ;;
	R) report=1 ;;
	x) changes=1 ;;
	*) sed -n '2,3p' "$0" >&2; exit 2 ;;
	esac
done
raw=$name.raw.csv
. "$here/lib.sh"
. "$here/compression_lib.sh"
[ -z "$report" ] || { compression_report "$name"; exit; }

work=$(mktemp -d /dev/shm/wscomp.XXXXXX) || exit 1
cleanup() {
	links_down
	bench_restore_cc
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
user=${WS_USER:-$(id -un)}
bench_use_cubic
bench_keys
mkdir -p "$name.logs" "$work/far" && chmod 777 "$work/far"
[ -s "$raw" ] || echo "line,set,cipher,level,run,bytes,seconds,kb_per_s" >"$raw"
links_begin || exit 1

known=$("$build/ssh" -Q cipher)
has_level() {
	case $1 in
	zstd) ldd "$build/ssh" 2>/dev/null | grep -q zstd ;;
	*) true ;;
	esac
}

is_known() {
	case " ${known//$'\n'/ } " in *" $1 "*) return 0 ;; esac
	echo "$1: not in this build"
	return 1
}

# cells LINE CIPHER: the levels of a cipher. The stock sshd only with the one of today.
cells() {
	local v
	for v in $levels; do
		has_level "$v" || continue
		case $v in stock-*) [ "$2" = $gcm ] && [ -n "$stock_sshd" ] || continue ;; esac
		echo "$v"
	done
}

# A slow line: for each set all levels at once; the starts stand apart, so that they do not share a processor.
slow_line() {
	local line=$1 cipher=${ciphers%% *} set v i=0 jobs=()
	for set in $sets; do data_file "$set" "$(set_bytes "$line" "$set")" >/dev/null; done
	for set in $sets; do
		for v in $(cells "$line" "$cipher"); do
			link_up $i "$line" && serve $i "$v" "$cipher" || return
			one_copy $i "$line" "$set" "$cipher" "$v" 1 "$(set_bytes "$line" "$set")" &
			jobs+=($!)
			i=$((i + 1))
			sleep 0.5
		done
		[ "$line" -lt 494 ] && continue
		wait "${jobs[@]}"
		jobs=()
	done
	[ ${#jobs[@]} = 0 ] || wait "${jobs[@]}"
}

# At 955 KB/s four cells at a time, each over its own line; together they need half of two processors.
middle_line() {
	local line=$1 cipher set v run i bytes jobs=()
	for cipher in $ciphers; do
		is_known "$cipher" || continue
		stop_servers
		links_reset
		for ((i = 0; i < 4; i++)); do link_up $i "$line" || return; done
		for set in $sets; do
			for ((run = 1; run <= runs; run++)); do
				i=0
				for v in $(cells "$line" "$cipher"); do
					serve $i "$v" "$cipher" || return
					bytes=$(cell_bytes "$line" "$set" "$cipher" "$v")
					data_file "$set" "$bytes" >/dev/null
					one_copy $i "$line" "$set" "$cipher" "$v" $run "$bytes" &
					jobs+=($!)
					i=$((i + 1))
					[ $i -lt 4 ] && continue
					wait "${jobs[@]}"
					i=0 jobs=()
				done
				[ ${#jobs[@]} = 0 ] || wait "${jobs[@]}"
				jobs=()
			done
		done
	done
	rm -f "$work"/data.*.*
}

# runs_of LINE CIPHER LEVEL: where nothing but the machine limits runs are short, and differ by a third.
runs_of() {
	case $1.$2.$3 in
	unlimited.$gcm.[a-z]*) echo $((runs * 3)) ;;
	*) echo "$runs" ;;
	esac
}

fast_line() {
	local line=$1 cipher set v run
	link_up 0 "$line" || return
	for cipher in $ciphers; do
		is_known "$cipher" || continue
		stop_servers
		for set in $sets; do
			for ((run = 1; run <= runs * 3; run++)); do
				for v in $(cells "$line" "$cipher"); do
					[ $run -le "$(runs_of "$line" "$cipher" "$v")" ] || continue
					serve 0 "$v" "$cipher" || return
					one_copy 0 "$line" "$set" "$cipher" "$v" $run "$(cell_bytes "$line" "$set" "$cipher" "$v")"
				done
			done
		done
	done
	rm -f "$work"/data.*.*
}

echo "$(date '+%F %T'), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg), $(cat $cc_file)"
if [ -n "$changes" ]; then
	# a link for each: what still waits in the one before would be in the way
	for c in "494 12500 high" "12500 494 high" "955 unlimited high" "unlimited 955 high" "8533 125000 high" "125000 8533 high" \
		"955 955 high random" "955 955 random high" "12500 12500 high random" "12500 12500 random high" "8533 8533 zeros high"; do
		link_up 0 unlimited && serve 0 auto $gcm || exit 1
		# shellcheck disable=SC2086
		one_change $c
		stop_servers
		links_reset
	done
	exit
fi
for line in $lines; do
	case $line in
	32 | 126 | 494) slow_line "$line" ;;
	955) middle_line "$line" ;;
	*) fast_line "$line" ;;
	esac
	stop_servers
	links_reset
done
compression_report "$name"
