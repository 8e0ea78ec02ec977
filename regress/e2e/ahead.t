#!/bin/sh
# Requests that leave with the open of the first session, because a server of OpenSSH's name is remembered to give it the number 0: what
# becomes of them where that does not hold any more. How many round trips it saves is round_trips.t's.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
talk=$HELPERS/engine_talk
need "$OURS" "$OUR_SCP" "$talk"
make_client || skip_all "no keys could be made"
memory=$XDG_CACHE_HOME/wirespeed/peers

# remember TEXT: of all servers, the number of the first channel; kind NAME: and what they are.
remember() { change 10 "$1"; }
kind() { change 2 "$1"; }
change() {
	awk -v field="$1" -v to="$2" 'NR > 1 { $field = to } 1' "$memory" >"$memory.new" && chmod 600 "$memory.new" &&
		mv "$memory.new" "$memory"
}
remembered() { sed 1d "$memory" | cut -d' ' -f10 | paste -sd, -; }
# run [OPTION...]: our ssh to $port with $T/in as input; then the status, how many lines it said, and what it said in $T/err.
run() {
	limit 30 "$OURS" -F "$T/client.conf" -p "$port" -o HostKeyAlias=host "$@" peer cat <"$T/in" >"$T/out" 2>"$T/err"
	status=$?
	cat "$T/err" >"$T/log"
	lines=$(grep -c . "$T/err")
}
echo "some input" >"$T/in"

# ---- servers that only look like it

port=$(free_port)
# talk [NAME=VALUE...]: a server for one connection; what it did is in $T/talk when `talked` returns.
talk() {
	: >"$T/talk.port"
	"$talk" server "port=$port" "key=$T/host_ed25519" "$@" >"$T/talk.port" 2>"$T/talk" &
	talker=$!
	track $talker
	wait_line . "$T/talk.port"
}
talked() { wait $talker; }
works() {	# NAME
	[ $status = 0 ] && cmp -s "$T/in" "$T/out"
	ok $? "$1"
}

talk software=OpenSSH_9.9
run
talked
works "first contact"
is "its number is remembered" "$(remembered)" 0
talk software=OpenSSH_9.9
run -v
talked
works "remembered: requests go with the open"
is "still so" "$(remembered)" 0

# Another number: a request that is not for it is the end there, or is passed over.
for astray in end ignore; do
	remember 0
	talk software=OpenSSH_9.9 open=7 astray=$astray
	run
	talked
	is "another number, astray=$astray: refused" "$status $(cat "$T/out")" '255 '
	is "the user is told in one line" "$lines" 1 || cat "$T/err"
	is_line "that it shall be tried again" 'numbers its channels in another way.*please try again' "$T/err"
	no_line "the command was not run" command "$T/talk"
	is "that is remembered" "$(remembered)" other
	talk software=OpenSSH_9.9 open=7
	run
	talked
	works "and the next time is as ever"
	is "the command was run once" "$(grep -c command "$T/talk")" 1
done
talk software=OpenSSH_9.9
run
talked
works "0 again: it is not relied on any more"
is "that stays so" "$(remembered)" other

# No answer at all: those who do not bear it.
remember 0
talk software=OpenSSH_9.9 open=end
run
talked
is "one that hangs up" "$status $(cat "$T/out")" '255 '
is_line "the user reads why" 'no such haste' "$T/err"
is_line "and what to do" 'please try again' "$T/err"
is "that is remembered" "$(remembered)" other
talk software=OpenSSH_9.9 open=end
run
talked
no_line "that it had nothing to do with it is not said another time" 'please try again' "$T/err"

# Other software under the same name, and software whose numbers are not known.
remember 0
talk software=elsewhere_1.0 open=5
run
talked
works "replaced by other software"
is "nothing is remembered of its numbers" "$(remembered)" -
remember 0
talk software=elsewhere_1.0 open=5
run
talked
works "a memory of other software says nothing"
talk software=OpenSSH_9.9
run
talked
remember 0
talk software=OpenSSH_9.9 open=7
run -o 'PeerMemory no'
talked
works "PeerMemory no"
run_changed() {
	awk '{ print "host " $2 " " $3 }' "$T/known_hosts" | grep ecdsa-sha2-nistp256 >"$T/changed"
	run -o "UserKnownHostsFile $T/changed" -o StrictHostKeyChecking=no
}
talk software=OpenSSH_9.9 open=7
run_changed
talked
works "a host whose key has changed is not taken for the one that is remembered"
is "nor is anything learnt of it" "$(remembered)" 0

# A memory of before there was such a field; nonsense in it.
sed 's/ [^ ]*$//' "$memory" >"$memory.new" && chmod 600 "$memory.new" && mv "$memory.new" "$memory"
talk software=OpenSSH_9.9
run
talked
works "an older memory"
is "it is completed" "$(remembered)" 0
remember 7
talk software=OpenSSH_9.9 open=7
run
talked
works "nonsense in the memory"
is "it is begun anew" "$(remembered)" other

# ---- re-keying at once, and the none switch before anything

talk software=OpenSSH_9.9-hpn18.8.0 none=cipher
run
talked
is "an HPN server is learnt too" "$status $(remembered)" '0 0'
talk software=OpenSSH_9.9-hpn18.8.0 none=cipher
run -o RekeyLimit=16
talked
works "with keys changed all the time"
"$OURS" -Q cipher 2>/dev/null | grep -q . && talk software=OpenSSH_9.9-hpn18.8.0 none=cipher && {
	run -o NoneEnabled=yes -o NoneSwitch=yes
	talked
	if grep -q 'ENABLED NONE' "$T/err"; then
		works "the none switch"
		is_line "requests come after it" 'command, cipher none' "$T/talk"
	else
		skip "the none switch" "built without"
	fi
}

# ---- stock

if [ -n "$STOCK_SSHD" ] && start_stock stock "AcceptEnv LC_*" && stock_port=$PORT && start_stock full "MaxSessions 0"; then
	full_port=$PORT port=$stock_port
	run
	works "stock, first contact"
	is "its number is remembered" "$(remembered | tr , '\n' | sort -u)" 0
	run
	works "stock, remembered"
	no_line "and it is content" 'rror\|unknown\|isconnecting' "$T/stock.log"
	if [ "$(id -u)" = 0 ]; then
		limit 30 "$OURS" -F "$T/client.conf" -p "$port" -o HostKeyAlias=host -tt peer tty </dev/null >"$T/out" 2>"$T/err"
		is "stock, remembered, a terminal" "$? $(grep -c '^/dev/' "$T/out")" '0 1'
	else
		skip "stock, remembered, a terminal" "its sshd gives terminals as root only"
	fi
	limit 30 "$OURS" -F "$T/client.conf" -p "$port" -o HostKeyAlias=host -o SetEnv=LC_EARLY=1 peer 'echo "$LC_EARLY"; exit 7' </dev/null \
		>"$T/out" 2>"$T/err"
	is "stock, remembered, environment and status" "$? $(cat "$T/out")" '7 1'

	port=$full_port
	run -o 'PeerMemory no'
	cp "$T/err" "$T/err.wanted"
	wanted=$status
	run
	remember 0
	: >"$T/full.log"
	run
	is "stock refuses the session: the same status" "$status" "$wanted"
	cmp -s "$T/err" "$T/err.wanted"
	ok $? "and the same words" "$T/err" "$T/err.wanted"
	is_line "although it hung up on what had come along" 'unknown channel' "$T/full.log"
	is "that says nothing about its numbers" "$(remembered | tr , '\n' | sort -u)" 0
	copy() {
		limit 30 "$OUR_SCP" -F "$T/client.conf" -P "$port" -o HostKeyAlias=host "$@" "$T/in" "peer:$T/there" </dev/null >"$T/out" 2>"$T/err"
		status=$?
	}
	copy -o 'PeerMemory no'
	cp "$T/err" "$T/err.wanted"
	wanted=$status
	copy
	is "scp to it: the same status" "$status $wanted" '255 255'
	cmp -s "$T/err" "$T/err.wanted"
	ok $? "and the same words" "$T/err" "$T/err.wanted"
	port=$stock_port
else
	skip "stock" "no stock sshd here"
fi
finish
