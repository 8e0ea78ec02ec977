#!/bin/sh
# asyncssh against our sshd: every algorithm of both, new keys by either side, sessions, files, logins.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OUR_SSHD" "$HELPERS/net_tool"
find_python asyncssh || skip_all "no asyncssh here"
make_login || { ok 1 "keys made"; finish; }
lists="Ciphers $("$OURS" -Q cipher | grep -v '^none$' | paste -sd, -)
MACs $("$OURS" -Q mac | grep -v '^none$' | paste -sd, -)
KexAlgorithms $("$OURS" -Q kex | paste -sd, -)
HostKeyAlgorithms +ssh-rsa
AcceptEnv TEST_*"
login_server plain "$lists" || { ok 1 "our sshd started"; finish; }
PLAIN=$PORT
login_server often "$lists" "RekeyLimit 1M" || { ok 1 "our sshd started"; finish; }
OFTEN=$PORT
OUR_CIPHERS=$("$OURS" -Q cipher) OUR_MACS=$("$OURS" -Q mac) OUR_KEX=$("$OURS" -Q kex) OUR_KEY_TYPES=$("$OURS" -Q key-sig)
KEY=$T/id WORK=$T/work KNOWN_HOSTS=$T/known_hosts
export PLAIN OFTEN LOGIN PASSWORD KEY WORK KNOWN_HOSTS OUR_CIPHERS OUR_MACS OUR_KEX OUR_KEY_TYPES
for part in algorithms keys sessions files logins; do
	from_program limit 260 "$PYTHON" -W ignore "$WS_SRC/regress/interop/server_asyncssh.py" $part
done
no_line "nothing went wrong inside" 'broke the rules\|died of signal\|Sanitizer\|internal error' "$T/plain.log"
finish
