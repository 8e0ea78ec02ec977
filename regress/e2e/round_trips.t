#!/bin/sh
# Round trips from connect() to the first output of a command, counted by a relay with a clock of its own; and that nothing
# that leaves early says anything about the user to a host whose key was not accepted.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
private_accounts
need "$OURS" "$OUR_SSHD" "$HELPERS/round_trips" "$HELPERS/net_tool"

user=$ME
make_client || skip_all "no keys could be made"
for k in ed25519:plain2 rsa:rsa; do make_key "$T/${k#*:}" "${k%:*}" || skip_all "no keys could be made"; done
"${STOCK_KEYGEN:-$OUR_KEYGEN}" -q -t ed25519 -N sesame -f "$T/locked" </dev/null
cat "$T/rsa.pub" "$T/locked.pub" >>"$T/authorized_keys"
if [ "$WS_PRIVATE" = 1 ]; then
	user=wsuser
	add_account $user 'right horse'
fi
start_ours ours "Subsystem sftp internal-sftp" || { ok 1 "our sshd started"; finish; }
ours_port=$PORT ours_pid=$PID
stock_port=
[ -z "$STOCK_SSHD" ] || ! start_stock stock "Subsystem sftp internal-sftp" || { stock_port=$PORT stock_pid=$PID; }
relay_port=$(free_port)
memory=$XDG_CACHE_HOME/wirespeed/peers

# trips WHICH [ssh options]: one connection by the relay; its round trips go to $trips.
trips() {
	which=$1
	shift
	eval "trips_port=\$${which}_port trips_pid=\$${which}_pid"
	: >"$T/$which.log"
	limit 120 "$HELPERS/round_trips" -v -l "$relay_port" -s "$trips_pid" -r "$T/trips" "$trips_port" "$OURS" -F "$T/client.conf" \
		-l "$user" -p @PORT@ -o "HostKeyAlias $which" "$@" peer 'echo out' >"$T/out" 2>"$T/err" </dev/null
	status=$?
	trips=$(cat "$T/trips")
	cat "$T/err" "$T/out" >"$T/log"
}
# at_most N NAME: in vain, if the command did not run.
at_most() {
	[ $status = 0 ] && [ "$(cat "$T/out")" = out ] && [ "${trips%.5}" -le "$1" ] && [ "$trips" != "$1.5" ]
	ok $? "$2: $trips round trips, at most $1"
}
forget() { rm -rf "$XDG_CACHE_HOME"; }
# remember KEX HOST_KEY GUESS METHOD: changes what is remembered, of all.
remember() {
	awk -v kex="$1" -v key="$2" -v guess="$3" -v method="$4" 'NR > 1 {
		if (kex != "") $3 = kex; if (key != "") $4 = key; if (guess != "") $5 = guess; if (method != "") $6 = method } 1' \
		"$memory" >"$memory.new" && chmod 600 "$memory.new" && mv "$memory.new" "$memory"
}

# ---- ours

trips ours
at_most 5 "ours, first contact"
mode=$(stat -c %a "$memory" 2>/dev/null || stat -f %Lp "$memory")
is "the memory is private" "$mode" 600
! grep -q -e "$user" -e ours -e 127.0.0 "$memory"
ok $? "and names nobody" "$memory"
trips ours
at_most 4 "ours, remembered"
trips ours -v
is_line "a guess was made" 'guessing that the server takes' "$T/err"
trips ours -o 'PeerMemory no'
at_most 5 "ours, PeerMemory no"
forget
trips ours -o 'PeerMemory no'
[ ! -e "$memory" ]
ok $? "PeerMemory no writes nothing"

# Wrong memory costs what no memory costs, and is put right.
trips ours
remember ecdh-sha2-nistp521 '' '' ''
trips ours -v
at_most 4 "ours, another method remembered that both have"
is_line "it was used" 'kex: algorithm: ecdh-sha2-nistp521' "$T/err"
trips ours -v
at_most 4 "ours, after that"
no_line "and forgotten" 'kex: algorithm: ecdh-sha2-nistp521' "$T/err"
remember diffie-hellman-group14-sha256 '' '' ''
trips ours -v
at_most 5 "ours, a method remembered that the server does not have"
trips ours
at_most 4 "ours, after that"
remember '' ssh-rsa '' ''
trips ours
at_most 5 "ours, a host key algorithm remembered that we do not take"
trips ours
remember '' '' no none
trips ours
at_most 7 "ours, nothing right remembered"
trips ours
at_most 4 "ours, after that"
head -c 100 "$memory" >"$memory.new" && chmod 600 "$memory.new" && mv "$memory.new" "$memory"
trips ours
at_most 5 "ours, a memory that is cut short"
trips ours
at_most 4 "ours, after that"
chmod 644 "$memory"
trips ours -v
at_most 5 "ours, a memory that others can read"
trips ours
at_most 4 "ours, after that"

# ---- a host whose key is another one

cut -d' ' -f1,2 "$T/plain2.pub" | sed 's/^/ours /' >"$T/changed_hosts"
trips ours -o "UserKnownHostsFile $T/changed_hosts"
is "remembered, but its key has changed: refused" "$status $(cat "$T/out")" '255 '
is_line "with the warning" 'REMOTE HOST IDENTIFICATION HAS CHANGED' "$T/err"
no_line "no login was tried" "Failed\|Accepted\|Postponed\|user $user" "$T/ours.log"
# What went up: version, KEXINIT and the guess; then a DISCONNECT, in clear: no NEWKEYS, so nothing about the user.
up=$(sed -n 's/^round_trips: [0-9.]*: \([1-9][0-9]*\) bytes up.*/\1/p' "$T/err" | sed 1d | paste -sd+ - | sed 's/^$/0/')
[ $((up)) -lt 100 ]
ok $? "nothing left behind the key exchange but a farewell: $up bytes" "$T/err"
trips ours -o "UserKnownHostsFile $T/none"
is "remembered, but its key is not known any more: refused" "$status $(cat "$T/out")" '255 '
no_line "no login was tried" "Failed\|Accepted\|Postponed\|user $user" "$T/ours.log"
printf '@revoked * %s\n' "$(cut -d' ' -f1,2 "$T/host_ed25519.pub")" | cat - "$T/known_hosts" >"$T/revoked_hosts"
trips ours -o "UserKnownHostsFile $T/revoked_hosts"
is "remembered, but its key is revoked: refused" "$status $(cat "$T/out")" '255 '
no_line "no login was tried" "Failed\|Accepted\|Postponed\|user $user" "$T/ours.log"
cut -d' ' -f1,2 "$T/host_rsa.pub" | sed 's/^/ours /' >"$T/rsa_hosts"
trips ours -v -o "UserKnownHostsFile $T/rsa_hosts"
is "remembered by a key, known by another: the known one" "$status $(cat "$T/out")" '0 out'
is_line "that is asked for" 'kex: host key algorithm: rsa-sha2-512' "$T/err"

# ---- who logs in

forget
trips ours -o "IdentityFile $T/rsa"
at_most 5 "ours, first contact, RSA"
trips ours -o "IdentityFile $T/rsa"
at_most 4 "ours, remembered, RSA"
forget
for k in plain2 id; do echo "IdentityFile $T/$k"; done | cat - "$T/client.conf" >"$T/two.conf"
trips ours -F "$T/two.conf"
at_most 7 "ours, first contact, the second key does"
trips ours -F "$T/two.conf"
at_most 4 "ours, remembered, the second key does"
trips ours -F "$T/two.conf" -o "IdentityFile $T/rsa"
at_most 4 "ours, remembered, but another key is named first: that one"
trips ours -F "$T/two.conf"
trips ours -F "$T/two.conf" -v
no_line "a key that was refused is not signed with again" 'Signing with public key without waiting: .*plain2' "$T/err"

printf '#!/bin/sh\necho sesame\n' >"$T/askpass"
chmod 755 "$T/askpass"
SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force
export SSH_ASKPASS SSH_ASKPASS_REQUIRE
forget
trips ours -F none -o "UserKnownHostsFile $T/known_hosts" -o Hostname=127.0.0.1 -o IdentitiesOnly=yes -i "$T/locked"
at_most 6 "ours, first contact, a key with a passphrase"
trips ours -F none -o "UserKnownHostsFile $T/known_hosts" -o Hostname=127.0.0.1 -o IdentitiesOnly=yes -i "$T/locked"
at_most 5 "ours, remembered, a key with a passphrase"
unset SSH_ASKPASS SSH_ASKPASS_REQUIRE

agent=$(find_program ssh-agent) add=$(find_program ssh-add)
if [ -n "$agent" ] && [ -n "$add" ]; then
	eval "$("$agent" -a "$T/agent" | grep -v echo)" && track "$SSH_AGENT_PID"
	"$add" -q "$T/id" 2>/dev/null
	forget
	trips ours -F none -o "UserKnownHostsFile $T/known_hosts" -o Hostname=127.0.0.1 -o IdentityFile=none
	at_most 6 "ours, first contact, agent"
	trips ours -F none -o "UserKnownHostsFile $T/known_hosts" -o Hostname=127.0.0.1 -o IdentityFile=none
	at_most 5 "ours, remembered, agent"
	"$add" -q -D 2>/dev/null
	unset SSH_AUTH_SOCK
else
	skip "ours, agent" "no ssh-agent here"
fi

if [ "$WS_PRIVATE" = 1 ]; then
	printf '#!/bin/sh\necho right horse\n' >"$T/askpass"
	SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force
	export SSH_ASKPASS SSH_ASKPASS_REQUIRE
	forget
	for contact in 6:first 5:remembered; do
		trips ours -F none -o "UserKnownHostsFile $T/known_hosts" -o Hostname=127.0.0.1 -o IdentityFile=none \
			-o PreferredAuthentications=password
		at_most ${contact%:*} "ours, ${contact#*:}, password only"
	done
	# Nothing of a password before the server has asked for a method.
	trips ours -vvv -F none -o "UserKnownHostsFile $T/known_hosts" -o Hostname=127.0.0.1 -o IdentityFile=none \
		-o PreferredAuthentications=password
	first=$(grep -n 'Authentications that can continue' "$T/err" | head -n 1 | cut -d: -f1)
	asked=$(grep -n 'Next authentication method: password' "$T/err" | head -n 1 | cut -d: -f1)
	[ "${first:-9999}" -lt "${asked:-0}" ]
	ok $? "a password waits until the server has said that it takes one" "$T/err"
	unset SSH_ASKPASS SSH_ASKPASS_REQUIRE
else
	skip "ours, password" "no account of our own"
fi

# Input leaves with the command.
forget
trips ours
limit 60 "$HELPERS/round_trips" -l "$relay_port" -s "$ours_pid" -r "$T/trips" "$ours_port" "$OURS" -F "$T/client.conf" -l "$user" \
	-p @PORT@ -o HostKeyAlias=ours peer 'head -c 20000 | wc -c' >"$T/out" 2>"$T/err" <"$OURS"
status=$? trips=$(cat "$T/trips")
[ $status = 0 ] && [ "$(tr -d ' ' <"$T/out")" = 20000 ] && [ "$trips" = 4 ]
ok $? "ours, 20,000 bytes of input: $trips round trips, 4" "$T/err"

# ---- stock

if [ -n "$stock_port" ]; then
	forget
	trips stock
	at_most 6 "stock, first contact"
	# Both list the same first: the guess is right, as with any OpenSSH whose first host key the user knows.
	trips stock -v
	at_most 4 "stock, remembered"
	is_line "the guess was made, of the server's first name" 'guessing that the server takes [a-z]*[0-9]*x\{0,1\}25519-sha' "$T/err"
	trips stock -o "IdentityFile $T/rsa"
	at_most 4 "stock, remembered, RSA"
	trips stock -o 'PeerMemory no'
	at_most 6 "stock, PeerMemory no"
	# A wrong guess to a server without kexguess2.
	remember curve25519-sha256 '' yes ''
	trips stock -v -o KexAlgorithms=curve25519-sha256
	is_line "stock: a wrong guess was made" 'guessing that the server takes' "$T/err"
	at_most 5 "stock, a wrong guess"
	# A right one: the first names of both are the same.
	printf '%s\n' "KexAlgorithms curve25519-sha256" "HostKey $T/host_ed25519" >"$T/right.lines"
	HOST_KEYS=ed25519
	if start_stock right "KexAlgorithms curve25519-sha256"; then
		right_port=$PORT right_pid=$PID
		trips right -o HostKeyAlgorithms=ssh-ed25519
		at_most 6 "stock that could be guessed, first contact"
		trips right -v -o HostKeyAlgorithms=ssh-ed25519
		is_line "the guess was made" 'guessing that the server takes' "$T/err"
		at_most 4 "stock that could be guessed, remembered"
		no_line "and nothing went wrong" 'rror\|invalid' "$T/right.log"
	fi
	cut -d' ' -f1,2 "$T/plain2.pub" | sed 's/^/stock /' >"$T/changed_hosts"
	trips stock -o "UserKnownHostsFile $T/changed_hosts"
	is "stock, remembered, its key has changed: refused" "$status $(cat "$T/out")" '255 '
	no_line "no login was tried" "Failed\|Accepted\|Postponed\|user $user" "$T/stock.log"
else
	skip "stock" "no stock sshd here"
fi

# ---- dropbear, which knows kexguess2 and is nobody that we know

if [ "$WS_PRIVATE" = 1 ] && have dropbear dropbearkey; then
	dropbear_port=$(free_port)
	dropbearkey -t ed25519 -f "$T/db_ed25519" >/dev/null 2>&1
	dropbearkey -y -f "$T/db_ed25519" 2>/dev/null | awk '/^ssh-/ { print "dropbear " $1 " " $2 }' >"$T/dropbear_hosts"
	dropbear -F -E -p "127.0.0.1:$dropbear_port" -P "$T/db.pid" -r "$T/db_ed25519" >"$T/db.log" 2>&1 </dev/null &
	dropbear_pid=$!
	track $dropbear_pid
	listening() { "$HELPERS/net_tool" relay 127.0.0.1 "$dropbear_port" </dev/null >/dev/null 2>&1; }
	wait_line 'Not backgrounding' "$T/db.log" && wait_until 10 listening
	trips dropbear -o "UserKnownHostsFile $T/dropbear_hosts"
	at_most 8 "dropbear, first contact: none goes first"
	trips dropbear -v -o "UserKnownHostsFile $T/dropbear_hosts"
	at_most 5 "dropbear, remembered"
	is_line "a guess was made" 'guessing that the server takes' "$T/err"
	is_line "and a key went first" 'Signing with public key without waiting' "$T/err"
else
	skip "dropbear" "no dropbear here, or no account of our own"
fi

# ---- scp: until all is done

if [ -x "$OUR_SCP" ]; then
	head -c 4096 "$OURS" >"$T/small"
	chmod 644 "$T/small"
	# copies WHICH N SOURCE TARGET NAME
	copies() {
		eval "trips_port=\$${1}_port trips_pid=\$${1}_pid"
		limit 120 "$HELPERS/round_trips" -v -l "$relay_port" -s "$trips_pid" -r "$T/trips" "$trips_port" sh -c \
			"'$OUR_SCP' -q -F '$T/client.conf' -o 'User $user' -o 'HostKeyAlias $1' -P @PORT@ $3 $4 && echo out" \
			>"$T/out" 2>"$T/err" </dev/null
		status=$? trips=$(cat "$T/trips")
		at_most "$2" "scp, $5"
	}
	trips ours
	# Not by our process number: in a world of its own every script has the same.
	there=$T/landing/there
	mkdir "$T/landing" && chmod 777 "$T/landing"
	copies ours 5 "$T/small" "peer:$there" "ours, a file up"
	is_line "its bytes go along with the open" 'round_trips: 3\.5: [4-9][0-9][0-9][0-9] bytes up, 0 down' "$T/err"
	copies ours 6 "peer:$there" "$T/back" "ours, a file down"
	cmp "$T/small" "$T/back"
	ok $? "it is the same" "$T/err"
	if [ -n "$stock_port" ]; then
		trips stock
		copies stock 7 "$T/small" "peer:$there.stock" "stock, a file up"
		rm -f "$there.stock"
	fi
	# Where a folder stands, the open that went ahead is refused, and nothing else comes of it.
	mkdir "$T/folder" && chmod 777 "$T/folder"
	copies ours 6 "$T/small" "peer:$T/folder" "ours, a file up into a folder"
	cmp "$T/small" "$T/folder/small" && [ "$(ls -A "$T/folder")" = small ]
	ok $? "it lies there, alone" "$T/err"
	rm -f "$there"
fi

# ---- those who take haste for an attack

"$HELPERS/net_tool" serve connections=3 no-haste relay="$ours_port" >"$T/fake.port" &
track $!
wait_line . "$T/fake.port"
limit 60 "$OURS" -F "$T/client.conf" -v -l "$user" -p "$(cat "$T/fake.port")" -o HostKeyAlias=ours peer 'echo out' >"$T/out" 2>"$T/err" \
	</dev/null
is "a server that hangs up on early bytes is called again" "$? $(cat "$T/out")" '0 out' || cat "$T/err"
is "once" "$(grep -c 'once more, with nothing early' "$T/err")" 1
"$HELPERS/net_tool" serve connections=9 send='SSH-2.0-Closing\r\n' line >"$T/fake2.port" &
track $!
wait_line . "$T/fake2.port"
limit 60 "$OURS" -F "$T/client.conf" -v -l "$user" -p "$(cat "$T/fake2.port")" -o HostKeyAlias=ours peer true >"$T/out" 2>"$T/err" \
	</dev/null
is "one that always hangs up: 255" $? 255
is "it was called twice" "$(grep -c "peer's version: SSH-2.0-Closing" "$T/err")" 2 || cat "$T/err"
is_line "and the user is told" 'Connection [a-z]* by 127.0.0.1' "$T/err"
"$HELPERS/net_tool" serve connections=9 send='Exceeded MaxStartups\r\n' shut >"$T/fake3.port" &
track $!
wait_line . "$T/fake3.port"
limit 60 "$OURS" -F "$T/client.conf" -v -l "$user" -p "$(cat "$T/fake3.port")" -o HostKeyAlias=ours peer true >"$T/out" 2>"$T/err" \
	</dev/null
is "one that says that it is full: 255" $? 255
no_line "it is not called again" 'once more, with nothing early' "$T/err"
finish
