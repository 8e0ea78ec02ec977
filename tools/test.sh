#!/bin/sh
# test.sh [--full]: builds and tests everything, from any folder; on a bare Debian 12 as root it first installs what is
# missing. Nothing stops it early; the last line is "N passed, N failed", and the exit status tells the same.
#
#   --full         the whole matrix, large files, long runs (the scripts see WS_FULL=1); may take hours
#   WS_BUILD=DIR   build there instead of build/ in the tree; DIR-san holds the build with sanitizers
#   WS_JOBS=N      parallel jobs (number of processors)
#   WS_NO_INSTALL=1  never call apt-get
#   CC=...         the compiler, also for a build folder that is there already

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS T
for arg; do
	case $arg in
	--full) WS_FULL=1; export WS_FULL ;;
	*) echo "usage: $0 [--full]" >&2; exit 2 ;;
	esac
done
build=${WS_BUILD:-$top/build}
mkdir -p "$build" && build=$(cd "$build" && pwd) || exit 1
san=$build-san
jobs=${WS_JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
WS_TEST_TIMEOUT=${WS_TEST_TIMEOUT:-${WS_FULL:+7200}}
WS_TEST_TIMEOUT=${WS_TEST_TIMEOUT:-300}
WS_TOTALS=$build/test.totals
export WS_TEST_TIMEOUT WS_TOTALS
: >"$WS_TOTALS" || exit 1
failed_steps=

# ---- what is needed

# package:a file that shows that it is there. The first list is needed to build, the second one makes more tests run.
NEEDED='gcc:bin/cc libc6-dev:include/stdio.h make:bin/make autoconf:bin/autoreconf perl:bin/prove pkg-config:bin/pkg-config
libssl-dev:include/openssl/evp.h zlib1g-dev:include/zlib.h libpam0g-dev:include/security/pam_appl.h
libcrypt-dev:include/crypt.h libcmocka-dev:include/cmocka.h'
WANTED='openssh-client:bin/ssh openssh-server:sbin/sshd openssh-sftp-server:lib/openssh/sftp-server procps:bin/pgrep
iproute2:bin/ss dropbear-bin:sbin/dropbear putty-tools:bin/plink python3-paramiko:lib/python3/dist-packages/paramiko
python3-asyncssh:lib/python3/dist-packages/asyncssh libssh-dev:include/libssh/libssh.h curl:bin/curl lftp:bin/lftp
rsync:bin/rsync sshfs:bin/sshfs git:bin/git xauth:bin/xauth'

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

install_missing() {
	need=$(missing "$NEEDED")
	want=$(missing "$WANTED")
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

# ---- steps

# step NAME COMMAND...: runs it; a command that failed without a count of its own counts as one.
step() {
	name=$1
	shift
	echo
	echo "== $name"
	begin=$(date +%s)
	before=$(awk '{ n += $2 } END { print n + 0 }' "$WS_TOTALS")
	if "$@"; then result=ok; else
		result=FAILED
		failed_steps="$failed_steps${failed_steps:+, }$name"
		after=$(awk '{ n += $2 } END { print n + 0 }' "$WS_TOTALS")
		[ "$after" -gt "$before" ] || echo "0 1 0" >>"$WS_TOTALS"
	fi
	echo "== $name: $result, $(($(date +%s) - begin)) s"
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

prepare() {
	autoreconf_if_old && configure_in "$build" --prefix=/opt/hpn-ssh
}

# make_in DIR ARGUMENT...
make_in() (
	cd "$1" && shift && make --no-print-directory "$@"
)

# built KIND DIR: builds unit or fuzz, and runs those that could be built.
built() {
	if make_in "$2" -s -k -j"$jobs" "$1"; then
		make_in "$2" "check-$1" PROVEFLAGS="-j$jobs"
		return
	fi
	echo "0 1 0" >>"$WS_TOTALS"
	make_in "$2" "run-$1" PROVEFLAGS="-j$jobs"
	return 1
}

install_missing
step prepare prepare
step checks make_in "$build" check-source
step build make_in "$build" -s -k -j"$jobs" all
step unit built unit "$build"

if [ -z "$WS_FULL" ]; then FUZZ_RUNS=${FUZZ_RUNS:-20000}; else FUZZ_RUNS=${FUZZ_RUNS:-1000000}; fi
UBSAN_OPTIONS=print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
export FUZZ_RUNS UBSAN_OPTIONS
step "prepare with sanitizers" configure_in "$san" --prefix=/opt/hpn-ssh --enable-sanitizers
step "unit with sanitizers" built unit "$san"
step "fuzz with sanitizers" built fuzz "$san"

step e2e make_in "$build" check-e2e
step interop make_in "$build" check-interop
[ -z "$WS_FULL" ] || step "e2e with sanitizers" make_in "$san" -j"$jobs" check-e2e

# ---- the sum

echo
[ -z "$failed_steps" ] || echo "failed: $failed_steps"
awk '{ p += $1; f += $2; s += $3 } END { if (s) printf "%d skipped\n", s; printf "%d passed, %d failed\n", p, f; exit f > 0 }' "$WS_TOTALS"
