# lib.sh: what the bench scripts share; to be sourced by bash with $build and $work set: servers of both kinds, timed runs with the
# CPU time and memory of all processes of a side, medians.
#
# Where a cgroup of version 2 can be made (as root), each server and the clients have one, and CPU time is the group's: nobody is
# missed, whoever waits for whom. Elsewhere it is what the listener and the client have waited for, which misses children that
# outlive their parents, and memory is the client's alone.

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

# ---- groups

cgroup_top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
groups=

# cgroup_join NAME: the calling shell ($BASHPID) and what it starts belong to that group.
cgroup_join() {
	[ -z "$groups" ] || echo "$BASHPID" >"$groups.$1/cgroup.procs"
}
cgroup_init() {
	local name
	[ -n "$cgroup_top" ] && [ -w "$cgroup_top" ] || return 0
	groups=$cgroup_top/wsbench.$$
	for name in client ours stock watch; do mkdir "$groups.$name" || { groups=; return 0; }; done
	cgroup_join client || groups=
}
cgroup_done() {
	[ -n "$groups" ] || return 0
	echo $$ >"$cgroup_top/cgroup.procs"
	for name in client ours stock watch; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do rmdir "$groups.$name" 2>/dev/null && break; sleep 0.05; done
	done
	groups=
}
# cgroup_cpu NAME: microseconds that its processes have used so far.
cgroup_cpu() {
	local key value
	while read -r key value; do [ "$key" != usage_usec ] || { group_usec=$value; return; }; done <"$groups.$1/cpu.stat"
}

# ---- servers

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
	local who=$1 log=$work/$1.log
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
	(cgroup_join "$who"; exec "$@" "${binary[$who]}" -D -e -f "$work/$who.conf" -p "${port[$who]}" 2>"$log") &
	pid[$who]=$!
	until grep -q "Server listening" "$log"; do
		kill -0 "${pid[$who]}" 2>/dev/null || { cat "$log" >&2; return 1; }
		sleep 0.02
	done
}
bench_stop_servers() {
	local who
	for who in "${!pid[@]}"; do kill "${pid[$who]}" 2>/dev/null && wait "${pid[$who]}" 2>/dev/null; done
	pid=()
}

# server_alone WHO: waits until the listener has no connection left, two seconds at most.
server_alone() {
	local i p procs
	for ((i = 0; i < 200; i++)); do
		if [ -n "$groups" ]; then
			mapfile -t procs <"$groups.$1/cgroup.procs"
			[ ${#procs[@]} -gt 1 ] || return
		else
			p=$(cat "/proc/${pid[$1]}/task/${pid[$1]}/children")
			[ -n "$p" ] || return
		fi
		sleep 0.01
	done
}

# server_cpu WHO: sets group_usec to the CPU time of the server's connections so far.
server_cpu() {
	local stat
	if [ -n "$groups" ]; then cgroup_cpu "$1"; return; fi
	read -r stat <"/proc/${pid[$1]}/stat"
	# fields 16 and 17 behind the name in parentheses: of children that were waited for, and theirs
	group_usec=$(awk -v hz="$(getconf CLK_TCK)" '{ printf "%d", ($14 + $15) / hz * 1000000 }' <<<"${stat##*)}")
}

# ---- memory

# memory_watch WHO: samples, until it is stopped, the memory (PSS) of all ssh programs of the client's group and of that server's, the
# listener included, every 5 ms. Only for runs that are not timed. memory_stop sets client_kb and server_kb to the largest sums.
memory_watch() {
	watcher=
	[ -n "$groups" ] || return 0
	(cgroup_join watch; exec perl -e '
		use Time::HiRes "sleep";
		my ($out, @groups) = @ARGV;
		my (@most, $stop) = (0, 0);
		$SIG{TERM} = sub { $stop = 1 };
		until ($stop) {
			for my $i (0, 1) {
				my $sum = 0;
				open my $f, "<", "$groups[$i]/cgroup.procs" or next;
				for my $p (<$f>) {
					chomp $p;
					open my $c, "<", "/proc/$p/comm" or next;
					next unless (readline($c) // "") =~ /^(ssh|scp|sftp)/;
					open my $m, "<", "/proc/$p/smaps_rollup" or next;
					while (<$m>) { $sum += $1 if /^Pss:\s+(\d+)/ }
				}
				$most[$i] = $sum if $sum > ($most[$i] // 0);
			}
			sleep 0.005;
		}
		open my $o, ">", $out; print $o "$most[0] $most[1]\n"; close $o;
	' "$work/memory" "$groups.client" "$groups.$1") &
	watcher=$!
}
memory_stop() {
	client_kb=0 server_kb=0
	if [ -z "$watcher" ]; then
		client_kb=$(tail -1 "$work/time" | cut -d' ' -f3)
		return
	fi
	kill "$watcher" && wait "$watcher"
	read -r client_kb server_kb <"$work/memory"
}

# pss_now WHO: KiB of all ssh programs of clients and of this server but its listener, now.
pss_now() {
	local p comm sum=0 kb
	for p in $(cat "$groups.client/cgroup.procs" "$groups.$1/cgroup.procs"); do
		read -r comm 2>/dev/null <"/proc/$p/comm" || continue
		case $comm in ssh*) ;; *) continue ;; esac
		[ "$p" != "${pid[$1]}" ] || continue
		kb=$(awk '/^Pss:/ { print $2 }' "/proc/$p/smaps_rollup")
		sum=$((sum + kb))
	done
	echo $sum
}

# ---- runs

# machine_usec: sets busy_usec to the time that all processors have been busy so far.
machine_usec() {
	local name user nice system idle iowait irq softirq steal rest
	read -r name user nice system idle iowait irq softirq steal rest </proc/stat
	busy_usec=$(((user + nice + system + irq + softirq + steal) * (1000000 / hertz)))
}
hertz=$(getconf CLK_TCK)

# timed WHO COMMAND...: runs it; sets seconds, cpu (seconds of all processes of both sides) and others (the part of all processors'
# time that went to anybody else). Standard output and errors go to files.
timed() {
	local who=$1 begin end status server_before client_before=0 busy_before after
	shift
	server_cpu "$who"
	server_before=$group_usec
	[ -z "$groups" ] || { cgroup_cpu client; client_before=$group_usec; }
	machine_usec
	busy_before=$busy_usec
	begin=${EPOCHREALTIME/./}
	if [ -n "$groups" ]; then
		"$@" >"$work/out" 2>"$work/err"
	else
		/usr/bin/time -o "$work/time" -f '%U %S %M' "$@" >"$work/out" 2>"$work/err"
	fi
	status=$?
	end=${EPOCHREALTIME/./}
	server_alone "$who"
	if [ -n "$groups" ]; then
		cgroup_cpu client
		after=$((group_usec - client_before))
	else
		after=$(tail -1 "$work/time" | awk '{ printf "%d", ($1 + $2) * 1000000 }')
	fi
	server_cpu "$who"
	after=$((after + group_usec - server_before))
	machine_usec
	read -r seconds cpu others <<<"$(awk -v t=$((end - begin)) -v c=$after -v b=$((busy_usec - busy_before)) -v n="$(nproc)" \
		'BEGIN { o = (b - c) / t / n; if (o < 0) o = 0; print t / 1e6, c / 1e6, o }')"
	return $status
}

median() { sort -n | awk '{ t[NR] = $1 } END { print NR ? t[int((NR + 1) / 2)] : "-" }'; }
