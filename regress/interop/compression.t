#!/bin/sh
# Compression with others and among us: every level both ways, levels that follow the line, raw and packed stretches in one stream.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool"
# Stripes: text, what does not shrink, zeros.
for i in 1 2 3; do
	cat "$WS_SRC"/*.c; random_file "$T/part" 300000; cat "$T/part"; head -c 400000 /dev/zero
done >"$T/data"
chmod 644 "$T/data"
data_sum=$(sum "$T/data")

# both_ways NAME CLIENT CONF PORT OPTIONS...
both_ways() {
	name=$1 program=$2 conf=$3 port=$4
	shift 4
	limit 60 "$program" -F "$conf" -p "$port" -C "$@" peer "cat >$T/work/there; cat $T/work/there" <"$T/data" >"$T/out" 2>"$T/log"
	is "$name: $*" "$? $(sum "$T/work/there") $(sum "$T/out")" "0 $data_sum $data_sum"
	rm -f "$T/work/there"
}

make_login && login_server plain "Compression yes" || { ok 1 "our sshd started"; finish; }
ours=$PORT
login_server rekeys "Compression yes
CompressionLevel 4
RekeyLimit 500K" || { ok 1 "our sshd started"; finish; }
rekeys=$PORT
for o in CompressionLevel=1 CompressionLevel=6 CompressionLevel=9 CompressionLevel=auto; do
	for z in yes no; do
		both_ways "ours to ours, zstd $z" "$OURS" "$T/client.conf" $ours -o $o -o CompressionZstd=$z
		both_ways "ours to ours, zstd $z, new keys" "$OURS" "$T/client.conf" $rekeys -o $o -o CompressionZstd=$z
	done
done
if [ -n "$STOCK_SSH" ]; then
	both_ways "stock to ours" "$STOCK_SSH" "$T/client.conf" $ours
	both_ways "stock to ours, new keys" "$STOCK_SSH" "$T/client.conf" $rekeys
fi
finish
