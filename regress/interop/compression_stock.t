#!/bin/sh
# Compression towards the stock sshd: every level, levels that follow the line, raw and packed stretches in one stream, new keys.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
private_accounts
need "$OURS" "$HELPERS/net_tool"
need_stock_server
start_stock plain "Compression yes" || { ok 1 "stock sshd started"; finish; }
plain=$PORT
start_stock rekeys "Compression yes" "RekeyLimit 500K" || { ok 1 "stock sshd started"; finish; }
rekeys=$PORT
make_client
# Stripes: text, what does not shrink, zeros.
for i in 1 2 3; do
	cat "$WS_SRC"/*.c; random_file "$T/part" 300000; cat "$T/part"; head -c 400000 /dev/zero
done >"$T/data"
data_sum=$(sum "$T/data")
for o in CompressionLevel=1 CompressionLevel=2 CompressionLevel=3 CompressionLevel=4 CompressionLevel=5 CompressionLevel=6 CompressionLevel=7 \
	CompressionLevel=8 CompressionLevel=9 CompressionLevel=auto; do
	for port in $plain $rekeys; do
		limit 60 "$OURS" -F "$T/client.conf" -p "$port" -C -o $o -v peer cat <"$T/data" >"$T/out" 2>"$T/log"
		is "there and back, $o" "$? $(sum "$T/out")" "0 $data_sum"
		is_line "what it did, $o" "^Compression: sent .*zlib@openssh.com" "$T/log"
	done
done
finish
