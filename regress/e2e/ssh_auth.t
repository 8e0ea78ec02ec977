#!/bin/sh
# Our ssh against the stock sshd: every kind of user key, agent, password, keyboard-interactive, several factors; and host
# keys: new, known, changed, hashed, revoked. Root gets a scratch account in a private mount namespace; anybody else logs in
# as himself, without the parts that need a password.
# Run alone: WS_BUILD=build-folder WS_SRC=source-folder sh regress/e2e/ssh_auth.t
: "${WS_BUILD:?}"
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin
export PATH
ssh=$WS_BUILD/ssh
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
[ -x "$ssh" ] || skip_all "ssh is not built"
sshd=$(command -v sshd) && keygen=$(command -v ssh-keygen) || skip_all "no stock OpenSSH here"
root=0
[ "$(id -u)" != 0 ] || root=1
if [ $root = 1 ] && [ -z "$WS_PRIVATE_MOUNTS" ]; then
	unshare -m --propagation private true 2>/dev/null || skip_all "no private mounts here"
	WS_PRIVATE_MOUNTS=1 exec unshare -m --propagation private sh "$0"
fi

n=0 failed=0 daemon='' agent_pid=''
T=$(mktemp -d "${TMPDIR:-/tmp}/ws-auth.XXXXXX") || exit 1
chmod 755 "$T"
XDG_CACHE_HOME=$T/cache
export XDG_CACHE_HOME
cleanup() {
	[ -z "$agent_pid" ] || kill "$agent_pid" 2>/dev/null
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	wait
	rm -rf "$T"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
cd "$T" || exit 1
unset DISPLAY WAYLAND_DISPLAY SSH_AUTH_SOCK SSH_ASKPASS SSH_ASKPASS_REQUIRE SSH_CONNECTION

ok() {	# status, name
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else
		echo "not ok $n - $2"; failed=1
		for f in out err questions; do [ ! -s $f ] || sed "s/^/# $f: /" $f; done
	fi
}

# ---- the account, its PAM stack, keys

user=$(id -un) password='gut, geheim'
if [ $root = 1 ]; then
	user=wsauth
	mkdir home && chown 54321:54321 home
	hash=$(perl -e 'print crypt($ARGV[0], q($6$wirespeed$))' "$password")
	{ cat /etc/passwd; echo "$user:x:54321:54321::$T/home:/bin/sh"; } >passwd
	{ cat /etc/shadow; echo "$user:$hash:19000:0:99999:7:::"; } >shadow
	chmod 644 passwd; chmod 600 shadow
	mount --bind passwd /etc/passwd && mount --bind shadow /etc/shadow || skip_all "cannot mount"
	mkdir pam.d && cp /etc/pam.d/* pam.d/
	printf '%s\n' 'auth required pam_unix.so nodelay' 'account required pam_unix.so' 'session required pam_unix.so' >pam.d/sshd
	mount --bind pam.d /etc/pam.d || skip_all "cannot mount"
	mkdir -p /run/sshd
fi

for t in ed25519 ecdsa rsa; do $keygen -q -t $t -N '' -f host_$t; done
$keygen -q -t ed25519 -N '' -f host_new
for t in ed25519 rsa; do $keygen -q -t $t -N '' -C "$t key" -f id_$t; done
for b in 256 384 521; do $keygen -q -t ecdsa -b $b -N '' -f id_ecdsa$b; done
$keygen -q -t ed25519 -N '' -f id_stranger
$keygen -q -t ed25519 -N 'sesam öffne' -a 4 -f enc_openssh
$keygen -q -t rsa -m PEM -N '' -f id_pem
$keygen -q -t ecdsa -m PKCS8 -N '' -f id_pkcs8
$keygen -q -t rsa -m PEM -N 'sesam öffne' -f enc_pem
$keygen -q -t rsa -m PKCS8 -N 'sesam öffne' -f enc_pkcs8
cat id_ed25519.pub id_rsa.pub id_ecdsa*.pub id_pem.pub id_pkcs8.pub enc_*.pub >authorized
rm enc_pem.pub enc_pkcs8.pub id_pem.pub
chmod 644 authorized

# ---- the server

write_config() {	# lines that win
	printf '%s\n' "$@" "Port $port" "ListenAddress 127.0.0.1" "PidFile $T/pid" "AuthorizedKeysFile $T/authorized" \
		"StrictModes no" "MaxAuthTries 12" "LogLevel VERBOSE" "PrintMotd no" >config
	case "$*" in *HostKey*) ;; *) printf 'HostKey %s\n' "$T/host_ed25519" "$T/host_ecdsa" "$T/host_rsa" >>config ;; esac
	case "$*" in *UsePAM*) ;; *) echo 'UsePAM no' >>config ;; esac
}
port=$((20000 + $$ % 20000))
start() {
	[ -z "$daemon" ] || { kill "$daemon"; wait "$daemon"; } 2>/dev/null
	tries=0
	while [ $tries -lt 50 ]; do
		write_config "$@"
		: >log
		"$sshd" -D -f "$T/config" -E "$T/log" &
		daemon=$! i=0
		while [ $i -lt 500 ]; do
			grep -q 'Server listening' log && return
			kill -0 $daemon 2>/dev/null || break
			i=$((i + 1)); sleep 0.01
		done
		kill $daemon 2>/dev/null
		tries=$((tries + 1)) port=$((port + 7))
	done
	sed 's/^/# sshd: /' log
	echo "Bail out! the stock sshd does not start"
	exit 1
}

# ---- asking

cat >askpass <<'END'
#!/bin/sh
dir=${0%/*}
printf '%s\n' "$1" >>"$dir/questions"
[ -s "$dir/answers" ] || exit 1
head -n 1 "$dir/answers"
tail -n +2 "$dir/answers" >"$dir/answers.new" && mv "$dir/answers.new" "$dir/answers"
END
chmod 755 askpass
SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force
export SSH_ASKPASS SSH_ASKPASS_REQUIRE
answers() { : >questions; printf '%s\n' "$@" >answers; }
no_answers() { : >questions; : >answers; }

# run NAME STATUS OPTIONS...: logs in with these options, which win over the defaults.
run() {
	name=$1 want=$2; shift 2
	"$ssh" -F none -p "$port" "$@" -o UserKnownHostsFile="$T/known" -o GlobalKnownHostsFile=none -o IdentityAgent=none \
		-o IdentityFile=none -o StrictHostKeyChecking=accept-new -o NumberOfPasswordPrompts=3 $user@127.0.0.1 \
		'echo in as $(id -un)' >out 2>err.cr </dev/null
	rc=$?
	tr -d '\r' <err.cr >err
	good=1
	[ $rc = "$want" ] && good=0
	[ "$want" != 0 ] || [ "$(cat out)" = "in as $user" ] || good=1
	ok $good "$name"
}
has() { grep -qF -e "$2" "$1"; ok $? "... $1: $2"; }
hasnt() { ! grep -qF -e "$2" "$1"; ok $? "... $1: without $2"; }
asked() { [ "$(grep -cF -e "$2" questions)" = "$1" ]; ok $? "... asked $1 times: $2"; }

# ---- keys

start
no_answers
for k in ed25519 rsa ecdsa256 ecdsa384 ecdsa521 pem pkcs8; do run "key $k" 0 -i "$T/id_$k"; done
run 'RSA with SHA-256' 0 -v -i "$T/id_rsa" -o PubkeyAcceptedAlgorithms=rsa-sha2-256
run 'plain signature instead of a host-bound one' 0 -i "$T/id_ed25519" -o PubkeyAuthentication=unbound
run 'a key that the server does not know' 255 -i "$T/id_stranger" -o BatchMode=yes
has err "$user@127.0.0.1: Permission denied (publickey,password"
run 'the right key after the wrong one' 0 -v -i "$T/id_stranger" -i "$T/id_ed25519"
has err "Offering public key: $T/id_ed25519 ED25519 SHA256:"
has err 'Authenticated to 127.0.0.1 ([127.0.0.1]:'
has err 'using "publickey".'
run 'no publickey' 255 -i "$T/id_ed25519" -o PubkeyAuthentication=no -o BatchMode=yes
cp id_ed25519 open && chmod 644 open && cp id_ed25519.pub open.pub
run 'a key file that others may read' 255 -i "$T/open" -o BatchMode=yes
has err 'UNPROTECTED PRIVATE KEY FILE!'
has err "Permissions 0644 for '$T/open' are too open."
for k in openssh pem pkcs8; do
	answers wrong 'sesam öffne'
	run "passphrase of enc_$k, right the second time" 0 -i "$T/enc_$k"
	asked 2 "Enter passphrase for key '$T/enc_$k': "
done
answers wrong wrong
run 'wrong passphrases' 255 -i "$T/enc_openssh" -o NumberOfPasswordPrompts=2 -o PreferredAuthentications=publickey
answers 'sesam öffne'
run 'a passphrase in batch mode' 255 -i "$T/enc_openssh" -o BatchMode=yes
asked 0 passphrase

# ---- agent

no_answers
if command -v ssh-agent >/dev/null && command -v ssh-add >/dev/null; then
	ssh-agent -D -a "$T/agent" >agent.out 2>&1 &
	agent_pid=$! i=0
	while [ ! -S agent ] && [ $i -lt 500 ]; do i=$((i + 1)); sleep 0.01; done
	SSH_AUTH_SOCK=$T/agent
	export SSH_AUTH_SOCK
	ssh-add -q id_stranger id_rsa
	run 'key of the agent' 0 -v -o IdentityAgent=SSH_AUTH_SOCK
	has err 'rsa key RSA SHA256:'
	run 'key of the agent, named by its public half' 0 -v -o IdentityAgent="$T/agent" -o IdentitiesOnly=yes -i "$T/id_rsa.pub"
	hasnt err id_stranger
	run 'IdentitiesOnly' 255 -o IdentityAgent="$T/agent" -o IdentitiesOnly=yes -i "$T/id_stranger" -o BatchMode=yes
	run 'no agent' 255 -o IdentityAgent=none -o BatchMode=yes
	ssh-add -q -D 2>/dev/null
	run 'AddKeysToAgent' 0 -o IdentityAgent="$T/agent" -o AddKeysToAgent=1h -i "$T/id_ed25519"
	ssh-add -l >out 2>&1
	has out 'ed25519 key (ED25519)'
	ssh-add -q -D 2>/dev/null
	# A key that is bound to this server needs the session's binding and the host-bound form.
	if ssh-add -q -h "[127.0.0.1]:$port" -H "$T/known" id_rsa 2>err; then
		run 'key with a destination constraint' 0 -o IdentityAgent="$T/agent"
		run 'the same without the host-bound form' 0 -o IdentityAgent="$T/agent" -o PubkeyAuthentication=unbound
	fi
	kill "$agent_pid"; wait "$agent_pid" 2>/dev/null
	agent_pid=''
	unset SSH_AUTH_SOCK
fi

# ---- password, keyboard-interactive, several factors

if [ $root = 1 ]; then
answers wrong "$password"
run 'password, right the second time' 0 -o PreferredAuthentications=password
asked 2 "$user@127.0.0.1's password: "
has err 'Permission denied, please try again.'
answers 1 2 3 "$password"
run 'three wrong passwords' 255 -o PreferredAuthentications=password
asked 3 password
has err "$user@127.0.0.1: Permission denied (publickey,password"
answers "$password"
run 'no password in batch mode' 255 -o BatchMode=yes
asked 0 password
no_answers
run 'nobody answers' 255 -o PreferredAuthentications=password
asked 1 password
fi
start "AuthenticationMethods publickey,password publickey,publickey"
if [ $root = 1 ]; then
answers "$password"
run 'key and password' 0 -v -i "$T/id_ed25519" -o PreferredAuthentications=publickey,password
has err 'Authenticated using "publickey" with partial success.'
fi
no_answers
run 'two keys' 0 -i "$T/id_ed25519" -i "$T/id_rsa" -o BatchMode=yes
run 'one key of two' 255 -i "$T/id_ed25519" -o BatchMode=yes
if [ $root = 1 ] && ls -d /lib/security/pam_unix.so /lib/*/security/pam_unix.so /usr/lib*/security/pam_unix.so 2>/dev/null | grep -q .; then
	start 'UsePAM yes' 'KbdInteractiveAuthentication yes' 'PasswordAuthentication no'
	answers wrong "$password"
	run 'keyboard-interactive, right the second time' 0 -v
	asked 2 "($user@127.0.0.1) Password: "
	has err 'using "keyboard-interactive".'
	run 'keyboard-interactive switched off' 255 -o KbdInteractiveAuthentication=no
fi
printf 'Hello \033[2J there\n' >banner
start "Banner $T/banner" 'MaxAuthTries 2'
run 'banner' 0 -i "$T/id_ed25519"
has err 'Hello \033[2J there'
run 'banner not below INFO' 0 -i "$T/id_ed25519" -o LogLevel=ERROR
hasnt err Hello
for i in 1 2; do $keygen -q -t ed25519 -N '' -f more_$i; done
run 'too many keys' 255 -i "$T/id_stranger" -i "$T/more_1" -i "$T/more_2" -o BatchMode=yes
has err 'Too many authentication failures'

# ---- host keys

start
K="-i $T/id_ed25519"
new="The authenticity of host '[127.0.0.1]:$port ([127.0.0.1]:$port)' can't be established."
fingerprint=$($keygen -lf host_ed25519.pub | cut -d' ' -f2)
rm -f known
no_answers
run 'new host, strict' 255 $K -o StrictHostKeyChecking=yes
has err "No ED25519 host key is known for [127.0.0.1]:$port and you have requested strict checking."
has err 'Host key verification failed.'
answers no
run 'new host, no' 255 $K -o StrictHostKeyChecking=ask
asked 1 "$new"
asked 1 "ED25519 key fingerprint is: $fingerprint"
asked 1 'Are you sure you want to continue connecting (yes/no/[fingerprint])? '
has err 'Host key verification failed.'
answers yes
run 'new host in batch mode' 255 $K -o StrictHostKeyChecking=ask -o BatchMode=yes
asked 0 authenticity
answers maybe "$fingerprint"
run 'new host, fingerprint typed' 0 $K -o StrictHostKeyChecking=ask
asked 1 "Please type 'yes', 'no' or the fingerprint: "
has err "Warning: Permanently added '[127.0.0.1]:$port' (ED25519) to the list of known hosts."
no_answers
run 'known host' 0 $K -o StrictHostKeyChecking=yes
[ ! -s err ]; ok $? '... without a word'
rm known
run 'accept-new' 0 $K
has known "[127.0.0.1]:$port ssh-ed25519 "
rm known
run 'hashed' 0 $K -o HashKnownHosts=yes
hasnt known 127.0.0.1
run 'hashed and known' 0 $K -o StrictHostKeyChecking=yes
rm known
printf '[127.0.0.1]:%s %s\n' "$port" "$(cut -d' ' -f1,2 host_ecdsa.pub)" >known
run 'the type of key that is known is asked for' 0 -v $K -o StrictHostKeyChecking=yes
has err 'host key algorithm: ecdsa-sha2-nistp256'
printf '127.0.0.1 %s\n' "$(cut -d' ' -f1,2 host_ed25519.pub)" >known
run 'known without its port' 0 $K -o StrictHostKeyChecking=yes
printf 'cluster %s\n' "$(cut -d' ' -f1,2 host_rsa.pub)" >known
run 'HostKeyAlias' 0 $K -o HostKeyAlias=Cluster -o StrictHostKeyChecking=yes
answers "$password"
[ $root = 0 ] || run 'HostKeyAlias in the prompt' 0 -o HostKeyAlias=Cluster -o PreferredAuthentications=password
[ $root = 0 ] || asked 1 "$user@cluster's password: "
no_answers
printf '@revoked * %s\n' "$(cut -d' ' -f1,2 host_ed25519.pub)" >known
run 'revoked host key' 255 $K -o HostKeyAlgorithms=ssh-ed25519
has err 'REVOKED HOST KEY DETECTED'
rm known
run 'RevokedHostKeys' 255 $K -o RevokedHostKeys="$T/host_ed25519.pub" -o StrictHostKeyChecking=no
has err 'is revoked by'
has err 'Host key verification failed.'
[ ! -e known ]; ok $? '... not filed'
run 'NoHostAuthenticationForLocalhost' 0 $K -o NoHostAuthenticationForLocalhost=yes -o StrictHostKeyChecking=yes
[ ! -e known ]; ok $? '... not filed'
cat >hosts-command <<END
#!/bin/sh
echo "\$1 $(cut -d' ' -f1,2 host_ed25519.pub)"
END
chmod 755 hosts-command
run 'KnownHostsCommand' 0 $K -o StrictHostKeyChecking=yes -o KnownHostsCommand="$T/hosts-command %H"
run 'VisualHostKey' 0 $K -o VisualHostKey=yes
has err '+--[ED25519 256]--+'
run 'CheckHostIP' 0 $K -o CheckHostIP=yes

start "HostKey $T/host_new"
no_answers
for policy in yes ask accept-new; do
	run "changed host key, $policy" 255 $K -o StrictHostKeyChecking=$policy
	has err 'REMOTE HOST IDENTIFICATION HAS CHANGED!'
	has err "Offending ED25519 key in $T/known:1"
	has err 'Host key verification failed.'
done
run 'changed host key, no' 0 $K -o StrictHostKeyChecking=no
has err 'REMOTE HOST IDENTIFICATION HAS CHANGED!'
answers "$password"
run 'no password for a changed host' 255 -o StrictHostKeyChecking=no -o PreferredAuthentications=password,keyboard-interactive
asked 0 password
no_answers

# ---- through a proxy

rm -f known
cat >proxy <<'END'
use IO::Socket::INET; use IO::Select;
my $s = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => $ARGV[1]) or exit 1;
my $sel = IO::Select->new($s, \*STDIN);
while (1) {
	for my $h ($sel->can_read) {
		my $n = sysread($h, my $b, 65536);
		exit 0 unless $n;
		my $to = $h == $s ? \*STDOUT : $s;
		for (my $at = 0; $at < $n;) { $at += syswrite($to, $b, $n - $at, $at) // exit 1 }
	}
}
END
answers yes
run 'ProxyCommand' 0 -v $K -o "ProxyCommand=perl $T/proxy %h %p" -o StrictHostKeyChecking=ask
asked 1 "The authenticity of host '[127.0.0.1]:$port (reached through a proxy)' can't be established."
has err 'Authenticated to 127.0.0.1 (via proxy) using "publickey".'
run 'ProxyCommand that fails' 255 $K -o "ProxyCommand=exit 3"

# ---- the terminal

if [ $root = 1 ] && command -v expect >/dev/null; then
	rm -f known
	cat >talk.exp <<END
set timeout 20
log_user 0
spawn -noecho $ssh -F none -p $port -o UserKnownHostsFile=$T/known -o GlobalKnownHostsFile=none -o IdentityAgent=none \\
	-o IdentityFile=none -o PreferredAuthentications=password $user@127.0.0.1 {echo in as \$(id -un)}
expect "continue connecting (yes/no/\\\\\\[fingerprint\\\\\\])? " { send "yes\r" } timeout { exit 2 } eof { exit 3 }
expect "$user@127.0.0.1's password: " { send "$password\r" } timeout { exit 4 } eof { exit 5 }
expect {
	"$password" { exit 6 }
	"in as $user" { exit 0 }
	timeout { exit 7 }
	eof { exit 8 }
}
END
	SSH_ASKPASS_REQUIRE=never expect talk.exp >out 2>err
	ok $? 'question and password on the terminal, without echo'
fi

echo "1..$n"
exit $failed
