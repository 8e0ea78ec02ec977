#!/bin/sh
# Levels that change in mid-stream, and fixed ones, with everybody who has zlib@openssh.com: what we send is the same at the other end.
# The line is slow at first and fast then (slow_line), so automatic levels must change, which the log shows.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OURS" "$OUR_SSHD" "$HELPERS/net_tool" "$HELPERS/slow_line"
make_login || { ok 1 "keys made"; finish; }
HOME=$T
export HOME
SHAPE="300:0.8 12000:0.6 0" LEVELS="2 5 9"
[ -z "$FULL" ] || { SHAPE="200:1.5 3000:1 400:1 0"; LEVELS="1 2 3 4 5 6 7 8 9"; }

# Text, and stripes for fixed levels: text, what does not shrink, zeros.
for i in 1 2 3 4 5 6 7 8; do cat "$WS_SRC"/*.c "$WS_SRC"/client/*.c "$WS_SRC"/server/*.c; done >"$T/text"
[ -z "$FULL" ] || { cat "$T/text" "$T/text" >"$T/twice"; mv "$T/twice" "$T/text"; }
random_file "$T/part" 100000
for i in 1 2 3; do head -c 150000 "$T/text"; cat "$T/part"; head -c 100000 /dev/zero; done >"$T/stripes"
chmod 644 "$T/text" "$T/stripes"
text_sum=$(sum "$T/text") stripes_sum=$(sum "$T/stripes")

# through PORT: a line of the shape to that port. Sets LINE.
through() {
	rm -f "$T/line"
	"$HELPERS/slow_line" "$1" $SHAPE >"$T/line" 2>"$T/line.err" </dev/null &
	track $!
	wait_line . "$T/line" && read -r LINE <"$T/line"
}
# levels_in FILE: how many different levels were used, raw included
levels_in() { sed -n 's/.*compression: level \([0-9]\) from byte.*/\1/p' "$1" | sort -u | wc -l; }

# Jobs run beside each other, for lines are idle: job NAME PROGRAM... leaves the sum of what arrived in $T/NAME.sum
jobs=
job() {
	job_name=$1
	shift
	{ "$@" >"$T/$job_name.out" 2>"$T/$job_name.err"; echo $? >"$T/$job_name.status"; } &
	jobs="$jobs $!"
}
finish_jobs() { wait $jobs; jobs=; }

# ---- our ssh sends: to the stock sshd, dropbear, asyncssh

up() {	# PORT OPTION...
	up_port=$1
	shift
	limit 60 "$OURS" -F "$T/client.conf" -p "$up_port" -C "$@" peer "sha256sum | cut -c 1-64"
}
servers=
if [ -n "$STOCK_SSHD" ] && start_stock stock_server "Compression yes" "AuthorizedKeysFile $T/authorized_keys"; then
	servers="$servers stock:$PORT"
fi
if have dropbear dropbearkey && [ -n "$PASSWORD" ]; then
	dropbearkey -t ed25519 -f "$T/db_host" >"$T/log" 2>&1
	dropbearkey -y -f "$T/db_host" 2>/dev/null | awk '/^ssh-/ { print "* " $1 " " $2 }' >>"$T/known_hosts"
	PORT=$(free_port)
	# With its own window of 24 KB all is under way at once, and in a relay no queue is to be seen.
	dropbear -F -E -W 1000000 -p "127.0.0.1:$PORT" -P "$T/db.pid" -r "$T/db_host" >"$T/db.log" 2>&1 </dev/null &
	track $!
	listening() { "$HELPERS/net_tool" relay 127.0.0.1 "$PORT" </dev/null >/dev/null 2>&1; }
	wait_line 'Not backgrounding' "$T/db.log" && wait_until 10 listening && servers="$servers dropbear:$PORT"
fi
if find_python asyncssh; then
	HOST_KEY_FILES=$T/host_ed25519 AUTHORIZED=$T/authorized_keys COMPRESSION=none,zlib@openssh.com "$PYTHON" -W ignore \
		"$WS_SRC/regress/interop/asyncssh_server.py" >"$T/as.port" 2>"$T/as.log" </dev/null &
	track $!
	wait_line . "$T/as.port" 30 && read -r PORT <"$T/as.port" && servers="$servers asyncssh:$PORT"
fi
up_changing() { for s in $servers; do through "${s#*:}"; job "up.${s%:*}" up_from "$T/text" "$LINE" -vv; done; }
up_from() { up_file=$1; shift; up "$@" <"$up_file"; }

# ---- our sshd sends: to the stock ssh, dbclient, plink, paramiko

ports= matches=
for l in $LEVELS; do
	p=$(free_port)
	while case " $ports " in *" $p "*) true ;; *) false ;; esac; do p=$(free_port); done
	ports="$ports $p"
	matches="$matches
Match LocalPort $p
CompressionLevel $l
CompressionMode fixed"
done
set --
for p in $ports; do set -- "$@" "ListenAddress 127.0.0.1:$p"; done
have dropbearkey && dropbearkey -t ed25519 -f "$T/db_id" >"$T/log" 2>&1 &&
	dropbearkey -y -f "$T/db_id" 2>/dev/null | grep '^ssh-ed25519' >>"$T/authorized_keys"
login_server fixed "$@" "Compression yes$matches
Match all" || { ok 1 "our sshd started"; finish; }
have puttygen && puttygen "$T/id" -o "$T/id.ppk" >"$T/log" 2>&1
print_of() { "${STOCK_KEYGEN:-$OUR_KEYGEN}" -lf "$1" | awk '{ print $2 }'; }

# down_NAME PORT FILE: the sum of what it gets
down_stock() { limit 60 "$STOCK_SSH" -F "$T/client.conf" -p "$1" -C peer "cat $2" | sum /dev/stdin; }
# A slow reader lets dbclient forget to look whether its last channel is closed, until something wakes it: -K.
down_dbclient() { limit 60 dbclient -q -K 1 -y -y -W 1000000 -i "$T/db_id" -p "$1" "$LOGIN@127.0.0.1" "cat $2" | sum /dev/stdin; }
down_plink() {
	limit 60 plink -batch -no-antispoof -C -P "$1" -l "$LOGIN" -i "$T/id.ppk" -hostkey "$(print_of "$T/host_ed25519.pub")" \
		-hostkey "$(print_of "$T/host_rsa.pub")" -hostkey "$(print_of "$T/host_ecdsa256.pub")" 127.0.0.1 "cat $2" | sum /dev/stdin
}
down_paramiko() {
	limit 60 "$PYTHON" -W ignore -c '
import hashlib, socket, sys, paramiko
t = paramiko.Transport(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
t.use_compression(True)
t.start_client(timeout=60)
t.auth_publickey(sys.argv[2], paramiko.Ed25519Key(filename=sys.argv[3]))
c = t.open_session()
c.exec_command("cat " + sys.argv[4])
h = hashlib.sha256()
for part in iter(lambda: c.recv(65536), b""):
    h.update(part)
print(h.hexdigest())
assert t.remote_compression == "zlib@openssh.com"
t.close()' "$1" "$LOGIN" "$T/id" "$2"
}
clients=
[ -z "$STOCK_SSH" ] || clients="$clients stock"
[ ! -f "$T/db_id" ] || ! have dbclient || clients="$clients dbclient"
[ ! -f "$T/id.ppk" ] || ! have plink || clients="$clients plink"
find_python paramiko && clients="$clients paramiko"
down_changing() {
	for c in $clients; do
		login_server "auto.$c" "Compression yes" "LogLevel DEBUG2" || { ok 1 "our sshd started"; finish; }
		through "$PORT"
		job "down.$c" "down_$c" "$LINE" "$T/text"
	done
}

# ---- levels that change, all beside each other

# changed NAME LOG: right at the other end, by more than one level
changed() {
	is "$1: what arrived" "$(cat "$T/$1.out")" "$text_sum" || diag "$(tail -3 "$T/$1.err")"
	[ "$(levels_in "$2")" -ge 2 ]
	ok $? "$1: at $(levels_in "$2") levels" "$2"
}
up_changing
down_changing
finish_jobs
for s in $servers; do
	changed "up.${s%:*}" "$T/up.${s%:*}.err"
	is_line "up.${s%:*}: with zlib@openssh.com" '^Compression: sent .*zlib@openssh.com\|client->server .*compression: zlib@openssh.com' "$T/up.${s%:*}.err"
done
for c in $clients; do
	changed "down.$c" "$T/auto.$c.log"
done

# ---- fixed ones

for l in $LEVELS; do
	p=${ports# }
	p=${p%% *}
	ports=${ports# $p}
	for s in $servers; do job "$l.${s%:*}" up_from "$T/stripes" "${s#*:}" -o CompressionLevel=$l -v; done
	finish_jobs
	for c in $clients; do job "$l.$c.down" "down_$c" "$p" "$T/stripes"; done
	finish_jobs
	for s in $servers; do
		is "up, level $l: ${s%:*}" "$(cat "$T/$l.${s%:*}.out")" "$stripes_sum" || diag "$(tail -3 "$T/$l.${s%:*}.err")"
		is_line "of that level: ${s%:*}" "^Compression: sent .*(zlib@openssh.com, level $l)" "$T/$l.${s%:*}.err"
	done
	for c in $clients; do
		is "down, level $l: $c" "$(cat "$T/$l.$c.down.out")" "$stripes_sum" || diag "$(tail -3 "$T/$l.$c.down.err")"
	done
done
[ "$(grep -c "Compression: sent .*(zlib@openssh.com, level" "$T/fixed.log")" -ge 3 ]
ok $? "our sshd tells of fixed levels" "$T/fixed.log"
finish
