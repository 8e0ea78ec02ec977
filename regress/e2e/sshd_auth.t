#!/bin/sh
# Who our sshd lets in: keys and their options, passwords, lists, methods, limits; and what it writes about it.
. "$(dirname "$0")/sshd_lib.sh"

at='from 127\.0\.0\.1 port [0-9]+'
fp=$(ssh-keygen -lf "$T/key.pub" | cut -d' ' -f2 | sed 's/[+]/[+]/g')

# ---- keys

serve || exit 1
is "$(on $host 'echo in')" in "a key that is listed"
logged "^Accepted publickey for $user $at ssh2: ED25519 $fp" "success with the key"
logged "^Connection from 127\.0\.0\.1 port [0-9]+ on 127\.0\.0\.1 port $port rdomain \"\"" "connection"
logged "^Accepted key ED25519 $fp found at .*authorized_keys:1" "where the key was found"
logged "^Postponed publickey for $user $at ssh2 \[preauth\]" "the question about the key"
logged "^User child is on pid [0-9]+" "the user process"
logged "^Starting session: command for $user $at id 0" "start of a session"
logged "^Close session: user $user $at id 0" "end of a session"
logged "^Received disconnect $at:11: disconnected by user" "the client's farewell"
logged "^Disconnected from user $user 127\.0\.0\.1 port [0-9]+" "disconnected"
logged "^SSH: Server;Ltype: Version;Remote: 127\.0\.0\.1-[0-9]+;Protocol: 2\.0;Client: OpenSSH" "version, for scrapers"
logged "^SSH: Server;Ltype: Kex;Remote: 127\.0\.0\.1-[0-9]+;Enc: [a-z0-9@.-]+;MAC: [^;]+;Comp: " "key exchange, for scrapers"
logged "^SSH: Server;Ltype: Authname;Remote: 127\.0\.0\.1-[0-9]+;Name: $user" "name, for scrapers"
logged "^SSH: Server;LType: Throughput;Remote: 127\.0\.0\.1-[0-9]+;IN: [1-9][0-9]*;OUT: [1-9][0-9]*;Duration: [0-9.]+;tPut_in: [1-9][0-9.]*;tPut_out: [1-9]" \
	"throughput, for scrapers"
key=$T/key2 on $host true 2>"$T/err"
is $? 255 "a key that is not"
logged "^Connection closed by authenticating user $user 127\.0\.0\.1 port [0-9]+ \[preauth\]" "a client that gives up"

keys=$home/.ssh/authorized_keys
line=$(cat "$T/key.pub")
# with_options OPTIONS
with_options() { printf '%s %s\n' "$1" "$line" >"$keys"; }

with_options 'command="echo forced:$SSH_ORIGINAL_COMMAND"'
is "$(on $host 'something else')" "forced:something else" "command="
logged "^Starting session: forced-command \(key-option\) 'echo forced:.SSH_ORIGINAL_COMMAND' for $user" "forced command"
with_options 'no-pty'
on -tt -o LogLevel=INFO $host true >"$T/err" 2>&1 </dev/null
grep -q "PTY allocation request failed" "$T/err"
ok $? "no-pty" "$T/err"
with_options 'restrict,pty'
is "$(on -tt $host 'test -t 0 && echo tty' 2>/dev/null </dev/null | tr -d '\r')" tty "restrict, and pty again"
with_options 'from="192.0.2.0/24,!127.0.0.1"'
on $host true 2>/dev/null
is $? 255 "from= of another place"
logged "authorized_keys:1: Authentication tried for $user with correct key but not from a permitted host \(host=127\.0\.0\.1, ip=127\.0\.0\.1, required=192\.0\.2\.0/24,!127\.0\.0\.1\)\." "from="
logged "^Refused by key options at .*authorized_keys:1" "refused by its options"
with_options 'from="127.0.0.0/8"'
is "$(on $host 'echo in')" in "from= of here"
with_options 'expiry-time="20200101"'
on $host true 2>/dev/null
is $? 255 "a key that has expired"
with_options 'expiry-time="20990101"'
is "$(on $host 'echo in')" in "a key that has not"
with_options 'environment="WSKEY=yes"'
is "$(on $host 'echo "<$WSKEY>"')" "<>" "environment= without PermitUserEnvironment"
with_options 'no-such-option'
on $host true 2>/dev/null
is $? 255 "an option that is not known makes the line useless"
printf '# comment\n\ngarbage\nssh-ed25519 AAAA broken\n%s\n' "$line" >"$keys"
is "$(on $host 'echo in')" in "other lines of the file do no harm"
for f in rsa:2048 ecdsa:256 ecdsa:384 ecdsa:521; do
	rm -f "$T/k"; ssh-keygen -q -t "${f%:*}" -b "${f#*:}" -N '' -f "$T/k"
	cat "$T/k.pub" >"$keys"
	is "$(key=$T/k on $host 'echo in')" in "a key of type $f"
done
echo "$line" >"$keys"

serve "PermitUserEnvironment yes"
with_options 'environment="WSKEY=yes"'
is "$(on $host 'echo "<$WSKEY>"')" "<yes>" "environment= with PermitUserEnvironment"
if $root; then   # the home of somebody real is not ours to write into
	printf 'WSFILE=1\n#x\nbad\n' >"$home/.ssh/environment"; chmod 644 "$home/.ssh/environment"
	is "$(on $host 'echo "<$WSFILE>"')" "<1>" "~/.ssh/environment with PermitUserEnvironment"
	rm -f "$home/.ssh/environment"
fi
serve "PermitUserEnvironment WSF*"
is "$(on $host 'echo "<$WSKEY>"')" "<>" "PermitUserEnvironment with patterns"
echo "$line" >"$keys"

if $root; then
	serve
	chmod 666 "$keys"
	on $host true 2>/dev/null
	is $? 255 "StrictModes: others may write the file"
	logged "^Authentication refused: bad ownership or modes for file $keys" "StrictModes, file"
	chmod 600 "$keys"; chmod 777 "$home"
	on $host true 2>/dev/null
	is $? 255 "StrictModes: others may write the home"
	logged "^Authentication refused: bad ownership or modes for directory $home" "StrictModes, folder"
	chmod 755 "$home"
	mkdir -p "$T/keys"; echo "$line" >"$T/keys/wsuser"; chmod 755 "$T/keys"; chmod 644 "$T/keys/wsuser"; mv "$keys" "$keys.off"
	serve "AuthorizedKeysFile $T/nothing $T/keys/%u" "StrictModes no"
	is "$(on $host 'echo in')" in "AuthorizedKeysFile with %u"
	serve "AuthorizedKeysFile $T/keys/ws*" "StrictModes no"
	is "$(on $host 'echo in')" in "AuthorizedKeysFile with a pattern"
	mv "$keys.off" "$keys"
	chmod 000 "$T/keys/wsuser"
	on $host true 2>/dev/null
	is $? 255 "files are read with the rights of the user"
fi
serve "PubkeyAuthentication no"
on $host true 2>/dev/null
is $? 255 "PubkeyAuthentication no"
serve "PubkeyAcceptedAlgorithms ecdsa-sha2-nistp256"
on $host true 2>/dev/null
is $? 255 "PubkeyAcceptedAlgorithms without this one"

# ---- commands and rules of the configuration

serve "ForceCommand echo config:\$SSH_ORIGINAL_COMMAND" "Banner $T/banner" "PermitTTY no"
echo "Welcome, stranger" >"$T/banner"
is "$(on -o LogLevel=INFO $host 'other' 2>"$T/err")" "config:other" "ForceCommand"
grep -q "Welcome, stranger" "$T/err"
ok $? "Banner" "$T/err"
logged "^Starting session: forced-command \(config\) 'echo config:" "forced by the configuration"
on -tt -o LogLevel=INFO $host true >"$T/err" 2>&1 </dev/null
grep -q "PTY allocation request failed" "$T/err"
ok $? "PermitTTY no" "$T/err"
serve "Match User $user" "  ForceCommand echo matched" "Match User nobody-else" "  ForceCommand echo wrong"
is "$(on $host 'x')" "matched" "Match User"
serve "ForceCommand internal-sftp" "Subsystem sftp internal-sftp"
is "$(on $host 'ls' 2>"$T/err"; echo $?)" 1 "ForceCommand internal-sftp refuses commands"
is "$(cat "$T/err")" "This service allows sftp connections only." "and says so"
is "$(echo pwd | sftp -F "$T/ssh_config" -i "$T/key" -o User=$user -P $port -b - $host 2>/dev/null | wc -l)" 2 "and serves SFTP"
serve "MaxSessions 1"
on -M -S "$T/mux" -o ControlPersist=20 $host true 2>/dev/null
mkfifo -m 666 "$T/hold"
on -S "$T/mux" $host "cat $T/hold" & sleeper=$!
until_true "[ \$(grep -c 'Starting session' '$T/log') = 2 ]"
on -S "$T/mux" -o ControlMaster=no -o LogLevel=DEBUG1 $host true >"$T/out" 2>&1
logged "^no more sessions for user $user .*MaxSessions is 1" "MaxSessions"
: >"$T/hold"
on -S "$T/mux" -O exit $host 2>/dev/null
wait $sleeper 2>/dev/null

# ---- who may

serve "AllowUsers somebody"
on $host true 2>/dev/null
is $? 255 "AllowUsers without this one"
logged "^User $user from 127\.0\.0\.1 not allowed because not listed in AllowUsers" "AllowUsers"
serve "DenyUsers $user@127.0.0.0/8"
on $host true 2>/dev/null
is $? 255 "DenyUsers with an address"
logged "^User $user from 127\.0\.0\.1 not allowed because listed in DenyUsers" "DenyUsers"
serve
as=nosuchuser on $host true 2>/dev/null
is $? 255 "a user that does not exist"
logged "^Invalid user nosuchuser from 127\.0\.0\.1 port [0-9]+" "invalid user"
logged "^Connection closed by invalid user nosuchuser 127\.0\.0\.1 port [0-9]+ \[preauth\]" "and its end"
if $root; then
	as=wsfalse on $host true 2>/dev/null
	serve "AllowGroups wsgroup"
	is "$(on $host 'echo in')" in "AllowGroups with a supplementary group"
	serve "DenyGroups wsgroup"
	on $host true 2>/dev/null
	logged "^User $user from 127\.0\.0\.1 not allowed because a group is listed in DenyGroups" "DenyGroups"
	serve "AllowGroups nogroup-at-all"
	on $host true 2>/dev/null
	logged "^User $user from 127\.0\.0\.1 not allowed because none of user's groups are listed in AllowGroups" "AllowGroups"
	serve
	as=wslocked on $host true 2>/dev/null
	logged "^User wslocked not allowed because account is locked" "locked account"

	# ---- root
	mkdir -p "$T/rootkeys"; cp "$T/key.pub" "$T/rootkeys/root"
	for mode in yes prohibit-password no forced-commands-only; do
		serve "PermitRootLogin $mode" "AuthorizedKeysFile $T/rootkeys/%u" "StrictModes no"
		case $mode in yes | prohibit-password) want=in ;; *) want= ;; esac
		is "$(as=root on $host 'echo in' 2>/dev/null)" "$want" "PermitRootLogin $mode with a key"
		[ -n "$want" ] || logged "^ROOT LOGIN REFUSED FROM 127\.0\.0\.1 port [0-9]+" "root refused ($mode)"
	done
	printf 'command="echo forced" %s\n' "$line" >"$T/rootkeys/root"
	is "$(as=root on $host 'echo in' 2>/dev/null)" forced "PermitRootLogin forced-commands-only with a command"
	logged "^Root login accepted for forced command\." "root by a forced command"

	# ---- passwords of the shadow file
	serve "PasswordAuthentication yes"
	is "$(with_password 'right horse' $host 'echo in')" in "the right password"
	logged "^Accepted password for $user $at ssh2" "success with the password"
	with_password 'wrong horse' $host true 2>/dev/null
	is $? 255 "a wrong password"
	logged "^Failed password for $user $at ssh2" "failure with the password"
	with_password '' $host true 2>/dev/null
	is $? 255 "an empty password"
	as=nosuchuser with_password 'right horse' $host true 2>/dev/null
	is $? 255 "a password for nobody"
	logged "^Failed password for invalid user nosuchuser $at ssh2" "failure of an invalid user"
	as=wslocked with_password 'right horse' $host true 2>/dev/null
	is $? 255 "the right password of a locked account"
	serve "PasswordAuthentication no"
	with_password 'right horse' $host true 2>/dev/null
	is $? 255 "PasswordAuthentication no"

	# ---- both
	serve "AuthenticationMethods publickey,password"
	on $host true 2>/dev/null
	is $? 255 "a key alone is not enough for publickey,password"
	logged "^Partial publickey for $user $at ssh2: ED25519 $fp" "partial success"
	is "$(pubkey=yes with_password 'right horse' $host 'echo both' 2>/dev/null)" both "a key and a password are"
	with_password 'right horse' $host true 2>/dev/null
	is $? 255 "a password alone is not"
	serve "AuthenticationMethods publickey,publickey"
	on $host true 2>/dev/null
	is $? 255 "one key twice is one key"
	cat "$T/key2.pub" >>"$keys"
	is "$(on -i "$T/key2" $host 'echo two')" two "two keys are two"
	echo "$line" >"$keys"

	# ---- how often
	serve "MaxAuthTries 2"
	prompts=5 with_password 'wrong horse' $host true 2>"$T/err"
	is $? 255 "MaxAuthTries"
	grep -q "Too many authentication failures" "$T/err"
	ok $? "the client is told" "$T/err"
	logged "maximum authentication attempts exceeded for $user $at ssh2 \[preauth\]" "attempts exceeded"
	logged "^Disconnecting authenticating user $user 127\.0\.0\.1 port [0-9]+: Too many authentication failures \[preauth\]" "disconnecting"
	sed -i "s|^wsuser:.*|$(grep ^wsuser: /etc/passwd | sed 's/:x:/::/')|" /etc/passwd 2>/dev/null || {
		sed "s|^wsuser:x:|wsuser::|" /etc/passwd >"$T/p" && cat "$T/p" >/etc/passwd; }
	sed 's|^wsuser:[^:]*:|wsuser::|' /etc/shadow >"$T/p" && cat "$T/p" >/etc/shadow
	serve
	with_password '' $host true 2>/dev/null
	is $? 255 "an account without a password, not permitted"
	serve "PermitEmptyPasswords yes"
	is "$(with_password '' $host 'echo in')" in "PermitEmptyPasswords"
fi
ok "$(grep -Eic 'broke the rules|died of signal|Sanitizer' "$T/log")" "nothing went wrong on the way"
stop
done_testing
