# packages.sh: to be sourced by the scripts beside it, with $top and $build set: what has to be installed, and configure.

# package:a file that shows that it is there.
NEEDED_TO_BUILD='gcc:bin/cc libc6-dev:include/stdio.h make:bin/make autoconf:bin/autoreconf pkg-config:bin/pkg-config
libssl-dev:include/openssl/evp.h zlib1g-dev:include/zlib.h libpam0g-dev:include/security/pam_appl.h
libcrypt-dev:include/crypt.h'
NEEDED_TO_TEST='perl:bin/prove libcmocka-dev:include/cmocka.h openssl:bin/openssl'
WANTED_TO_TEST='openssh-client:bin/ssh openssh-server:sbin/sshd openssh-sftp-server:lib/openssh/sftp-server procps:bin/pgrep
iproute2:bin/ss dropbear-bin:sbin/dropbear putty-tools:bin/plink python3-paramiko:lib/python3/dist-packages/paramiko
python3-asyncssh:lib/python3/dist-packages/asyncssh libssh-dev:include/libssh/libssh.h curl:bin/curl lftp:bin/lftp
rsync:bin/rsync sshfs:bin/sshfs git:bin/git xauth:bin/xauth mandoc:bin/mandoc
netcat-openbsd:bin/nc expect:bin/expect strace:bin/strace'

# missing PAIRS: the packages whose file is nowhere.
missing() {
	for pair in $1; do
		# Headers may stand in a folder of the architecture.
		for file in /usr/"${pair#*:}" /usr/local/"${pair#*:}" /"${pair#*:}" /usr/include/*-linux-*/"${pair#*:include/}"; do
			[ -e "$file" ] && continue 2
		done
		printf '%s ' "${pair%%:*}"
	done
}

apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@" </dev/null
}

# install_missing NEEDED [WANTED]: as root with apt-get; otherwise says what is missing and goes on.
install_missing() {
	need=$(missing "$1")
	want=$(missing "$2")
	[ -n "$need$want" ] || return 0
	if [ -n "$WS_NO_INSTALL" ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		[ -z "$need" ] || echo "missing, the build may fail: $need"
		[ -z "$want" ] || echo "missing, tests with these are skipped: $want"
		return 0
	fi
	echo "== installing: $need$want"
	# Servers that come with their package are not to be started here.
	policy=/usr/sbin/policy-rc.d
	if [ -e $policy ]; then policy=; else printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy; fi
	apt update >/dev/null || echo "apt-get update failed"
	if ! apt install --no-install-recommends $need $want >"$build/apt.log" 2>&1; then
		# One that is not to be had must not keep the others away.
		for p in $need $want; do
			apt install --no-install-recommends "$p" >>"$build/apt.log" 2>&1 || echo "could not install $p, see $build/apt.log"
		done
	fi
	[ -z "$policy" ] || rm -f $policy
}

# configure_in DIR OPTION...: again only when configure or the options changed.
configure_in() (
	dir=$1
	shift
	mkdir -p "$dir" && cd "$dir" || exit 1
	wanted="$* CC=$CC"
	if [ ! -f Makefile ] || [ "$top/configure" -nt Makefile ] || [ "$(cat test.configured 2>/dev/null)" != "$wanted" ]; then
		"$top/configure" -q "$@" ${CC:+"CC=$CC"} && echo "$wanted" >test.configured
	fi
)

autoreconf_if_old() {
	for f in "$top"/configure.ac "$top"/aclocal.m4 "$top"/version.h "$top"/m4/*.m4; do
		if [ ! -x "$top/configure" ] || [ "$f" -nt "$top/configure" ]; then
			(cd "$top" && autoreconf -fi) || return 1
			break
		fi
	done
}
