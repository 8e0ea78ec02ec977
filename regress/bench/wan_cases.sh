# wan_cases.sh: the wide-area cases of run.sh; to be sourced by it. Both servers stand in one namespace, the clients in the other,
# with a link of WAN_RATE Mbit/s (1000) between them; nc over the same link stands beside the copies. Times are in ms, from the
# start of the program to its end. WAN_ONLY="name ..." runs only rows whose names match one of these patterns.

wan_enter() {
	bench_stop_servers
	sh "$here/wan.sh" up "$(awk "BEGIN { print $1 / 2 }")" "${WAN_RATE:-1000}" "${2:-0}" || return
	wan_up=1
	address=10.99.0.2
	bench_serve ours ip netns exec wan-b && bench_serve stock ip netns exec wan-b || return
	host=10.99.0.2 inside="ip netns exec wan-a"
	wan_size=${WAN_SIZE:-256}
	[ -f "$work/file.large" ] || mv "$work/file" "$work/file.large"
	head -c $((wan_size * 1048576)) "$work/file.large" >"$work/file"
}

wan_leave() {
	[ ! -f "$work/file.large" ] || mv "$work/file.large" "$work/file"
	inside= host=127.0.0.1 address=
	bench_stop_servers
	sh "$here/wan.sh" down
	wan_up=
	bench_serve ours && bench_serve stock
}

# wan_nc up|down: one copy by nc, until the receiver has all of it and the sender knows: as with scp. (A sender whose peer has closed its
# side beforehand would be done when the system has taken the file, up to a queue and a round trip before that.)
wan_nc() {
	local p listener status
	p=$(free_port)
	rm -f "$work/far/copy" "$work/copy"
	if [ "$1" = up ]; then
		ip netns exec wan-b nc -l -d 10.99.0.2 "$p" >"$work/far/copy" &
	else
		ip netns exec wan-b nc -l -N 10.99.0.2 "$p" <"$work/file" >/dev/null &
	fi
	listener=$!
	until ip netns exec wan-b ss -Hltn "sport = :$p" | grep -q .; do
		kill -0 $listener 2>/dev/null || return 1
	done
	if [ "$1" = up ]; then
		timed stock $inside nc -N 10.99.0.2 "$p" <"$work/file"
		status=$?
	else
		timed stock $inside sh -c 'exec nc -d 10.99.0.2 "$0" >"$1"' "$p" "$work/copy"
		status=$?
	fi
	wait $listener
	[ $status = 0 ] || return 1
	if [ "$1" = up ]; then cmp -s "$work/file" "$work/far/copy"; else cmp -s "$work/file" "$work/copy"; fi
}

# wan_tree CLIENT SERVER up|down: scp -r of the small tree.
wan_tree() {
	local client=$1 server=$2 dir=$3 from to
	rm -rf "$work/far/tree" "$work/tree_copy"
	if [ "$dir" = up ]; then from=$work/tree100 to=$user@$host:$work/far/tree; else from=$user@$host:$work/tree100 to=$work/tree_copy; fi
	timed "$server" $inside "$(program "$client" scp)" -r "${scp_opts[@]}" -P "${port[$server]}" "$from" "$to" || return 1
	if [ "$dir" = up ]; then diff -r "$work/tree100" "$work/far/tree" >/dev/null; else diff -r "$work/tree100" "$work/tree_copy" >/dev/null; fi
}

# wan_login CLIENT SERVER: a host that is remembered.
wan_login() {
	timed "$2" $inside "$(program "$1" ssh)" "${opts[@]}" -p "${port[$2]}" "$host" true
}

wan_wanted() {
	local p
	[ -n "${WAN_ONLY:-}" ] || return 0
	# shellcheck disable=SC2254
	for p in $WAN_ONLY; do case $1 in $p) return 0 ;; esac; done
	return 1
}

# wan_rows TITLE then NAME=COMMAND ...: all in turn, a line of the median and the range of each.
wan_rows() {
	local title=$1 i c name
	local -A t=()
	shift
	for ((i = 0; i <= runs; i++)); do
		for c in "$@"; do
			name=${c%%=*}
			wan_wanted "$name" || continue
			# One go before for those that are quick, so that hosts are remembered and caches warm.
			[ $i = 0 ] && [ -z "${wan_warm:-}" ] && continue
			# shellcheck disable=SC2086
			if ! ${c#*=}; then
				printf '%-14s %-20s failed: %s\n' "$title" "$name" "$(tail -1 "$work/err")"
				continue
			fi
			[ $i = 0 ] || t[$name]+="$(awk "BEGIN { print $seconds * 1000 }")"$'\n'
		done
	done
	for c in "$@"; do
		name=${c%%=*}
		[ -n "${t[$name]:-}" ] || continue
		printf %s "${t[$name]}" | sort -n | awk -v t="$title" -v n="$name" -v csv="$csv" '{ v[NR] = $1 }
			END { m = v[int((NR + 1) / 2)]; printf "%-14s %-20s %7.0f ms  (%.0f to %.0f)\n", t, n, m, v[1], v[NR]
			if (csv != "") printf "%s %s,ms,%.1f,,,,,,,,,\n", t, n, m >> csv }'
	done
}

# wan-big:RTT[:LOSS]   a big file: ours at both ends, nc and stock at both ends beside it
# wan-stock:RTT[:LOSS] a big file, stock at one end
# wan-small:RTT        100 files of 4 KiB
# wan-true:RTT         ssh host true, remembered
wan_case() {
	local kind rtt loss wan_warm= d
	local -a list=()
	IFS=: read -r kind rtt loss <<<"$1"
	wan_enter "$rtt" "$loss" || { wan_leave; return; }
	case $kind in
	wan-big)
		for d in up down; do
			wan_rows "$1" "nc-$d=wan_nc $d" "ours-$d=copy ours ours $d $gcm" "stock-$d=copy stock stock $d $gcm"
		done ;;
	wan-stock)
		for d in up down; do
			wan_rows "$1" "nc-$d=wan_nc $d" "to-stock-server-$d=copy ours stock $d $gcm" \
				"from-stock-client-$d=copy stock ours $d $gcm" "stock-$d=copy stock stock $d $gcm"
		done ;;
	wan-small)
		make_tree 100
		wan_warm=1
		for d in up down; do
			wan_rows "$1" "ours-$d=wan_tree ours ours $d" "to-stock-server-$d=wan_tree ours stock $d" \
				"stock-$d=wan_tree stock stock $d"
		done
		;;
	wan-true)
		wan_warm=1
		wan_rows "$1" "ours=wan_login ours ours" "to-stock-server=wan_login ours stock" "from-stock-client=wan_login stock ours" \
			"stock=wan_login stock stock" ;;
	esac
	wan_leave
}
