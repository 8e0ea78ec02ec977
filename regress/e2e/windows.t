#!/bin/sh
# Receive windows: what is stated on the wire, what makes them grow and what keeps them from it. Counts windows, not seconds.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$OUR_SSHD"
make_client || skip_all "no keys could be made"

# ---- what is stated

if [ -n "$STOCK_SSHD" ] && start_stock stock "LogLevel DEBUG3"; then
	# stated NAME WINDOW [OPTION...]: the first window that the client states in its CHANNEL_OPEN
	stated() {
		stated_name=$1 stated_window=$2
		shift 2
		: >"$T/stock.log"
		ours $PORT "$@" -o "HostKeyAlias peer" peer true >"$T/out" 2>"$T/err" </dev/null
		is_line "$stated_name" "ctype session rchan 0 win $stated_window max 32768" "$T/stock.log"
	}
	stated "2 MiB" 2097152
	stated "HPNDisabled changes growth only" 2097152 -o HPNDisabled=yes
	stated "HPNBufferSize is the first window" 524288 -o HPNBufferSize=512
	stated "a large one" 8388608 -o HPNBufferSize=8192
	if have ss; then
		for kib in 64 200; do
			ours $PORT -o TcpRcvBuf=$kib peer "ss -Htmn 'dport = :$PORT'" >"$T/out" 2>"$T/err" </dev/null
			is_line "TcpRcvBuf $kib is what the socket gets (Linux doubles it)" "rb$((kib * 2048))," "$T/out"
		done
	else
		skip "TcpRcvBuf" "no ss here"
	fi
else
	skip "windows as stated" "no stock sshd here"
fi

# ---- how they grow: over a link with a round trip of 100 ms, from a first window that even a busy machine fills

if ! far_link 50; then
	skip "growth" "no link can be made here"
	finish
fi
start_beyond() {	# NAME LINE...
	start_far "$OUR_SSHD" "$@" "HPNBufferSize 256" "PerSourcePenalties no" "LogLevel DEBUG2"
}
over_link() {		# OPTION... -- COMMAND, with input from $input
	limit 60 $FROM_NEAR "$OURS" -vv -F "$T/client.conf" -p "$PORT" -o Hostname=$FAR_ADDRESS -o HostKeyAlias=peer \
		-o StrictHostKeyChecking=no -o UserKnownHostsFile="$T/hosts" -o HPNBufferSize=256 "$@" >"$T/out" 2>"$T/err" <"$input"
}
bytes=4194304 input=/dev/null
head -c $bytes /dev/zero >"$T/zeros"
grown='Window growth to'

start_beyond beyond || { ok 1 "our sshd started beyond the link"; finish; }
over_link peer "head -c $bytes /dev/zero"
is "4 MiB down" "$? $(wc -c <"$T/out")" "0 $bytes"
is_line "our window grew" "$grown" "$T/err"
for option in HPNDisabled=yes TcpRcvBufPoll=no; do
	over_link -o $option peer "head -c $bytes /dev/zero"
	is "4 MiB down with $option" "$? $(wc -c <"$T/out")" "0 $bytes"
	no_line "it did not grow" "$grown" "$T/err"
done
input=$T/zeros
over_link peer "wc -c"
is "4 MiB up" "$? $(tr -d ' ' <"$T/out")" "0 $bytes"
is_line "the server's window grew" "$grown" "$T/beyond.log"
stop $PID

for option in "HPNDisabled yes" "TcpRcvBufPoll no"; do
	start_beyond held "$option" || { ok 1 "our sshd started with $option"; continue; }
	over_link peer "wc -c"
	is "4 MiB up, server with $option" "$? $(tr -d ' ' <"$T/out")" "0 $bytes"
	no_line "the server's window did not grow" "$grown" "$T/held.log"
	stop $PID
done
finish
