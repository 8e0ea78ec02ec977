# compression_lib.sh: the parts of compression.sh, also used by its tests; to be sourced by bash with $build, $here and $work set:
# lines of a given rate, servers behind them, files of a set, one copy, the report.

hub=wsc$$-hub
declare -A serving

links_begin() {
	[ "$(id -u)" = 0 ] || { echo "compression.sh: needs root for network namespaces" >&2; return 1; }
	ip netns add "$hub" && ip -n "$hub" link set lo up && ip netns exec "$hub" sysctl -qw net.ipv4.ip_forward=1
}
links_down() {
	stop_servers
	links_reset
	ip netns del "$hub" 2>/dev/null
}
links_reset() {
	local dev
	# the devices first: those of a deleted namespace go some time later
	for dev in $(ip netns list | sed -n "s/^wsc$$-\([ab][0-9]*\).*/\1/p"); do
		ip -n "$hub" link del "$dev" 2>/dev/null
		ip netns del "wsc$$-$dev"
	done
}

# line_shape I LINE: the rate of a standing link, both ways; for a change in mid-copy too.
line_shape() {
	local dev
	for dev in "a$1" "b$1"; do
		if [ "$2" = unlimited ]; then
			tc -n "$hub" qdisc del dev "$dev" root 2>/dev/null
			continue
		fi
		# A burst of 2 ms, so that the kernel need not cut what it handles in one piece; a queue of 100 ms, of a packet at least.
		tc -n "$hub" qdisc replace dev "$dev" root tbf rate "$(($2 * 8))kbit" \
			burst "$(($2 * 2 > 1600 ? $2 * 2 : 1600))" limit "$(($2 * 100 + ($2 * 2 > 1600 ? $2 * 2 : 1600)))" || return
	done
}

# link_up I LINE: namespaces a and b with a router between them; the client's end has 10.77.I.1, the server's 10.78.I.1.
link_up() {
	local i=$1 side net=77 ns
	for side in a b; do
		ns=wsc$$-$side$i
		ip netns add "$ns" && ip link add "$side$i" netns "$hub" type veth peer name wan0 netns "$ns" || return
		ip -n "$hub" addr add "10.$net.$i.254/24" dev "$side$i" && ip -n "$hub" link set "$side$i" up
		ip -n "$ns" link set lo up && ip -n "$ns" addr add "10.$net.$i.1/24" dev wan0 && ip -n "$ns" link set wan0 up
		ip -n "$ns" route add default via "10.$net.$i.254"
		ip netns exec "$ns" sysctl -qw net.ipv4.tcp_congestion_control=cubic net.ipv4.tcp_no_metrics_save=1
		net=78
	done
	line_shape "$i" "$2"
}

# serve I LEVEL CIPHER: a server behind link I, ours or for stock-* the stock one, unless it runs already.
serve() {
	local i=$1 kind=ours binary=$build/sshd log tries
	case $2 in stock-*) kind=stock binary=$stock_sshd ;; esac
	[ -z "${serving[$i.$kind]:-}" ] || return 0
	log=$work/sshd.$i.$kind.log
	printf '%s\n' "ListenAddress 10.78.$i.1" "HostKey $work/host_key" "AuthorizedKeysFile $work/authorized_keys" \
		"PidFile $work/sshd.$i.$kind.pid" "StrictModes no" "PermitRootLogin yes" "MaxStartups 100" "UsePAM no" \
		"Subsystem sftp internal-sftp" "Ciphers $3" >"$work/sshd.$i.$kind.conf"
	[ $kind = stock ] || echo "CompressionZstd yes" >>"$work/sshd.$i.$kind.conf"   # used where the client offers it
	mkdir -p /run/sshd
	: >"$log"
	ip netns exec "wsc$$-b$i" "$binary" -D -e -f "$work/sshd.$i.$kind.conf" -p "$(port_of $kind)" 2>"$log" &
	serving[$i.$kind]=$!
	for ((tries = 0; tries < 250; tries++)); do
		grep -q "Server listening" "$log" && return 0
		kill -0 "${serving[$i.$kind]}" 2>/dev/null || break
		sleep 0.02
	done
	cat "$log" >&2
	return 1
}
port_of() { if [ "$1" = ours ]; then echo 2022; else echo 2023; fi; }
stop_servers() {
	local k
	for k in "${!serving[@]}"; do kill "${serving[$k]}" && wait "${serving[$k]}"; done 2>/dev/null
	serving=()
}

# level_options LEVEL
level_options() {
	case $1 in
	off | stock-off) echo "-oCompression=no" ;;
	auto | stock-auto) echo "-oCompression=yes -oCompressionMode=auto -oCompressionZstd=no" ;;
	zstd) echo "-oCompression=yes -oCompressionMode=auto -oCompressionZstd=yes" ;;
	*) echo "-oCompression=yes -oCompressionMode=fixed -oCompressionLevel=$1 -oCompressionZstd=no" ;;
	esac
}

# data_file SET BYTES: its path; made when it is not there. 64 MiB of a set are all different, more is the same again.
data_file() {
	local base=$work/base.$1 f=$work/data.$1.$2 n=$2
	if [ ! -f "$f" ]; then
		[ -f "$base" ] || "$build/regress/bench/compression_data" "$1" 67108864 >"$base"
		for (( ; n > 67108864; n -= 67108864)); do cat "$base"; done >"$f.tmp"
		head -c "$n" "$base" >>"$f.tmp"
		mv "$f.tmp" "$f"
	fi
	echo "$f"
}

# set_bytes LINE SET: a set once; from 494 KB/s on twice
set_bytes() {
	local n=2750000
	[ "$2" != hard ] || n=2740000
	[ "$2" != mixed ] || n=4194304
	[ "$1" -lt 494 ] || n=$((n * 2))
	[ "$1" -gt 32 ] || [ "$2" != mixed ] || n=2097152
	echo $n
}

# cell_bytes LINE SET CIPHER LEVEL: what takes about $target seconds (automatic ones, which have to find out, 1.5 times as long): by what
# was measured of this cell before, otherwise by a guess.
cell_bytes() {
	awk -F, -v line="$1" -v set="$2" -v cipher="$3" -v level="$4" -v t="$target" '
	function min(a, b) { return a < b ? a : b }
	function guess(v,   r, c, k) {
		r = v == "off" ? 1 : set == "high" ? (v < 6 ? 2.8 : 3.3) : 1.5
		c = v == "off" ? 700000 : v == 1 ? 60000 : v == 6 ? 14000 : 9000
		k = cipher ~ /3des/ ? 14000 : cipher ~ /blowfish/ ? 65000 : 700000
		return min((line == "unlimited" ? 1e9 : line) * 0.95 * r, 1 / (1 / c + 1 / (k * r)))
	}
	$1 == line && $2 == set && $3 == cipher && $4 == level { kb = $8 }
	END {
		automatic = level ~ /auto|zstd/
		sub(/^stock-/, "", level)
		if (!kb && automatic) { kb = guess("off"); if (guess(1) > kb) kb = guess(1); if (guess(6) > kb) kb = guess(6) }
		else if (!kb) kb = guess(level)
		mb = kb * t * (automatic ? 1.5 : 1) / 1000
		for (step = 1; step * 1.25 < mb && step < 768; step *= mb / step < 1.7 ? 1.5 : 2);
		# as many stripes of each kind
		if (set == "mixed") step = 2 * int((step + 1) / 2)
		printf "%d\n", step * 1048576
	}' "$raw"
}

# copy I CIPHER LEVEL FILE LOG: our scp over link I; sets seconds. The copy must be right.
copy() {
	local i=$1 kind=ours begin end verbose=-q
	case $3 in stock-*) kind=stock ;; esac
	case $3 in *auto | zstd) verbose=${VERBOSE:--v} ;; esac
	rm -f "$work/far/copy.$i"
	begin=$EPOCHREALTIME
	# shellcheck disable=SC2046
	XDG_CACHE_HOME=$work/cache.$i ip netns exec "wsc$$-a$i" "$build/scp" $verbose -F none -i "$work/key" \
		-o UserKnownHostsFile="$work/known.$i" -o StrictHostKeyChecking=no -o BatchMode=yes -c "$2" -P "$(port_of $kind)" \
		$(level_options "$3") "$4" "$user@10.78.$i.1:$work/far/copy.$i" >"$5.out" 2>"$5" || { tail -3 "$5" >&2; return 1; }
	end=$EPOCHREALTIME
	cmp -s "$4" "$work/far/copy.$i" || { echo "the copy differs" >&2; return 1; }
	rm -f "$work/far/copy.$i"
	seconds=$(awk "BEGIN { print $end - $begin }")
}

# one_copy I LINE SET CIPHER LEVEL RUN BYTES: a row. The time of an empty copy (the lesser of two) is kept for link, cipher and peer.
one_copy() {
	local i=$1 line=$2 set=$3 cipher=$4 level=$5 run=$6 bytes=$7 log=$work/log.$1 seconds empty peer=${5%%-*} kept file
	kept=$work/empty.$i.$line.$cipher.${peer/#[!s]*/ours}
	: >"$work/nothing"
	if [ ! -s "$kept" ]; then
		for _ in 1 2 3; do
			copy "$i" "$cipher" "$level" "$work/nothing" "$log" || return
			echo "$seconds"
		done | tail -2 | sort -n | head -1 >"$kept"
	fi
	empty=$(cat "$kept")
	file=$(data_file "$set" "$bytes")
	if ! copy "$i" "$cipher" "$level" "$file" "$log"; then
		echo "$line $set $cipher $level: failed" >&2
		return 1
	fi
	[ ! -d "$name.logs" ] || grep -ai compress "$log" >"$name.logs/$line.$set.${cipher%@*}.$level.$run"
	awk -v b="$bytes" -v s="$seconds" -v e="${empty:-0}" -v h="$line,$set,$cipher,$level,$run,$bytes" \
		'BEGIN { t = s - e; if (t < 0.001) t = 0.001; printf "%s,%.3f,%.1f\n", h, t, b / 1000 / t }' | tee -a "$raw"
}

# endless KIND SECONDS: a set, what does not shrink, or zeros
endless() {
	local f=$work/endless.$1
	if [ "$1" = zeros ]; then
		f=/dev/zero
	elif [ ! -f "$f" ]; then
		if [ "$1" = random ]; then head -c 33554432 /dev/urandom; else "$build/regress/bench/compression_data" "$1" 33554432; fi >"$f"
	fi
	[ "$2" = 0 ] || timeout "$2" sh -c 'while cat "$0"; do :; done' "$f"
}

# one_change LINE LINE KIND [KIND]: two seconds of a stream over the first line, then three with the other one, or with other data.
# Prints how long the change took: until the first level that is, give or take one, the one used for most of the last 1.5 s.
one_change() {
	local kind=${4:-$3} k
	for k in $3 $kind; do endless "$k" 0; done
	line_shape 0 "$1"
	{
		endless "$3" 2 2>/dev/null
		cut -d' ' -f1 /proc/uptime >"$work/changed"
		[ "$1" = "$2" ] || line_shape 0 "$2"
		endless "$kind" 3 2>/dev/null
		cut -d' ' -f1 /proc/uptime >"$work/over"
		sleep 0.2
	} | XDG_CACHE_HOME=$work/cache.0 timeout 12 ip netns exec "wsc$$-a0" "$build/ssh" -vv -F none -i "$work/key" \
		-o UserKnownHostsFile="$work/known.0" -o StrictHostKeyChecking=no -o BatchMode=yes -c $gcm -p "$(port_of ours)" \
		-C -o CompressionMode=auto "$user@10.78.0.1" "cat >/dev/null" 2>"$work/change.log"
	grep -q '^Compression: sent' "$work/change.log" || { tail -3 "$work/change.log" >&2; return 1; }
	[ ! -d "$name.logs" ] || grep -a "compression: level" "$work/change.log" >"$name.logs/change.$1.$2.$3.$kind"
	awk -v t="$(cat "$work/changed")" -v over="$(cat "$work/over")" -v what="$(printf '%9s to %-9s %6s to %-6s' "$1" "$2" "$3" "$kind")" '
	function near(a, b) { return (a == 0) == (b == 0) && a - b <= 1 && b - a <= 1 }
	/compression: level/ {
		for (i = 1; i < NF; i++) { if ($i == "level") l = $(i + 1); if ($i == "at") at = $(i + 1) }
		l = /held back/ ? 0 : l + 0
		if (at < t) before = l
		else { n++; when[n] = at - t; level[n] = l }
	}
	END {
		level[0] = before; when[n + 1] = over - t; since = over - t - 1.5
		for (i = 0; i <= n; i++) {
			from = when[i] > since ? when[i] : since
			if (when[i + 1] > from && i <= n) spent[level[i]] += when[i + 1] - from
		}
		for (l in spent) if (best == "" || spent[l] > spent[best]) best = l
		for (i = 0; i <= n && !near(level[i], best); i++);
		printf "%s: level %d, then %d after %.2f s", what, before, best, when[i]
		for (i = 1; i <= n; i++) printf "%s%d at %.2f", (i == 1 ? " (" : ", "), level[i], when[i]
		print n ? ")" : ""
	}' "$work/change.log"
}

# compression_report NAME: NAME.csv, NAME.txt and the plots from NAME.raw.csv.
compression_report() {
	local set
	awk -F, 'NR > 1 { k = $1 "," $2 "," $3 "," $4; n[k]++; v[k, n[k]] = $8; if (n[k] == 1) order[++m] = k }
	END {
		print "line,set,cipher,level,runs,kb_per_s"
		for (i = 1; i <= m; i++) {
			k = order[i]
			for (a = 2; a <= n[k]; a++)
				for (b = a; b > 1 && v[k, b - 1] > v[k, b]; b--) { x = v[k, b]; v[k, b] = v[k, b - 1]; v[k, b - 1] = x }
			printf "%s,%d,%.0f\n", k, n[k], v[k, int((n[k] + 1) / 2)]
		}
	}' "$1.raw.csv" >"$1.csv"
	awk -F, -f "$here/compression_table.awk" "$1.csv" | tee "$1.txt"
	command -v gnuplot >/dev/null || return 0
	for set in $(awk -F, 'NR > 1 { print $2 }' "$1.csv" | sort -u); do compression_plot "$1" "$set"; done
}

# compression_plot NAME SET: a picture for each cipher, side by side; both axes logarithmic, the unlimited line at the right.
compression_plot() {
	local ciphers v plots cipher
	ciphers=$(awk -F, -v s="$2" 'NR > 1 && $2 == s { print $3 }' "$1.csv" | sort -u)
	{
		echo "set terminal svg size $((440 * $(echo "$ciphers" | wc -l) + 40)),420 font 'sans,11'"
		echo "set output '$1.$2.svg'"
		echo "set multiplot layout 1,$(echo "$ciphers" | wc -l) title 'file set: $2'"
		echo "set logscale xy; set grid; set key left top; set xlabel 'line, KB/s'; set ylabel 'file, KB/s'; set xrange [20:2000000]"
		echo "set xtics rotate by -45 ('32' 32, '126' 126, '494' 494, '955' 955, '8533' 8533, '12500' 12500, '125000' 125000, 'unlimited' 1000000)"
		for cipher in $ciphers; do
			echo "set title '${cipher%@*}'"
			plots=
			for v in off 1 6 9 auto zstd; do
				grep -q "^[^,]*,$2,$cipher,$v," "$1.csv" || continue
				echo "\$d$v << E"
				awk -F, -v s="$2" -v c="$cipher" -v v=$v '$2 == s && $3 == c && $4 == v { print $1 == "unlimited" ? 1000000 : $1, $6 }' "$1.csv" | sort -n
				echo E
				case $v in auto | zstd) w=3 ;; *) w=1 ;; esac
				plots="$plots${plots:+, }\$d$v with linespoints lw $w title '$v'"
			done
			[ -z "$plots" ] || echo "plot $plots"
		done
	} >"${work:-/tmp}/plot.$$"
	gnuplot "${work:-/tmp}/plot.$$"
	rm -f "${work:-/tmp}/plot.$$"
}
