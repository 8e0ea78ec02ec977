# lib.sh: what the bench scripts share; to be sourced by bash with $build and $work set: servers of both kinds, timed runs with the
# CPU time of both sides, medians, the table.

cc_file=/proc/sys/net/ipv4/tcp_congestion_control

# cubic for all sides, where that can be set: bbr paces loopback to a fraction of what it carries.
bench_use_cubic() {
	cc_was=$(cat $cc_file)
	[ -w $cc_file ] && echo cubic >$cc_file
}
bench_restore_cc() {
	[ -z "${cc_was:-}" ] || { [ -w $cc_file ] && echo "$cc_was" >$cc_file; }
}

free_port() {
	perl -MSocket -e 'socket(S,PF_INET,SOCK_STREAM,0);bind(S,sockaddr_in(0,INADDR_LOOPBACK));print((sockaddr_in(getsockname S))[0])'
}

declare -A port pid binary
stock_sshd=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v sshd)

# bench_keys: a user's key, a host key, the file of those who may come.
bench_keys() {
	ssh-keygen -q -t ed25519 -N '' -f "$work/key"
	ssh-keygen -q -t ed25519 -N '' -f "$work/host_key"
	cp "$work/key.pub" "$work/authorized_keys"
	chmod 711 "$work"
	chmod 644 "$work/authorized_keys"
}

# bench_serve ours|stock [COMMAND BEFORE]: starts that sshd; a command before it may put it into a namespace. address: where it listens.
bench_serve() {
	local who=$1 log=$work/$1.log tries=0
	shift
	binary[$who]=$build/sshd
	[ "$who" = ours ] || binary[$who]=$stock_sshd
	{
		printf '%s\n' "ListenAddress ${address:-127.0.0.1}" "HostKey $work/host_key" "AuthorizedKeysFile $work/authorized_keys" \
			"PidFile $work/$who.pid" "StrictModes no" "PermitRootLogin yes" "MaxStartups 100" "UsePAM no" \
			"Subsystem sftp internal-sftp"
		[ "$who" != ours ] || printf '%s\n' "NoneEnabled yes" "NoneMacEnabled yes"
	} >"$work/$who.conf"
	mkdir -p /run/sshd
	port[$who]=$(free_port)
	: >"$log"
	"$@" "${binary[$who]}" -D -e -f "$work/$who.conf" -p "${port[$who]}" 2>"$log" &
	pid[$who]=$!
	until grep -q "Server listening" "$log"; do
		kill -0 "${pid[$who]}" 2>/dev/null || { cat "$log" >&2; return 1; }
		tries=$((tries + 1))
		sleep 0.02
	done
}
bench_stop_servers() {
	for who in "${!pid[@]}"; do kill "${pid[$who]}" 2>/dev/null; done
	pid=()
}

# server_cpu WHO: CPU seconds of the server's ended connections so far.
server_cpu() {
	local p=${pid[$1]}
	# fields 16 and 17 behind the name in parentheses: of children that were waited for, and theirs
	sed 's/.*) //' "/proc/$p/stat" | awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }'
}

# timed WHO COMMAND...: runs it, sets seconds, cpu (both sides), peak_kb (client). Standard output and errors go to files.
timed() {
	local who=$1 before after begin end status
	shift
	before=$(server_cpu "$who")
	begin=$EPOCHREALTIME
	/usr/bin/time -o "$work/time" -f '%U %S %M' "$@" >"$work/out" 2>"$work/err"
	status=$?
	end=$EPOCHREALTIME
	# The listener has seen its connection end when the monitor has been waited for.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		after=$(server_cpu "$who")
		[ "$after" != "$before" ] && break
		sleep 0.02
	done
	seconds=$(awk "BEGIN { print $end - $begin }")
	read -r u s peak_kb <<<"$(tail -1 "$work/time")"
	cpu=$(awk "BEGIN { print $u + $s + $after - $before }")
	return $status
}

median() { sort -n | awk '{ t[NR] = $1 } END { print NR ? t[int((NR + 1) / 2)] : "-" }'; }
