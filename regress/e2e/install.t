#!/bin/sh
# The way from the archive of "make dist" to a copy, as an administrator goes it: configure without autoconf, make, make install
# into a folder of its own, a changed configuration, sshd, scp, a second install, a staged one, uninstall.
WS_BUILD=${WS_BUILD:-$(pwd)}
WS_SRC=${WS_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
umask 022
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR SSH_AUTH_SOCK

T=$(mktemp -d /tmp/ws-install-XXXXXX) || exit 1
chmod 755 "$T"
XDG_CACHE_HOME=$T/cache
export XDG_CACHE_HOME
P=$T/opt/hpn-ssh
n=0
cleanup() {
	[ ! -s "$P/var/run/sshd.pid" ] || kill "$(cat "$P/var/run/sshd.pid")" 2>/dev/null
	cd / && rm -rf "$T"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# ok STATUS NAME [FILE]: the end of FILE is shown when it failed.
ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; return 0; fi
	echo "not ok $n - $2"
	[ -z "$3" ] || tail -n 15 "$3" | sed 's/^/# /'
	return 1
}
# is GOT WANTED NAME
is() {
	[ "$1" = "$2" ]
	ok $? "$3" && return
	printf '#    got: %s\n# wanted: %s\n' "$1" "$2"
}
skip() { n=$((n + 1)); echo "ok $n # SKIP $1"; }
stop_here() { echo "1..$n"; exit 0; }
sums() { (cd "$1" && cksum -- *); }

# ---- the archive

# The compiler of the build that is tested, and no autoconf.
cc=$(sed -n 's/^CC *= //p' "$WS_BUILD/Makefile")
mkdir "$T/bin" "$T/out"
for tool in autoreconf autoconf autoheader aclocal automake; do
	printf '#!/bin/sh\necho "%s was called" >&2\nexit 1\n' $tool >"$T/bin/$tool"
	chmod 755 "$T/bin/$tool"
done
PATH=$T/bin:$PATH
export PATH

if git -C "$WS_SRC" ls-files >/dev/null 2>&1; then
	# In a folder of its own: tests leave nothing in the build folder.
	sed "s|^srcdir *=.*|srcdir = $WS_SRC|" "$WS_BUILD/Makefile" >"$T/out/Makefile"
	make -C "$T/out" -o Makefile -o "$WS_SRC/configure" dist >"$T/dist.log" 2>&1
	ok $? "make dist" "$T/dist.log" || stop_here
	archive=$(echo "$T"/out/wirespeed-ssh-*.tar.gz)
	(cd "$T" && tar xzf "$archive") && mv "$T"/wirespeed-ssh-[0-9]* "$T/src"
	ok $? "the archive unpacks into one folder named by the version"
else
	skip "the tree is no git checkout that this user may read"
	mkdir "$T/src" && (cd "$WS_SRC" && tar cf - --exclude=./build --exclude='./build-*' --exclude=./.git .) | (cd "$T/src" && tar xf -)
	make -C "$T/src" distclean >/dev/null 2>&1
	ok 0 "a copy of the tree instead"
fi

# ---- configure, make, make install

cd "$T/src" || exit 1
# Without optimizer and hardening: this is about files, not about speed.
./configure --prefix="$P" --with-pid-dir="$P/var/run" --with-privsep-user=nobody --disable-hardening CC="$cc" CFLAGS=-O0 \
	>"$T/configure.log" 2>&1
ok $? "configure in the unpacked folder, without autoconf" "$T/configure.log" || stop_here
make -j2 all >"$T/make.log" 2>&1
ok $? "make" "$T/make.log" || stop_here
make install >"$T/install.log" 2>&1
ok $? "make install" "$T/install.log" || stop_here
grep -q "new host keys in $P/etc: rsa ecdsa ed25519" "$T/install.log"
ok $? "it says that it made host keys" "$T/install.log"

programs='bin/ssh bin/ssh-keygen sbin/sshd libexec/sftp-server'
[ ! -f scp.c ] || programs="$programs bin/scp"
missing=
for f in $programs etc/ssh_config etc/sshd_config share/man/man8/sshd.8 share/doc/wirespeed-ssh/LICENCE; do
	[ -f "$P/$f" ] || missing="$missing $f"
done
is "$missing" "" "programs, configuration, manual and documents are where they belong"
is "$(for k in rsa ecdsa ed25519; do stat -c %a "$P/etc/ssh_host_${k}_key" "$P/etc/ssh_host_${k}_key.pub"; done | tr '\n' ' ')" \
	"600 644 600 644 600 644 " "host keys are the owner's alone, the public halves everybody's"
is "$(find "$P" -type f -perm /022; find "$P" -type d -perm /022)" "" "nothing is writable by others"
grep -rl '@[A-Z_]\{3,\}@' "$P/etc" "$P/share" >"$T/unfilled"
[ ! -s "$T/unfilled" ]
ok $? "no name of a folder is left to be filled in" "$T/unfilled"
grep -q "^Port 20022" "$P/etc/sshd_config" && grep -q "$P/etc/ssh_host_ed25519_key" "$P/etc/sshd_config"
ok $? "the configuration names port 20022 and this folder" "$P/etc/sshd_config"
grep -la '/etc/ssh/' "$P"/bin/* "$P"/sbin/* "$P"/libexec/* "$P"/etc/*_config >"$T/foreign"
[ ! -s "$T/foreign" ]
ok $? "nothing looks into the folder of the system's ssh" "$T/foreign"

# ---- sshd and a copy

"$P/sbin/sshd" -t >"$T/test.log" 2>&1
ok $? "sshd -t likes what was installed" "$T/test.log"
"$P/bin/ssh-keygen" -q -t ed25519 -N '' -f "$T/key" && cp "$T/key.pub" "$T/authorized_keys"
# What the administrator changes; the rest only because this is not his home.
pam=yes
[ -e /etc/pam.d/sshd ] || pam=no
sed -e 's/^#NoneEnabled no/NoneEnabled yes/' -e "s|^#AuthorizedKeysFile .*|AuthorizedKeysFile $T/authorized_keys|" \
	-e 's/^#StrictModes yes/StrictModes no/' -e "s/^UsePAM yes/UsePAM $pam/" -e 's/^#ListenAddress 0.0.0.0/ListenAddress 127.0.0.1/' \
	"$P/etc/sshd_config" >"$T/config" && cat "$T/config" >"$P/etc/sshd_config"
is "$("$P/sbin/sshd" -T 2>&1 | grep -i '^noneenabled')" "NoneEnabled yes" "sshd -T shows the change"

# copy OPTION...: with the scp that was installed, off the cipher.
copy() {
	if [ ! -x "$P/bin/scp" ]; then
		skip "scp is not built"
		return
	fi
	[ -s "$T/big.file" ] || head -c 3000000 /dev/urandom >"$T/big.file"
	rm -f "$T/big.copy"
	# shellcheck disable=SC2086
	"$P/bin/scp" "$@" $options -P $port "$T/big.file" "$(id -un)@127.0.0.1:$T/big.copy" \
		>"$T/scp.log" 2>&1 && cmp "$T/big.file" "$T/big.copy" >>"$T/scp.log" 2>&1 && grep -q 'NONE CIPHER' "$T/scp.log"
	ok $? "scp $*" "$T/scp.log"
}
port=$((20100 + $$ % 10000)) tries=0
until "$P/sbin/sshd" -p $port -E "$T/sshd.log" >"$T/start.log" 2>&1 || [ $tries -ge 20 ]; do
	port=$((port + 1)) tries=$((tries + 1))
done
# The pid file is written right after the start has been reported.
i=0
while [ ! -s "$P/var/run/sshd.pid" ] && [ $i -lt 100 ]; do sleep 0.05; i=$((i + 1)); done
[ -s "$P/var/run/sshd.pid" ]
ok $? "sshd starts, goes into the background and writes its pid file" "$T/start.log"
sshd_pid=$(cat "$P/var/run/sshd.pid" 2>/dev/null)
options="-F none -i $T/key -o UserKnownHostsFile=$T/known_hosts -o StrictHostKeyChecking=accept-new -o BatchMode=yes"
if ! getent passwd "$(id -un)" | cut -d: -f7 | grep -qxFf /etc/shells; then
	skip "this account has no login shell"
	skip "this account has no login shell"
	skip "this account has no login shell"
else
	# shellcheck disable=SC2086
	got=$("$P/bin/ssh" $options -p $port "$(id -un)@127.0.0.1" 'echo "$PATH"' 2>"$T/ssh.err")
	case $got in
	*"$P/bin:"*) ok 0 "ssh logs in; its session finds the programs of this folder first" ;;
	*) ok 1 "ssh logs in; its session finds the programs of this folder first" "$T/ssh.err"; echo "# got: $got" ;;
	esac
	copy -oNoneSwitch=yes
	copy -oNoneEnabled=yes -oNoneSwitch=yes
fi
[ -z "$sshd_pid" ] || kill "$sshd_pid"
i=0
while [ -e "$P/var/run/sshd.pid" ] && [ $i -lt 100 ]; do sleep 0.05; i=$((i + 1)); done
[ ! -e "$P/var/run/sshd.pid" ]
ok $? "it ends and takes its pid file away" "$T/sshd.log"

# ---- again, staged, with keys of another server

sums "$P/etc" >"$T/before"
make install >"$T/install2.log" 2>&1
sums "$P/etc" | cmp - "$T/before" >>"$T/install2.log" 2>&1
ok $? "a second install leaves configuration and host keys alone" "$T/install2.log"

make install DESTDIR="$T/stage" >"$T/stage.log" 2>&1 && [ -x "$T/stage$P/sbin/sshd" ] && [ -d "$T/stage$P/var/run" ]
ok $? "make install DESTDIR= puts everything below that folder" "$T/stage.log"
is "$(find "$T/stage" -name 'ssh_host_*')" "" "a staged install has no host keys"
grep -rl "$T/stage" "$T/stage" >"$T/leak"
[ ! -s "$T/leak" ]
ok $? "and does not know that it was staged" "$T/leak"

mkdir "$T/hostkeys"
"$P/bin/ssh-keygen" -q -t ed25519 -N '' -C old -f "$T/hostkeys/ssh_host_ed25519_key"
rm "$P"/etc/ssh_host_*
make install HOST_KEYS_FROM="$T/hostkeys" >"$T/adopt.log" 2>&1
ok $? "make install HOST_KEYS_FROM=" "$T/adopt.log"
is "$(cd "$P/etc" && echo ssh_host_*) $(stat -c %a "$P/etc/ssh_host_ed25519_key")" \
	"ssh_host_ed25519_key ssh_host_ed25519_key.pub 600" "takes over the keys that are there and makes no others"
is "$(cut -d' ' -f2 "$P/etc/ssh_host_ed25519_key.pub")" "$(cut -d' ' -f2 "$T/hostkeys/ssh_host_ed25519_key.pub")" "the same key"

# ---- away

make uninstall >"$T/uninstall.log" 2>&1
ok $? "make uninstall" "$T/uninstall.log"
is "$(cd "$P" && find . -type f | sort | tr '\n' ' ')" \
	"./etc/ssh_config ./etc/ssh_host_ed25519_key ./etc/ssh_host_ed25519_key.pub ./etc/sshd_config " \
	"leaves configuration and host keys, and nothing else"
echo "1..$n"
