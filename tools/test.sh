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

. "$top/tools/packages.sh"

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

# prepare DIR OPTION...: with a prefix in the build folder, where sshd finds the empty folder that it needs as root.
prepare() {
	dir=$1
	shift
	autoreconf_if_old && configure_in "$dir" --prefix="$dir/root" "$@" && install -d -m 755 "$dir/root/var/empty"
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

install_missing "$NEEDED_TO_BUILD $NEEDED_TO_TEST" "$WANTED_TO_TEST"
step prepare prepare "$build"
step checks make_in "$build" check-source
step build make_in "$build" -s -k -j"$jobs" all helpers
step unit built unit "$build"

if [ -z "$WS_FULL" ]; then FUZZ_RUNS=${FUZZ_RUNS:-4000}; else FUZZ_RUNS=${FUZZ_RUNS:-1000000}; fi
UBSAN_OPTIONS=print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
export FUZZ_RUNS UBSAN_OPTIONS
step "prepare with sanitizers" prepare "$san" --enable-sanitizers
step "unit with sanitizers" built unit "$san"
step "fuzz with sanitizers" built fuzz "$san"

# The scripts wait more than they compute, each on ports of its own.
step e2e make_in "$build" -s check-e2e PROVEFLAGS="-j$((jobs + 1))"
step interop make_in "$build" -s check-interop PROVEFLAGS="-j$((jobs + 1))"
[ -z "$WS_FULL" ] || step "e2e with sanitizers" make_in "$san" -s -j"$jobs" check-e2e

# ---- the sum

echo
[ -z "$failed_steps" ] || echo "failed: $failed_steps"
awk '{ p += $1; f += $2; s += $3 } END { if (s) printf "%d skipped\n", s; printf "%d passed, %d failed\n", p, f; exit f > 0 }' "$WS_TOTALS"
