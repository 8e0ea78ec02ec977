#!/bin/sh
# What compression.sh measures with: its data are the same bytes everywhere, and its lines carry what they should.
. "$(dirname "$0")/../lib/ssh.sh"
data=$WS_BUILD/regress/bench/compression_data
need "$data" "$OURS" "$OUR_SSHD"

sum() { "$data" "$1" 8388608 | sha256sum | cut -d' ' -f1; }
is "data of set high" "$(sum high)" 2de54c515bff569b21bd6a23f23ea3bdade8ac39ea02828ffe5982c325e09029
is "data of set hard" "$(sum hard)" fd7b552badf0085cd687fbf1f054b617f9659cf8c8526cf100389b1b628bc2d1
is "data of set mixed" "$(sum mixed)" f60d79946802d5c8f659e2e1bcf0fab52b7c5579c26ccb2a8a79746bea6a5633
"$data" mixed 3000000 >"$T/longer"
is "a shorter one is the beginning of a longer one" "$("$data" mixed 1500000 | cmp - "$T/longer" 2>&1 | grep -c EOF)" 1

if [ "$(id -u)" != 0 ] || ! command -v bash >/dev/null || ! unshare -n sh -c 'ip link add name wsa type veth peer name wsb && tc qdisc add dev wsa root tbf rate 1mbit burst 2k limit 4k' 2>/dev/null; then
	skip "a line of 494 KB/s" "needs root, bash, ip and tc with tbf"
	finish
fi

# A copy of 400 KB over a line of 494 KB/s, then with the limit gone: KB/s of both, setting up included in the second only.
export T
bash -s >"$T/rates" 2>"$T/rates.err" <<'END'
here=$WS_SRC/regress/bench build=$WS_BUILD work=$T/bench user=$(id -un)
mkdir -p "$work/far" && chmod 777 "$work/far"
. "$here/lib.sh"
. "$here/compression_lib.sh"
trap links_down EXIT
bench_keys
cipher=aes128-gcm@openssh.com
links_begin && link_up 0 494 && serve 0 off $cipher || exit 1
: >"$work/nothing"
file=$(data_file hard 400000)
copy 0 $cipher off "$work/nothing" "$work/log" && copy 0 $cipher off "$work/nothing" "$work/log" || exit 1
empty=$seconds
copy 0 $cipher off "$file" "$work/log" || exit 1
awk "BEGIN { printf \"%d\n\", 400 / ($seconds - $empty) }"
line_shape 0 unlimited
file=$(data_file hard 8000000)
copy 0 $cipher off "$file" "$work/log" || exit 1
awk "BEGIN { printf \"%d\n\", 8000 / $seconds }"
END
limited=$(sed -n 1p "$T/rates") free=$(sed -n 2p "$T/rates")
[ "${limited:-0}" -ge 350 ] && [ "$limited" -le 520 ]
ok $? "a line of 494 KB/s carries about that: ${limited:-nothing}"
[ "${free:-0}" -gt 2000 ]
ok $? "the limit goes away in the middle of a link's life: ${free:-nothing}" "$T/rates.err"
finish
