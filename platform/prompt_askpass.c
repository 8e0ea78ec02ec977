/* platform/prompt_askpass.c: running the askpass program (ssh(1), ENVIRONMENT). */
#include "platform/prompt_askpass.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "platform/prompt.h"

extern char **environ;

#define ENV_KIND "SSH_ASKPASS_PROMPT"

static bool env_is_set(const char *name)
{
	const char *v = getenv(name);

	return v != NULL && *v != '\0';
}

enum askpass_wish askpass_wish(void)
{
	const char *require = getenv("SSH_ASKPASS_REQUIRE");
	bool display = env_is_set("DISPLAY") || env_is_set("WAYLAND_DISPLAY");

	if (require != NULL && str_equal_nocase(require, "force"))
		return ASKPASS_FIRST;
	if (require != NULL && str_equal_nocase(require, "never"))
		return ASKPASS_NEVER;
	if (!display)
		return ASKPASS_NEVER;
	if (require != NULL && str_equal_nocase(require, "prefer"))
		return ASKPASS_FIRST;
	return ASKPASS_FALLBACK;
}

/* SSH_ASKPASS, else where systems put theirs. NULL if there is none. */
static const char *askpass_program(void)
{
	static const char *const places[] = {
		"/usr/bin/ssh-askpass", "/usr/lib/ssh/ssh-askpass", "/usr/libexec/openssh/ssh-askpass",
		"/usr/local/bin/ssh-askpass"
	};
	const char *named = getenv("SSH_ASKPASS");

	if (named != NULL && *named != '\0')
		return named;
	for (size_t i = 0; i < MEM_COUNT(places); i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return NULL;
}

/* A copy of the environment in which SSH_ASKPASS_PROMPT is kind, or absent for NULL. Only the last string is ours. */
static char **environment_with_kind(const char *kind, char **own)
{
	size_t n = 0, used = 0;
	char **v;

	while (environ != NULL && environ[n] != NULL)
		n++;
	v = mem_array(n + 2, sizeof(*v));
	for (size_t i = 0; i < n; i++)
		if (!str_starts(environ[i], ENV_KIND "="))
			v[used++] = environ[i];
	*own = kind != NULL ? str_printf(ENV_KIND "=%s", kind) : NULL;
	v[used++] = *own;
	return v;
}

/* out_fd: where its stdout goes, -1 to leave it alone. */
static int askpass_spawn(const char *prompt, const char *kind, int out_fd, pid_t *pid, struct err *e)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, defaults;
	const char *program = askpass_program();
	char *argv[3] = { NULL }, *own = NULL, **env;
	int rc;

	if (program == NULL)
		return err_set(e, ERR_NONE_FOUND, "there is no askpass program: set SSH_ASKPASS to one");
	argv[0] = mem_strdup(program);
	argv[1] = mem_strdup(prompt);
	env = environment_with_kind(kind, &own);
	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (out_fd >= 0)
		posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
	rc = posix_spawn(pid, program, &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	free(env);
	free(own);
	free(argv[0]);
	free(argv[1]);
	if (rc == 0)
		return 0;
	errno = rc;
	return err_set_errno(e, "cannot run askpass program %s", program);
}

/* Reads to the end of file, so that the program is not killed by SIGPIPE; keeps the first `room` bytes. */
static size_t read_to_end(int fd, char *dst, size_t room)
{
	size_t used = 0;
	char rest[256];

	for (;;) {
		bool full = used == room;
		ssize_t got = full ? read(fd, rest, sizeof(rest)) : read(fd, dst + used, room - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		if (!full)
			used += (size_t)got;
	}
	mem_wipe(rest, sizeof(rest));
	return used;
}

/* Exit status 0 or not; EINTR does not matter. */
static bool child_succeeded(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The first line of n bytes, or NULL: too long, or it holds a NUL. */
static char *first_line(const char *p, size_t n, size_t room, struct err *e)
{
	const char *nl = memchr(p, '\n', n);

	if (nl == NULL && n == room) {
		err_set(e, ERR_MEMORY, "the answer is longer than %d bytes", PROMPT_ANSWER_MAX);
		return NULL;
	}
	if (nl != NULL)
		n = (size_t)(nl - p);
	if (n > 0 && p[n - 1] == '\r')
		n--;
	if (memchr(p, '\0', n) != NULL) {
		err_set(e, ERR_DENIED, "the answer of the askpass program holds a NUL");
		return NULL;
	}
	return mem_strndup(p, n);
}

char *askpass_ask(const char *prompt, const char *kind, struct err *e)
{
	char text[PROMPT_ANSWER_MAX + 2], *line = NULL;
	size_t n;
	int fds[2];
	pid_t pid;

	if (pipe(fds) != 0) {
		err_set_errno(e, "pipe");
		return NULL;
	}
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	fcntl(fds[1], F_SETFD, FD_CLOEXEC);
	if (askpass_spawn(prompt, kind, fds[1], &pid, e) != 0) {
		close(fds[0]);
		close(fds[1]);
		return NULL;
	}
	close(fds[1]);
	n = read_to_end(fds[0], text, sizeof(text));
	close(fds[0]);
	if (!child_succeeded(pid))
		err_set(e, ERR_DENIED, "cancelled");
	else
		line = first_line(text, n, sizeof(text), e);
	mem_wipe(text, sizeof(text));
	return line;
}

int askpass_start_notice(const char *text, pid_t *pid, struct err *e)
{
	return askpass_spawn(text, "none", -1, pid, e);
}

void askpass_end_notice(pid_t pid)
{
	kill(pid, SIGTERM);
	child_succeeded(pid);
}
