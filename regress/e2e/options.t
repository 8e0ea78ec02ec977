#!/bin/sh
# What our ssh and sshd make of configuration files, beside the stock programs: `ssh -G` and `sshd -T` must say the same about
# the keywords that both have. Keywords whose defaults or forms have changed since the stock release at hand are left out.
# Run alone: WS_BUILD=build-folder WS_SRC=source-folder sh regress/e2e/options.t
: "${WS_BUILD:?}"
ssh=$WS_BUILD/ssh sshd=$WS_BUILD/sshd
stock=/usr/bin/ssh stock_sshd=/usr/sbin/sshd
dir=$(mktemp -d "${TMPDIR:-/tmp}/ws-options.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1
umask 022
unset DISPLAY WAYLAND_DISPLAY SSH_ASKPASS SSH_ASKPASS_REQUIRE SSH_AUTH_SOCK
SHELL=/bin/sh export SHELL
n=0

ok() { # status, name
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else
		echo "not ok $n - $2"
		for f in diff err; do [ ! -s $f ] || sed "s/^/# $f: /" $f >&2; done
	fi
}

if [ ! -x $stock ]; then echo "1..0 # SKIP no stock ssh"; exit 0; fi

# Keywords of ssh -G whose lines are not compared, and those that only one of the two knows.
skip='forwardx11trusted|gssapi[a-z]*|[a-z]*algorithms|ciphers|macs|warnweakcrypto|obscurekeystroketiming|channeltimeout|revokedhostkeys|securitykeyprovider|logverbose|enableescapecommandline|requiredrsasize|canonicalizePermittedcnames|xauthlocation'
own='tcprcvbufpoll|hpndisabled|noneswitch|noneenabled|nonemacenabled|fallback|metrics|usemptcp|happyeyes|metricsinterval|fallbackport|happydelay|metricspath|compressionlevel|compressionmode|compressionzstd|noneswitchfromfile|noneswitchfallback|peermemory|cipherpreference'

lines() { grep -vE "^($skip|$own|$1)( |\$)"; }

# same NAME MORE-TO-SKIP HOST ARGS...: the file conf
same() {
	name=$1 more=$2 host=$3; shift 3
	$stock -G -F "$dir/conf" "$@" "$host" 2>/dev/null | lines "$more" >want
	"$ssh" -G -F "$dir/conf" "$@" "$host" 2>err | lines "$more" >got
	diff want got >diff 2>&1 && [ -s got ]
	ok $? "ssh -G: $name"
}
# refused NAME: both refuse the file conf
refused() {
	if $stock -G -F "$dir/conf" host >/dev/null 2>&1; then echo "# stock takes it: $1"; fi
	"$ssh" -G -F "$dir/conf" host >/dev/null 2>err; rc=$?
	[ $rc = 255 ] && tr -d '\r' <err | grep -qE "^$dir/conf(:| line|: line)"
	ok $? "ssh refuses: $1"
}

defaults='ipqos|identityfile|globalknownhostsfile'
: >conf
same 'defaults' "$defaults" Host.Example.com
cat >conf <<-'X'
	Host other
	  Port 1
	Host !h* *
	  Port 2
	Host h*.com "two words" !x
	  Port 3
	  User "me"
	Host *
	  Port 4
	  User you
	  Compression yes
	X
same 'Host blocks' "$defaults" host.com
same 'Host blocks, negated' "$defaults" x
cat >conf <<-'X'
	Match host h*,!hx user root
	  Port 5
	Match originalhost h1 exec "test %n = h1 -a %p = 5"
	  BatchMode yes
	Match !user root localuser *
	  Compression yes
	Match all
	  Hostname %h.example.com
	Match final host h1.example.com
	  ServerAliveInterval 1m
	Match canonical all
	  ServerAliveCountMax 9
	X
same 'Match blocks' "$defaults" h1
same 'Match blocks, other host' "$defaults" hx
mkdir inc
printf 'Port 7\nHost h2\nUser two\n' >inc/a.conf
printf 'User three\nCompression yes\n' >inc/b.conf
printf 'Include %s/inc/*.conf %s/nothing*\nPort 8\nHost no\nInclude %s/inc/b.conf\nHost *\nUser four\n' "$dir" "$dir" "$dir" >conf
same 'Include' "$defaults" h1
same 'Include, block in it' "$defaults" h2
cat >conf <<-'X'
	AddKeysToAgent confirm 5m
	AddressFamily inet6
	BindAddress 127.0.0.1
	CanonicalDomains a.b c.d
	CheckHostIP yes
	ConnectionAttempts 3
	ConnectTimeout none
	ConnectTimeout 1m30s
	ControlMaster auto
	ControlPath ~/.ssh/%C-%h-%p-%%
	ControlPersist 10m
	EscapeChar ^B
	ExitOnForwardFailure yes
	FingerprintHash md5
	ForwardAgent no
	GatewayPorts yes
	GlobalKnownHostsFile /a "~/b c"
	HashKnownHosts yes
	HostKeyAlias ALIAS
	IPQoS 5 af11
	IdentitiesOnly yes
	IdentityAgent ~/agent-%h
	IdentityFile ~/%h
	IdentityFile /b
	IdentityFile /b
	KbdInteractiveDevices pam
	LogLevel DEBUG1
	NumberOfPasswordPrompts 1
	PreferredAuthentications publickey,password
	PubkeyAuthentication unbound
	RekeyLimit 1.5G 1h
	RequestTTY force
	SendEnv A B C* D
	SendEnv -B
	SetEnv A=1 "B=two words" A=3
	ServerAliveInterval 2m
	SessionType none
	StreamLocalBindMask 0
	StrictHostKeyChecking accept-new
	SyslogFacility LOCAL3
	TCPKeepAlive no
	TunnelDevice 1:any
	UpdateHostKeys no
	UserKnownHostsFile ~/%h /%u
	VerifyHostKeyDNS ask
	VisualHostKey yes
	X
same 'values of all kinds' - h1
cat >conf <<-'X'
	LocalForward 8080 host:80
	LocalForward [::1]:8080 [fe80::1]:80
	LocalForward *:8080 host:80
	LocalForward :8081 host:80
	LocalForward 8080 host:80
	LocalForward /tmp/%h host:80
	RemoteForward 1080
	RemoteForward [::1]:1080
	RemoteForward 0 host:22
	RemoteForward /tmp/x /tmp/y
	DynamicForward 1080
	DynamicForward localhost:1081
	PermitRemoteOpen a:1 *:* [::1]:80
	X
same 'forwards' "$defaults" h1
same 'forwards of the command line' "$defaults" h1 -L 9090:a:90 -R 9091:b:91 -D 9092
"$ssh" -G -F none -L 9090:a:90 h1 2>&1 | grep -q 'no effect' && r=1 || r=0
"$ssh" -F none -oProxyCommand=false -L 9090:a:90 h1 true >err 2>&1
grep -q '^-L has no effect: ' err && [ $r = 0 ]; ok $? 'a forward that was typed and cannot be had is said to have no effect'
echo 'ProxyCommand nc "%h" %p # not a comment' >conf
same 'ProxyCommand' "$defaults" h1
printf 'ProxyCommand none\nProxyJump a\n' >conf
same 'ProxyCommand none' "$defaults" h1
printf 'Port = 5\nUser="x y"\n"Compression" yes # c\n\tBatchMode  yes  \n' >conf
# Debian's batch mode sets ServerAliveInterval.
same 'syntax of lines' "$defaults|serveraliveinterval" h1
printf 'IgnoreUnknown Use*\nUseKeychain yes\nPort 9\n' >conf
same 'IgnoreUnknown' "$defaults" h1
printf 'Port 1\nUser file\nForwardAgent no\n' >conf
same 'flags, -o, file' "$defaults" h1 -o Port=2 -p 3 -l me -o User=you -A -o ForwardAgent=no -v
same 'user@ and -o' "$defaults" me@h1 -o User=you
same 'flags that force' "$defaults" h1 -C -o Compression=no -x -T -q -e none -4 -N

for bad in 'Foo 1' 'Port' 'Port x' 'Port 1 2' 'User "a' 'Match' 'Match user' 'Match foo x' 'Match all user x' 'RekeyLimit 15' \
    'Ciphers bogus' 'LocalForward 1' 'IPQoS x' 'Compression true' 'EscapeChar ab' 'SetEnv x' 'StreamLocalBindMask 9' \
    'ControlPersist YES' 'UserKnownHostsFile none b' 'TunnelDevice x' 'ConnectTimeout x' 'LogLevel x'; do
	printf '\n%s\n' "$bad" >conf
	refused "$bad"
done
printf 'A 1\nPort 1\nB 2\n' >conf
"$ssh" -G -F conf host >/dev/null 2>err
printf 'conf: line 1: Bad configuration option: a\nconf: line 3: Bad configuration option: b\nconf: terminating, 2 bad configuration options\n' >want
tr -d '\r' <err | diff want - >diff; ok $? 'ssh: texts about bad lines'
printf 'Port 1\n' >conf; chmod 666 conf; printf 'Include %s/conf\n' "$dir" >top
"$ssh" -G -F top host >/dev/null 2>err; [ $? = 255 ] && grep -q "^Bad owner or permissions on $dir/conf" err
ok $? 'ssh: a file that others can write is not included'

# ---- the files that are installed: as they are, and with what their comments show taken in
if [ -f "$WS_BUILD/etc.out/ssh_config" ]; then
	"$ssh" -G -F "$WS_BUILD/etc.out/ssh_config" host 2>/dev/null >want; [ -s want ]; ok $? 'etc/ssh_config is read'
	sed -E 's/^#([A-Z])/\1/; s/^#\t/\t/' "$WS_BUILD/etc.out/ssh_config" >conf
	"$ssh" -G -F conf host 2>err | grep -vE '^(identityfile|sendenv) ' >got
	grep -vE '^(identityfile|sendenv) ' want | diff - got >diff && [ -s got ]
	ok $? 'what etc/ssh_config shows as defaults are defaults'
fi

# ---- sshd -T
if [ -x $stock_sshd ] && [ -x "$sshd" ] && [ -x "$WS_BUILD/ssh-keygen" ] && [ "$(id -u)" = 0 ]; then
	"$WS_BUILD/ssh-keygen" -q -t ed25519 -N '' -f "$dir/key"
	sskip='gssapi[a-z]*|kerberos[a-z]*|[a-z]*algorithms|ciphers|macs|channeltimeout|unusedconnectiontimeout|ipqos|persourcepenalt[a-z]*|refuseconnection|revokedkeys|securitykeyprovider|sshd[a-z]*path|pamservicename|usepam|pidfile|modulifile|xauthlocation|permitrootlogin|requiredrsasize|persourcenetblocksize|debianbanner|authorizedkeysfile'
	sown='hpndisabled|tcprcvbufpoll|noneenabled|nonemacenabled|usemptcp|compressionlevel|compressionmode|compressionzstd|cipherpreference'
	slines() { tr 'A-Z' 'a-z' | grep -vE "^($sskip|$sown)( |\$)"; }
	same_server() { # NAME ARGS...
		name=$1; shift
		[ -d /run/sshd ] || mkdir -p /run/sshd
		$stock_sshd -T -f "$dir/conf" "$@" 2>/dev/null | slines | sort >want
		"$sshd" -T -f "$dir/conf" "$@" 2>err | slines | sort >got
		diff want got >diff 2>&1 && [ -s got ]
		ok $? "sshd -T: $name"
	}
	echo "HostKey $dir/key" | tee key.line >conf
	same_server 'defaults'
	cat >conf <<-'X'
	Port 22
	Port 2222
	ListenAddress 127.0.0.1
	ListenAddress ::1
	ListenAddress 127.0.0.2:99
	AllowUsers a b@1.2.3.4 c
	AllowUsers d
	DenyGroups x y
	AcceptEnv LANG LC_*
	SetEnv A=b C="d e"
	Subsystem sftp /usr/lib/openssh/sftp-server -l INFO
	Subsystem foo internal-sftp
	MaxStartups 5
	PermitOpen a:1 *:* [::1]:80
	PermitListen 80 *:81 localhost:82
	PermitUserEnvironment LANG,LC_*
	AuthenticationMethods publickey,password publickey,keyboard-interactive:pam
	RekeyLimit 1G 1h
	LogLevel DEBUG1
	VersionAddendum a b # c
	Banner /etc/issue
	ForceCommand echo hi # there
	ChrootDirectory ~/x
	StreamLocalBindMask 0
	FingerprintHash md5
	GatewayPorts clientspecified
	LoginGraceTime 1m30s
	ClientAliveInterval 2m
	AllowTcpForwarding local
	X
	cat key.line >>conf
	same_server 'values of all kinds'
	cat >conf <<-'X'
	MaxSessions 1
	AllowUsers g
	Subsystem a /a
	Match user root
	MaxSessions 2
	AllowUsers m1
	Match user root address 192.0.2.0/24
	MaxSessions 3
	MaxAuthTries 2
	AllowUsers m2
	Match localport 2222
	X11Forwarding yes
	Match all
	PermitTTY no
	X
	sed '1r key.line' conf >conf.2; mv conf.2 conf
	same_server 'Match, other user' -C user=nobody,host=h,addr=10.0.0.1,lport=22,laddr=127.0.0.1
	same_server 'Match, user' -C user=root,host=h,addr=10.0.0.1,lport=22,laddr=127.0.0.1
	same_server 'Match, user and address' -C user=root,host=h,addr=192.0.2.9,lport=2222,laddr=127.0.0.1
	if [ -f "$WS_BUILD/etc.out/sshd_config" ]; then
		cat key.line "$WS_BUILD/etc.out/sshd_config" >conf
		"$sshd" -T -f "$dir/conf" 2>err >want; [ -s want ]; ok $? 'etc/sshd_config is read'
		sed -E 's/^#([A-Z][A-Za-z0-9]* [^ ]+( [^ ]+)?$)/\1/; /^(Listen|Match)/d' conf >conf.2
		"$sshd" -T -f "$dir/conf.2" 2>err | grep -v '^HostKey' >got
		grep -v '^HostKey' want | diff - got >diff && [ -s got ]
		ok $? 'what etc/sshd_config shows as defaults are defaults'
	fi
	echo 'Port 5' | cat - key.line >conf
	same_server 'command line' -o MaxSessions=7 -p 44
fi
echo "1..$n"
