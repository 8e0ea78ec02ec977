#!/bin/sh
# paramiko against our sshd: every algorithm of both, new keys while data flows, sessions, SFTP, logins, wrong things.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OUR_SSHD" "$HELPERS/net_tool"
find_python paramiko || skip_all "no paramiko here"
make_login || { ok 1 "keys made"; finish; }
lists="Ciphers $("$OURS" -Q cipher | grep -v '^none$' | paste -sd, -)
MACs $("$OURS" -Q mac | grep -v '^none$' | paste -sd, -)
KexAlgorithms $("$OURS" -Q kex | paste -sd, -)
HostKeyAlgorithms +ssh-rsa
AcceptEnv TEST_*"
login_server plain "$lists" || { ok 1 "our sshd started"; finish; }
PLAIN=$PORT
login_server often "$lists" "RekeyLimit 512K" || { ok 1 "our sshd started"; finish; }
OFTEN=$PORT
random_file "$T/work/known" 500000
chmod 644 "$T/work/known"
OUR_CIPHERS=$("$OURS" -Q cipher) OUR_DIGESTS=$("$OURS" -Q mac) OUR_KEX=$("$OURS" -Q kex) OUR_KEY_TYPES=$("$OURS" -Q key-sig)
KEY=$T/id WORK=$T/work
export PLAIN OFTEN LOGIN PASSWORD KEY WORK OUR_CIPHERS OUR_DIGESTS OUR_KEX OUR_KEY_TYPES
for part in algorithms keys sessions sftp sftp-often logins wrong; do
	from_program limit 200 "$PYTHON" -W ignore "$WS_SRC/regress/interop/server_paramiko.py" $part
done
no_line "nothing went wrong inside" 'broke the rules\|died of signal\|Sanitizer\|internal error' "$T/plain.log"
finish
