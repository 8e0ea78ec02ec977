#!/bin/sh
# The switch to cipher none after authentication: every combination of what server and client permit and ask for, with a capture of
# all that passes: data shows where it should and nowhere else; names, passwords and keys never do.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool" "$HELPERS/on_pty"
"$OURS" -Q cipher-auth >/dev/null 2>&1
make_client

# Accounts whose names are like nothing else, where there can be some.
user=$ME password= tester=
if private_accounts; then
	user=zwnonematrixuser password=Zq-secret-of-the-matrix-81 tester=zwothermatrixuser
	add_account $user $password
	add_account $tester $password
fi
sed "s/^User .*/User $user/" "$T/client.conf" >"$T/user.conf"
printf '#!/bin/sh\necho "%s"\n' "$password" >"$T/askpass"
chmod 755 "$T/askpass"

keys="AuthorizedKeysFile .ssh/authorized_keys $T/authorized_keys"
start_ours off "$keys" || { ok 1 "sshd started"; finish; }
off=$PORT
start_ours on "NoneEnabled yes" "$keys" || { ok 1 "sshd started"; finish; }
on=$PORT
start_ours mac "NoneEnabled yes" "NoneMacEnabled yes" "$keys" || { ok 1 "sshd started"; finish; }
mac=$PORT
ports="port $off or port $on or port $mac"
stock=
if [ -n "$STOCK_SSHD" ] && start_stock stock "$keys"; then
	stock=$PORT
	ports="$ports or port $stock"
fi

# ---- the capture

tcpdump=$(find_program tcpdump)
through=
if [ "$(id -u)" = 0 ] && [ -n "$tcpdump" ]; then
	"$tcpdump" -Z root -i lo -U -B 65536 --immediate-mode -w "$T/capture" $ports 2>"$T/tcpdump.log" &
	tcpdump_pid=$!
	track $tcpdump_pid
	wait_line 'listening on' "$T/tcpdump.log" || tcpdump=
else
	tcpdump=
fi
[ -n "$tcpdump" ] || through="$HELPERS/net_tool relay 127.0.0.1 %p 0 $T/capture"

# On loopback all is captured once the last mark was.
settled() { grep -qa "$1" "$T/capture"; }
seen() { grep -ca -e "$1" "$T/capture"; }

# ---- one cell

cell=0
# run PORT ARGUMENT...: marked lines go to the server and come back changed. Sets status, good (data was right), marks
run() {
	cell=$((cell + 1)) run_port=$1
	shift
	up=$(printf 'upward-%03d-mark' $cell) down=$(printf 'downward-%03d-mark' $cell)
	yes "$up" | head -n 4000 >"$T/in"
	set -- -F "$T/user.conf" -p "$run_port" "$@"
	[ -z "$through" ] || set -- -o "ProxyCommand $through" "$@"
	limit 60 "$OURS" -v "$@" peer "sed s/^up/down/" <"$T/in" >"$T/out" 2>"$T/log"
	status=$?
	sed 's/^up/down/' "$T/in" | cmp -s - "$T/out" && good=yes || good=no
	grep -v '^debug' "$T/log" | tr -d '\r' >"$T/err"
	echo "$cell $up $down" >>"$T/cells"
	final=$(tr -d '\r' <"$T/log" | sed -n 's/.*kex: client->server cipher: \([^ ]*\) MAC: \([^ ]*\) .*/\1 \2/p' | tail -n 1)
	back=$(tr -d '\r' <"$T/log" | sed -n 's/.*kex: server->client cipher: \([^ ]*\) MAC: \([^ ]*\) .*/\1 \2/p' | tail -n 1)
	[ "$final" = "$back" ] || final="$final, back $back"
}

# expect CELL clear|hidden|nothing: checked at the end, when the capture is complete
expect() { echo "$1 $2 $3" >>"$T/expected"; }

# judge NAME WANTED REASON: WANTED is hidden, none, nonemac or refused; the reason stands in the one line that the user reads.
judge() {
	name=$1
	case $2 in
	hidden) want_status=0 want_good=yes want_cipher='*@openssh.com *' want_seen=hidden ;;
	none) want_status=0 want_good=yes want_cipher='none *@openssh.com' want_seen=clear ;;
	nonemac) want_status=0 want_good=yes want_cipher='none none' want_seen=clear ;;
	refused) want_status=255 want_good=no want_cipher='*' want_seen=nothing ;;
	esac
	bad=
	[ $status = $want_status ] || bad="$bad status $status;"
	[ $good = $want_good ] || bad="$bad data right: $good;"
	case $final in $want_cipher) ;; *) bad="$bad cipher and MAC: $final;" ;; esac
	[ -z "$3" ] || [ "$(grep -c -e "$3" "$T/err")" = 1 ] || bad="$bad not one line with '$3';"
	case $2 in
	none) lines=1 warned='ENABLED NONE CIPHER' ;;
	nonemac) lines=2 warned='ENABLED NONE' ;;
	*) lines=0 warned='ENABLED NONE' ;;
	esac
	[ "$(grep -c "$warned" "$T/err")" = $lines ] || bad="$bad warnings;"
	[ -z "$bad" ]
	ok $? "$name: $2" "$T/err" || diag "$bad"
	echo "$cell $want_seen $name" >>"$T/expected"
}

# ---- the matrix

for server in off on mac; do
	for enabled in unset yes no; do
		for switch in no yes; do
			for none_mac in no yes; do
				case $server in off) p=$off ;; on) p=$on ;; mac) p=$mac ;; esac
				set -- -o NoneSwitch=$switch -o NoneMacEnabled=$none_mac
				[ $enabled = unset ] || set -- "$@" -o NoneEnabled=$enabled
				reason=
				case $switch-$enabled-$server-$none_mac in
				no-*) wanted=hidden ;;
				yes-no-*) wanted=refused reason='NONE cipher switch not possible: NoneEnabled is no' ;;
				yes-*-off-*) wanted=refused reason='NONE cipher switch not possible: the server does not permit' ;;
				yes-*-mac-yes) wanted=nonemac ;;
				*) wanted=none ;;
				esac
				run $p "$@"
				judge "server $server, client enabled=$enabled switch=$switch mac=$none_mac" $wanted "$reason"
			done
		done
	done
done
for enabled in unset yes no; do
	set -- -o NoneSwitch=yes -o NoneSwitchFallback=yes
	[ $enabled = unset ] || set -- "$@" -o NoneEnabled=$enabled
	run $off "$@"
	judge "server off, client enabled=$enabled, fallback" hidden 'NONE cipher switch not possible: .*going on encrypted'
done
run $on -o NoneEnabled=yes -o NoneSwitch=yes -o NoneSwitchFallback=yes
judge "server on, fallback that is not needed" none

if [ -n "$stock" ]; then
	run $stock -o NoneSwitch=yes
	judge "stock server asked for none" refused 'NONE cipher switch not possible: '
	run $stock -o NoneSwitch=yes -o NoneMacEnabled=yes -o NoneSwitchFallback=yes
	judge "stock server asked for none, fallback" hidden 'NONE cipher switch not possible: .*going on encrypted'
	run $stock -o NoneEnabled=yes
	judge "stock server, none permitted but not asked for" hidden
fi

# ---- other ciphers and compression before it

for more in Ciphers=aes128-gcm@openssh.com Ciphers=aes256-ctr Ciphers=chacha20-poly1305@openssh.com \
	KexAlgorithms=ecdh-sha2-nistp256 HostKeyAlgorithms=rsa-sha2-256; do
	run $on -o NoneSwitch=yes -o $more
	judge "after $more" none
done
run $on -o NoneSwitch=yes -o Compression=yes
is "with compression: status" "$status" 0
is "with compression: data" "$good" yes
is "with compression: cipher" "${final%% *}" none

# ---- scp: a file of marked lines there, another back

# run_scp PORT ARGUMENT...: sets what run sets
run_scp() {
	cell=$((cell + 1)) run_port=$1
	shift
	up=$(printf 'upward-%03d-mark' $cell) down=$(printf 'downward-%03d-mark' $cell)
	yes "$up" | head -n 4000 >"$T/in"
	yes "$down" | head -n 4000 >"$T/work/down"
	rm -f "$T/work/up" "$T/out"
	set -- -F "$T/user.conf" -P "$run_port" "$@"
	[ -z "$through" ] || set -- -o "ProxyCommand $through" "$@"
	limit 60 "$OUR_SCP" -v "$@" "$T/in" peer:"$T/work/up" >"$T/log" 2>&1 </dev/null
	status=$?
	if [ $status = 0 ]; then
		limit 60 "$OUR_SCP" -q "$@" peer:"$T/work/down" "$T/out" >>"$T/log" 2>&1 </dev/null
		status=$?
	fi
	cmp -s "$T/in" "$T/work/up" && cmp -s "$T/work/down" "$T/out" && good=yes || good=no
	grep -v '^debug\|WARNING: ENABLED' "$T/log" | tr -d '\r' >"$T/err"
	# The second scp says the same once more.
	grep 'WARNING: ENABLED' "$T/log" | sort -u >>"$T/err"
	echo "$cell $up $down" >>"$T/cells"
	final=$(tr -d '\r' <"$T/log" | sed -n 's/.*kex: client->server cipher: \([^ ]*\) MAC: \([^ ]*\) .*/\1 \2/p' | tail -n 1)
}
if [ -x "$OUR_SCP" ]; then
	mkdir "$T/work"
	chmod 777 "$T/work"
	run_scp $on
	judge "scp" hidden
	run_scp $on -oNoneSwitch=yes
	judge "scp -oNoneSwitch=yes" none
	run_scp $on -oNoneEnabled=yes -oNoneSwitch=yes
	judge "scp -oNoneEnabled=yes -oNoneSwitch=yes" none
	run_scp $mac -oNoneEnabled=yes -oNoneSwitch=yes -oNoneMacEnabled=yes
	judge "scp with none MAC" nonemac
	run_scp $on -oNoneSwitch=yes -O
	judge "scp -O -oNoneSwitch=yes" none
	run_scp $off -oNoneSwitch=yes
	judge "scp -oNoneSwitch=yes, server off" refused 'NONE cipher switch not possible: the server does not permit'
	run_scp $off -oNoneSwitch=yes -oNoneSwitchFallback=yes
	status_was=$status
	is "scp, server off, fallback" "$status_was $good ${final%% *}" "0 yes chacha20-poly1305@openssh.com"
	echo "$cell hidden scp, server off, fallback" >>"$T/expected"
	[ -z "$stock" ] || { run_scp $stock -oNoneSwitch=yes; judge "scp, stock server asked for none" refused 'NONE cipher switch not possible: '; }
fi

# ---- in a configuration file

{ echo "NoneSwitch yes"; cat "$T/user.conf"; } >"$T/switch.conf"
{ echo "NoneSwitchFromFile yes"; echo "NoneEnabled yes"; echo "NoneSwitch yes"; cat "$T/user.conf"; } >"$T/allowed.conf"
mv "$T/user.conf" "$T/plain.conf"
cp "$T/switch.conf" "$T/user.conf"
run $on
judge "NoneSwitch in a file alone" hidden 'NoneSwitchFromFile yes'
cp "$T/allowed.conf" "$T/user.conf"
run $on
judge "NoneSwitch in a file with NoneSwitchFromFile" none
run $on -o NoneSwitch=no
judge "NoneSwitch in a file, no on the command line" hidden
run $on -o NoneEnabled=no
judge "NoneSwitch in a file, NoneEnabled no on the command line" refused 'NoneEnabled is no'
mv "$T/plain.conf" "$T/user.conf"

# ---- Match on the server

for who in "$user" "nobody-else"; do
	start_ours match "NoneEnabled no" "$keys" || { ok 1 "sshd started"; finish; }
	stop $PID
	printf 'Match User %s\n\tNoneEnabled yes\n' "$who" >>"$T/match.conf"
	: >"$T/match.log"
	"$OUR_SSHD" -D -f "$T/match.conf" -E "$T/match.log" </dev/null >"$T/log" 2>&1 &
	PID=$!
	track $PID
	wait_line 'Server listening' "$T/match.log"
	run $PORT -o NoneSwitch=yes
	# This server came after the capture began.
	[ "$who" = "$user" ] && want="0 yes none" || want="255 no"
	is "NoneEnabled in Match User $who" "$status $good$([ $status != 0 ] || echo " ${final%% *}")" "$want"
	sed '$d' "$T/cells" >"$T/cells.new" && mv "$T/cells.new" "$T/cells"
	stop $PID
done

# ---- a terminal

set -- -F "$T/user.conf" -p "$on" -o NoneSwitch=yes
limit 60 "$HELPERS/on_pty" -- "$OURS" "$@" -t peer 'test -t 0 && echo hidden-terminal-mark' >"$T/out" 2>"$T/log"
is "with a terminal: status" $? 0
is_line "with a terminal: works" 'hidden-terminal-mark' "$T/out"
is_line "with a terminal: a note" 'terminal' "$T/out"
limit 60 "$HELPERS/on_pty" -- "$OURS" "$@" peer 'test -t 0 || echo hidden-no-terminal' >"$T/out" 2>"$T/log"
is_line "a command on a terminal without -t has none: it switches" 'ENABLED NONE CIPHER' "$T/out"
limit 60 "$OURS" "$@" -s peer nosuchsubsystem >"$T/out" 2>"$T/log" </dev/null
is_line "a subsystem has no terminal: it switches" 'ENABLED NONE CIPHER' "$T/log"

# ---- a password

if [ -n "$password" ]; then
	start_ours pam "UsePAM no" "NoneEnabled yes" "PubkeyAuthentication no" "$keys"
	ports_pam=$PORT
	sed 's/^BatchMode .*/BatchMode no/' "$T/user.conf" >"$T/password.conf"
	mv "$T/user.conf" "$T/plain.conf"
	mv "$T/password.conf" "$T/user.conf"
	DISPLAY=:0 SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force
	export DISPLAY SSH_ASKPASS SSH_ASKPASS_REQUIRE
	through_before=$through
	through="$HELPERS/net_tool relay 127.0.0.1 %p 0 $T/capture.password"
	run $ports_pam -o NoneSwitch=yes -o PreferredAuthentications=password
	through=$through_before
	is "logged in by password, then none" "$status $good ${final%% *}" "0 yes none"
	is_line "its data is in clear" "$up" "$T/capture.password"
	no_line "the password is not" "$password" "$T/capture.password"
	no_line "nor is the user's name" "$user" "$T/capture.password"
	sed '$d' "$T/cells" >"$T/cells.new" && mv "$T/cells.new" "$T/cells"
	unset DISPLAY SSH_ASKPASS SSH_ASKPASS_REQUIRE
	mv "$T/plain.conf" "$T/user.conf"
else
	skip "a password before none" "no private accounts"
fi

# ---- what was captured

run $mac -o NoneSwitch=yes -o NoneMacEnabled=yes
judge "a last one" nonemac
wait_until 10 settled "$down"
ok $? "the capture is complete" "$T/tcpdump.log"
while read -r number up down; do
	line=$(grep "^$number " "$T/expected") || continue
	want=$(echo "$line" | cut -d' ' -f2)
	[ "$(seen "$up")" -gt 0 ] && up_seen=clear || up_seen=hidden
	[ "$(seen "$down")" -gt 0 ] && down_seen=clear || down_seen=hidden
	[ $want = nothing ] && want=hidden
	is "on the wire: $(echo "$line" | cut -d' ' -f3-)" "$up_seen $down_seen" "$want $want"
done <"$T/cells"
is "the user's name is never seen" "$(seen "$user")" 0
[ -z "$password" ] || is "nor a password" "$(seen "$password")" 0

# has_bytes FILE HEX...: how many of these strings of bytes stand in the file
has_bytes() {
	perl -e 'my $f = shift; open(F, "<", $f) or die; binmode F; local $/; my $d = <F>; my $n = 0;
		for (@ARGV) { my $k = pack("H*", $_); $n++ if index($d, $k) >= 0 } print "$n\n"' "$@"
}
# raw_key FILE: the 32 bytes of the public and of the private half of an ed25519 key
raw_key() {
	perl -MMIME::Base64 -e 'local $/; open(F, "<", $ARGV[0]) or die; my $t = <F>; $t =~ s/-----.*?-----//g;
		my $d = decode_base64($t); my $at = rindex($d, "ssh-ed25519"); my $pub = substr($d, $at + 15, 32);
		print unpack("H*", $pub), " ", unpack("H*", substr($d, $at + 51, 32)), "\n"' "$1"
}
have perl && {
	set -- $(raw_key "$T/id") $(raw_key "$T/host_ed25519")
	# The host's public key is no secret; it shows that this test sees what is there.
	is "the host's public key is seen" "$(has_bytes "$T/capture" "$3")" 1
	is "the user's key, public or private, and the host's private key are not" "$(has_bytes "$T/capture" "$1" "$2" "$4")" 0
}
[ -z "$tcpdump" ] || end $tcpdump_pid

# ---- new keys later

size=${FULL:+4294967296}
size=${size:-8000000}
every=${FULL:+64M}
every=${every:-1M}
random_file "$T/block" 8000000
stream() { if [ -n "$FULL" ]; then while cat "$T/block"; do :; done 2>/dev/null | head -c $size; else cat "$T/block"; fi; }
stream_sum=$(stream | sha256sum)
for by in client server; do
	for none_mac in no yes; do
		limit_server=default limit_client=default
		[ $by = server ] && limit_server=$every || limit_client=$every
		start_ours often "NoneEnabled yes" "NoneMacEnabled yes" "$keys" "RekeyLimit $limit_server"
		set -- -F "$T/user.conf" -p $PORT -v -E "$T/rekey.log" -o NoneSwitch=yes -o NoneMacEnabled=$none_mac -o RekeyLimit=$limit_client
		rm -f "$T/rekey.log"
		got=$(stream | limit 1800 "$OURS" "$@" peer "sha256sum; cat $T/block" 2>"$T/log" | { read -r line; echo "$line"; cat >"$T/out"; })
		is "new keys by the $by, none MAC $none_mac: up" "$got" "$stream_sum"
		cmp "$T/block" "$T/out" >"$T/log" 2>&1
		ok $? "new keys by the $by, none MAC $none_mac: down"
		count=$(grep -c 'kex: client->server cipher: none' "$T/rekey.log")
		[ $count -ge 8 ]
		ok $? "new keys by the $by, none MAC $none_mac: $count exchanges on none" "$T/rekey.log"
		is "new keys by the $by, none MAC $none_mac: never back" \
			"$(grep 'kex: client->server cipher: ' "$T/rekey.log" | sed 1d | grep -vc 'cipher: none')" 0
		stop $PID
	done
done
finish
