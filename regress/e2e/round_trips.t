#!/bin/sh
# Round trips from connect() to the first output of a command, counted by a relay with a clock of its own; and that nothing
# that leaves early says anything about the user to a host whose key was not accepted.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
private_accounts
need "$OURS" "$OUR_SSHD" "$HELPERS/round_trips" "$HELPERS/net_tool"

user=$ME
make_client || skip_all "no keys could be made"
if [ "$WS_PRIVATE" = 1 ]; then
	user=wsuser
	add_account $user 'right horse'
fi
start_ours ours || { ok 1 "our sshd started"; finish; }
ours_port=$PORT ours_pid=$PID
stock_port=
[ -z "$STOCK_SSHD" ] || ! start_stock stock || { stock_port=$PORT stock_pid=$PID; }
relay_port=$(free_port)

# trips WHICH [ssh options]: one connection by the relay; its round trips go to $trips.
trips() {
	which=$1
	shift
	eval "trips_port=\$${which}_port trips_pid=\$${which}_pid"
	limit 120 "$HELPERS/round_trips" -v -l "$relay_port" -s "$trips_pid" -r "$T/trips" "$trips_port" "$OURS" -F "$T/client.conf" \
		-l "$user" -p @PORT@ -o "HostKeyAlias $which" "$@" peer 'echo out' >"$T/out" 2>"$T/err" </dev/null
	status=$?
	trips=$(cat "$T/trips")
	cat "$T/err" "$T/out" >"$T/log"
}
# at_most N NAME
at_most() {
	[ $status = 0 ] && [ "$(cat "$T/out")" = out ] && [ "${trips%.5}" -le "$1" ] && [ "$trips" != "$1.5" ]
	ok $? "$2: $trips, at most $1"
}
forget() { rm -rf "$T/cache"; }

trips ours
at_most 6 "ours, first contact"
trips ours
at_most 5 "ours, remembered"
trips stock
at_most 7 "stock, first contact"
trips stock
at_most 6 "stock, remembered"
finish
