#!/bin/sh
# On a fast line what we send to a stock end goes without compression after a while, by new keys, and with it again when the line
# becomes slow (docs/COMPRESSION.md): our ssh to the stock sshd, the stock ssh to our sshd. What arrives is what was sent.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool" "$HELPERS/slow_line"
[ -n "$STOCK_SSH" ] && need_stock_server
make_login || { ok 1 "keys made"; finish; }
HOME=$T
export HOME

random_file "$T/noise" 16000000
# Large pieces: the line is to be what limits, not whoever feeds it.
for i in 1 2 3; do cat "$WS_SRC"/*.c "$WS_SRC"/*/*.c; done | head -c 2000000 >"$T/text"
mkfifo -m 644 "$T/stream"

# through PORT: an unlimited line to that port, which becomes one of 4 MB/s on SIGUSR1. Sets LINE, RELAY.
through() {
	rm -f "$T/line"
	"$HELPERS/slow_line" -b 4000000 "$1" 0:600 4000 >"$T/line" 2>"$T/line.err" </dev/null &
	RELAY=$!
	track $RELAY
	wait_line . "$T/line" && read -r LINE <"$T/line"
}

# Noise until the LOG says that it goes without, six seconds at most; a slow line then, and text until it says that it is back, and
# some more. How many of each: $T/fed.
feed() {	# LOG
	feed_noise=0 feed_text=0
	feed_end=$(($(date +%s) + 6))
	until grep -q 'new keys without it' "$1" || [ "$(date +%s)" -gt $feed_end ]; do
		cat "$T/noise" || return
		feed_noise=$((feed_noise + 1))
	done
	cat "$T/noise" || return
	feed_noise=$((feed_noise + 1))
	kill -USR1 $(children_of $RELAY)
	feed_end=$(($(date +%s) + 15))
	if grep -q 'new keys without it' "$1"; then
		until grep -q 'new keys with it' "$1" || [ "$(date +%s)" -gt $feed_end ]; do
			cat "$T/text" || return
			feed_text=$((feed_text + 1))
		done
	fi
	cat "$T/text" || return
	echo "$feed_noise $((feed_text + 1))" >"$T/fed"
}
again() { for i in $(seq "$1"); do cat "$T/noise"; done; for i in $(seq "$2"); do cat "$T/text"; done; }

# there_and_back NAME LOG WAY OTHER WAY: what arrived is $T/work/got.
there_and_back() {
	read -r n m <"$T/fed" 2>/dev/null || n=0 m=0
	again "$n" "$m" | cmp -s - "$T/work/got" && [ "$n" -gt 0 ]
	ok $? "$1: what arrived" "$2"
	if ! grep -q 'new keys without it' "$2"; then
		skip "$1: without compression" "this machine moves too little"
		return
	fi
	# With RekeyLimit there are other exchanges in between, with the same lists.
	is "$1: without compression and with it again" "$(sed -n "s/.*key exchange [0-9]*: $3 cipher.* compression \([^ ]*\).*/\1/p" "$2" |
		tr -d "\r" | uniq | tr "\n" " ")" "zlib@openssh.com none zlib@openssh.com "
	is "$1: the other direction is what it was" "$(sed -n "s/.*key exchange [0-9]*: $4 cipher.* compression \([^ ]*\).*/\1/p" "$2" | tr -d "\r" | sort -u)" \
		zlib@openssh.com
	is_line "$1: the report tells" 'Compression time at each level: none [0-9.]*%, ' "$2"
	is_line "$1: by the method that was agreed" 'Compression: sent .*(zlib@openssh.com, auto)' "$2"
}

set --
[ -z "$FULL" ] || set -- "RekeyLimit 12M"
start_stock stock_server "$@" "Compression yes" "AuthorizedKeysFile $T/authorized_keys" || { ok 1 "stock sshd started" "$T/stock_server.log"; finish; }
through "$PORT" || { ok 1 "a line" "$T/line.err"; finish; }
: >"$T/up.log"
rm -f "$T/fed"
feed "$T/up.log" | limit 60 "$OURS" -F "$T/client.conf" -p "$LINE" -C -vv peer "cat >$T/work/got" 2>"$T/up.log"
there_and_back up "$T/up.log" "client to server" "server to client"

login_server down "Compression yes" "LogLevel DEBUG2" || { ok 1 "our sshd started"; finish; }
through "$PORT" || { ok 1 "a line" "$T/line.err"; finish; }
rm -f "$T/fed"
feed "$T/down.log" >"$T/stream" &
track $!
limit 60 "$STOCK_SSH" -F "$T/client.conf" ${FULL:+-o RekeyLimit=12M} -p "$LINE" -C peer "cat $T/stream" >"$T/got" 2>"$T/log" </dev/null
wait $!
mv "$T/got" "$T/work/got"
there_and_back down "$T/down.log" "server to client" "client to server"
finish
