/* platform/sandbox_seccomp.c: a list of permitted system calls (Linux, seccomp mode 2).
 *
 * Three tables: calls that may be made; calls that fail without harm, because libraries try them and can live without; and
 * calls that depend on an argument. Everything else kills the process. */
#include "platform/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/limits.h"

/* Which of these exist differs between machines; the busiest come first, for the filter is walked from the top. */
static const unsigned sandbox_allowed[] = {
	__NR_read, __NR_write, __NR_readv, __NR_writev,
#ifdef __NR_epoll_wait
	__NR_epoll_wait,
#endif
	__NR_epoll_pwait, __NR_epoll_ctl,
#ifdef __NR_poll
	__NR_poll,
#endif
	__NR_ppoll,
#ifdef __NR_ppoll_time64
	__NR_ppoll_time64,
#endif
	__NR_clock_gettime,
#ifdef __NR_clock_gettime64
	__NR_clock_gettime64,
#endif
	__NR_gettimeofday,
#ifdef __NR_time
	__NR_time,
#endif
	__NR_clock_getres, __NR_nanosleep, __NR_clock_nanosleep,
	__NR_brk, __NR_munmap, __NR_mremap, __NR_madvise,
	__NR_futex,
#ifdef __NR_futex_time64
	__NR_futex_time64,
#endif
	__NR_getrandom, __NR_close,
	/* A machine with one socketcall for all would need its own table: such are not supported. */
	__NR_sendto, __NR_recvfrom, __NR_sendmsg, __NR_recvmsg, __NR_shutdown, __NR_getsockname, __NR_getpeername,
	__NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_rt_sigaction, __NR_sigaltstack, __NR_restart_syscall,
	__NR_getpid, __NR_getppid, __NR_gettid, __NR_getuid, __NR_geteuid, __NR_getgid, __NR_getegid,
#ifdef __NR_fstat
	__NR_fstat,
#endif
	__NR_lseek, __NR_uname, __NR_sysinfo, __NR_sched_yield, __NR_sched_getaffinity,
#ifdef __NR_rseq
	__NR_rseq,
#endif
	__NR_set_robust_list,
	__NR_exit, __NR_exit_group,
};

/* A C library looks for its catalogues, a logger connects again, a thread pool tries to start: they are told no. */
static const struct { unsigned nr; int why; } sandbox_refused[] = {
	{ __NR_openat, EACCES }, { __NR_readlinkat, EACCES }, { __NR_faccessat, EACCES }, { __NR_getcwd, EACCES },
#ifdef __NR_open
	{ __NR_open, EACCES }, { __NR_stat, EACCES }, { __NR_lstat, EACCES }, { __NR_access, EACCES },
	{ __NR_readlink, EACCES },
#endif
#ifdef __NR_newfstatat
	{ __NR_newfstatat, EACCES },
#endif
#ifdef __NR_statx
	{ __NR_statx, EACCES },
#endif
#ifdef __NR_faccessat2
	{ __NR_faccessat2, EACCES },
#endif
	{ __NR_socket, EACCES }, { __NR_connect, EACCES }, { __NR_setsockopt, EPERM }, { __NR_getsockopt, EPERM },
	{ __NR_ioctl, ENOTTY }, { __NR_prctl, EINVAL }, { __NR_mlock, EPERM }, { __NR_munlock, EPERM },
#ifdef __NR_prlimit64
	{ __NR_prlimit64, EPERM },
#endif
	{ __NR_clone, EAGAIN },
#ifdef __NR_clone3
	{ __NR_clone3, ENOSYS },
#endif
};

enum { SANDBOX_FILTER_MAX = 256 };

struct sandbox_filter {
	struct sock_filter code[SANDBOX_FILTER_MAX];
	unsigned short n;
	uint32_t otherwise;              /* what happens to the rest */
};

static void sandbox_add(struct sandbox_filter *f, struct sock_filter code)
{
	if (f->n < SANDBOX_FILTER_MAX)
		f->code[f->n++] = code;
}

static void sandbox_load(struct sandbox_filter *f, size_t offset)
{
	sandbox_add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void sandbox_return(struct sandbox_filter *f, uint32_t action)
{
	sandbox_add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* The next instruction is taken only if what was loaded is v. */
static void sandbox_if_equal(struct sandbox_filter *f, uint32_t v, uint8_t skip)
{
	sandbox_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, v, 0, skip));
}

static void sandbox_call(struct sandbox_filter *f, unsigned nr, uint32_t action)
{
	sandbox_if_equal(f, nr, 1);
	sandbox_return(f, action);
}

/* Offset of the lower half of an argument. The upper half says nothing for the arguments that are looked at here: the
 * kernel takes them as int or ignores the rest. */
static size_t sandbox_arg(unsigned i)
{
	size_t at = offsetof(struct seccomp_data, args) + i * sizeof(uint64_t);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	at += sizeof(uint32_t);
#endif
	return at;
}

/* Allowed if the bits of `must` are set, and those of `must_not` are not, in the arguments given. */
static void sandbox_call_bits(struct sandbox_filter *f, unsigned nr, unsigned arg_not, uint32_t must_not, int arg_must,
	uint32_t must)
{
	uint8_t more = arg_must >= 0 ? 3 : 0;

	sandbox_if_equal(f, nr, (uint8_t)(4 + more));
	sandbox_load(f, sandbox_arg(arg_not));
	sandbox_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, must_not, 0, 1));
	sandbox_return(f, f->otherwise);
	if (arg_must >= 0) {
		sandbox_load(f, sandbox_arg((unsigned)arg_must));
		sandbox_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, must, 1, 0));
		sandbox_return(f, f->otherwise);
	}
	sandbox_return(f, SECCOMP_RET_ALLOW);
}

/* Allowed if an argument is one of the values; `no` otherwise. */
static void sandbox_call_values(struct sandbox_filter *f, unsigned nr, unsigned arg, const uint32_t *v, uint8_t count,
	uint32_t no)
{
	uint8_t i;

	sandbox_if_equal(f, nr, (uint8_t)(2 + 2 * count));
	sandbox_load(f, sandbox_arg(arg));
	for (i = 0; i < count; i++)
		sandbox_call(f, v[i], SECCOMP_RET_ALLOW);
	sandbox_return(f, no);
}

static void sandbox_build(struct sandbox_filter *f)
{
	const uint32_t flags[] = { F_GETFL, F_SETFL, F_GETFD }, self[] = { (uint32_t)getpid() };
	size_t i;

	sandbox_load(f, offsetof(struct seccomp_data, arch));
	sandbox_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SECCOMP_AUDIT_ARCH, 1, 0));
	sandbox_return(f, SECCOMP_RET_KILL_PROCESS);
	sandbox_load(f, offsetof(struct seccomp_data, nr));
	for (i = 0; i < MEM_COUNT(sandbox_allowed); i++)
		sandbox_call(f, sandbox_allowed[i], SECCOMP_RET_ALLOW);
	for (i = 0; i < MEM_COUNT(sandbox_refused); i++)
		sandbox_call(f, sandbox_refused[i].nr, SECCOMP_RET_ERRNO | (uint32_t)sandbox_refused[i].why);
	/* Memory for data, never for code, and never a file. s390x hands the arguments over in memory, out of sight. */
	if (SECCOMP_AUDIT_ARCH == AUDIT_ARCH_S390X)
		sandbox_call(f, __NR_mmap, SECCOMP_RET_ALLOW);
#ifdef __NR_mmap2
	sandbox_call_bits(f, __NR_mmap2, 2, PROT_EXEC, 3, MAP_ANONYMOUS);
#else
	sandbox_call_bits(f, __NR_mmap, 2, PROT_EXEC, 3, MAP_ANONYMOUS);
#endif
	sandbox_call_bits(f, __NR_mprotect, 2, PROT_EXEC, -1, 0);
#ifdef __NR_fcntl64
	sandbox_call_values(f, __NR_fcntl64, 1, flags, MEM_COUNT(flags), SECCOMP_RET_ERRNO | EPERM);
#else
	sandbox_call_values(f, __NR_fcntl, 1, flags, MEM_COUNT(flags), SECCOMP_RET_ERRNO | EPERM);
#endif
	/* abort() and the like, but nobody else's process. */
	sandbox_call_values(f, __NR_tgkill, 0, self, 1, f->otherwise);
	sandbox_return(f, f->otherwise);
}

/* ---- reporting */

#define SANDBOX_NAME(x) { __NR_##x, #x }
static const struct { unsigned nr; const char *name; } sandbox_names[] = {
	SANDBOX_NAME(mmap), SANDBOX_NAME(mprotect), SANDBOX_NAME(pread64), SANDBOX_NAME(pwrite64), SANDBOX_NAME(dup),
	SANDBOX_NAME(dup3), SANDBOX_NAME(pipe2), SANDBOX_NAME(execve), SANDBOX_NAME(kill), SANDBOX_NAME(tkill),
	SANDBOX_NAME(tgkill), SANDBOX_NAME(bind), SANDBOX_NAME(listen), SANDBOX_NAME(accept), SANDBOX_NAME(accept4),
	SANDBOX_NAME(socketpair), SANDBOX_NAME(setuid), SANDBOX_NAME(setgid), SANDBOX_NAME(setgroups), SANDBOX_NAME(chdir),
	SANDBOX_NAME(chroot), SANDBOX_NAME(umask), SANDBOX_NAME(ftruncate), SANDBOX_NAME(fsync), SANDBOX_NAME(fdatasync),
	SANDBOX_NAME(unlinkat), SANDBOX_NAME(mkdirat), SANDBOX_NAME(getdents64), SANDBOX_NAME(epoll_create1),
	SANDBOX_NAME(eventfd2), SANDBOX_NAME(timerfd_create), SANDBOX_NAME(wait4), SANDBOX_NAME(waitid), SANDBOX_NAME(setsid),
	SANDBOX_NAME(ptrace), SANDBOX_NAME(getrusage), SANDBOX_NAME(times), SANDBOX_NAME(setitimer), SANDBOX_NAME(umount2),
	SANDBOX_NAME(getgroups), SANDBOX_NAME(getsid), SANDBOX_NAME(getpgid), SANDBOX_NAME(getpriority),
	SANDBOX_NAME(setpriority), SANDBOX_NAME(sched_setaffinity), SANDBOX_NAME(getcpu), SANDBOX_NAME(shmget),
	SANDBOX_NAME(memfd_create), SANDBOX_NAME(seccomp), SANDBOX_NAME(pselect6), SANDBOX_NAME(sendmmsg),
	SANDBOX_NAME(recvmmsg), SANDBOX_NAME(fallocate), SANDBOX_NAME(mincore), SANDBOX_NAME(membarrier),
	SANDBOX_NAME(fchmod), SANDBOX_NAME(fchown),
#ifdef __NR_fork
	SANDBOX_NAME(fork), SANDBOX_NAME(vfork), SANDBOX_NAME(pipe), SANDBOX_NAME(dup2), SANDBOX_NAME(select),
	SANDBOX_NAME(alarm), SANDBOX_NAME(unlink), SANDBOX_NAME(rename), SANDBOX_NAME(mkdir),
#endif
#ifdef __NR_getrlimit
	SANDBOX_NAME(getrlimit), SANDBOX_NAME(setrlimit),
#endif
#ifdef __NR_epoll_pwait2
	SANDBOX_NAME(epoll_pwait2),
#endif
#ifdef __NR_pidfd_open
	SANDBOX_NAME(pidfd_open),
#endif
#ifdef __NR_close_range
	SANDBOX_NAME(close_range),
#endif
};

/* A signal handler cannot be given it. Set once, before the filter is. */
static void (*sandbox_violation)(const char *call);

static void sandbox_trapped(int signo, siginfo_t *si, void *context)
{
	char text[64];
	const char *name = "unknown call";
	ssize_t n = 0;
	size_t i;
	int len;

	(void)context;
	for (i = 0; i < MEM_COUNT(sandbox_names); i++)
		if ((int)sandbox_names[i].nr == si->si_syscall)
			name = sandbox_names[i].name;
	len = snprintf(text, sizeof(text), "%s (%d)", name, si->si_syscall);
	if (sandbox_violation != NULL) {
		sandbox_violation(text);
	} else {
		n += write(STDERR_FILENO, "sandbox: forbidden system call ", 31);
		n += write(STDERR_FILENO, text, (size_t)len);
		n += write(STDERR_FILENO, "\r\n", 2);
	}
	(void)n;
	/* The disposition is the default one by now (SA_RESETHAND). */
	(void)raise(signo);
	__builtin_trap();
}

static int sandbox_catch(struct err *e)
{
	struct sigaction sa = { .sa_sigaction = sandbox_trapped, .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND | SA_NODEFER) };
	sigset_t set;

	sigemptyset(&sa.sa_mask);
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	if (sigaction(SIGSYS, &sa, NULL) != 0 || sigprocmask(SIG_UNBLOCK, &set, NULL) != 0)
		return err_set_errno(e, "cannot catch SIGSYS");
	return 0;
}

int sandbox_enter(const struct sandbox_options *o, struct err *e)
{
	struct sandbox_filter f = { .otherwise = SECCOMP_RET_KILL_PROCESS };
	struct sock_fprog program = { .filter = f.code };
	bool trap = o->trap, may_write_files = o->may_write_files;
	int r;

#ifdef WITH_SANITIZERS
	trap = may_write_files = true;   /* their reports go to stderr */
#endif
	if (trap) {
		f.otherwise = SECCOMP_RET_TRAP;
		sandbox_violation = o->violation;
		r = sandbox_catch(e);
		if (r != 0)
			return r;
	}
	r = limits_set_untrusted(may_write_files, e);
	if (r != 0)
		return r;
	sandbox_build(&f);
	program.len = f.n;
	if (f.n == SANDBOX_FILTER_MAX)
		return err_set(e, ERR_MEMORY, "the list of system calls is too long");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return err_set_errno(e, "cannot give up new privileges");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return err_set_errno(e, "cannot filter system calls");
	return 0;
}

const char *sandbox_kind(void)
{
	return "seccomp";
}
