/* platform/prompt.c: questions to the person in front of the machine. */
#include "platform/prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#ifdef HAVE_SYS_SIGNALFD_H
#include <sys/signalfd.h>
#endif
#include "base/mem.h"
#include "base/str.h"
#include "platform/prompt_askpass.h"

/* Without signalfd, how often pending signals are looked for. */
enum { SIGNAL_POLL_MS = 100 };

/* One terminal that is being asked. While echo is off the signals that could end or stop the process are blocked, so
 * that they are delivered only after the terminal is as it was. No handlers, hence no global state. */
struct tty {
	int in, out;
	bool is_tty, changed;
	struct termios saved;
	sigset_t watched, old_mask;
	int signal_fd;           /* readable while a watched signal is pending; -1 if the system has no such thing */
};

enum tty_event { TTY_INPUT, TTY_SIGNAL, TTY_FAILED };

/* Ignored signals are left alone: blocked, they would become pending. SIGTTIN and SIGTTOU too: they stop a process in
 * the background before it has changed anything. */
static void tty_choose_signals(struct tty *t)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGTSTP };
	struct sigaction now;

	sigemptyset(&t->watched);
	for (size_t i = 0; i < MEM_COUNT(signals); i++)
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&t->watched, signals[i]);
}

static bool tty_pending(const struct tty *t, bool *only_stop)
{
	sigset_t pending;
	bool stop = false, other = false;

	if (sigpending(&pending) != 0)
		return false;
	for (int s = 1; s < NSIG; s++) {
		if (sigismember(&t->watched, s) != 1 || sigismember(&pending, s) != 1)
			continue;
		if (s == SIGTSTP)
			stop = true;
		else
			other = true;
	}
	*only_stop = stop && !other;
	return stop || other;
}

/* Blocks the signals, sets the mode of the terminal. SIGTTOU stops us here if we are in the background; afterwards
 * the call is made again. */
static void tty_enter(struct tty *t, bool echo)
{
	struct termios mode;

	pthread_sigmask(SIG_BLOCK, &t->watched, &t->old_mask);
	if (!t->is_tty || tcgetattr(t->in, &t->saved) != 0)
		return;
	mode = t->saved;
	mode.c_lflag |= ICANON | ISIG;
	mode.c_iflag |= ICRNL;
	mode.c_oflag |= OPOST;
	mode.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
	if (echo)
		mode.c_lflag |= ECHO | ECHOE | ECHOK;
	while (tcsetattr(t->in, TCSAFLUSH, &mode) != 0)
		if (errno != EINTR)
			return;
	t->changed = true;
}

/* The opposite. A pending signal is delivered before this returns. */
static void tty_leave(struct tty *t)
{
	sigset_t ttou, mask;

	if (t->changed) {
		/* Giving back what was found must not stop us, whoever owns the terminal now. */
		sigemptyset(&ttou);
		sigaddset(&ttou, SIGTTOU);
		pthread_sigmask(SIG_BLOCK, &ttou, &mask);
		while (tcsetattr(t->in, TCSAFLUSH, &t->saved) != 0)
			if (errno != EINTR)
				break;
		pthread_sigmask(SIG_SETMASK, &mask, NULL);
		t->changed = false;
	}
	pthread_sigmask(SIG_SETMASK, &t->old_mask, NULL);
}

static enum tty_event tty_wait(const struct tty *t)
{
	bool only_stop;

	for (;;) {
		struct pollfd fds[2] = { { .fd = t->in, .events = POLLIN }, { .fd = t->signal_fd, .events = POLLIN } };
		int n = poll(fds, t->signal_fd >= 0 ? 2 : 1, t->signal_fd >= 0 ? -1 : SIGNAL_POLL_MS);

		if (n < 0 && errno != EINTR)
			return TTY_FAILED;
		if (tty_pending(t, &only_stop))
			return TTY_SIGNAL;
		if (n > 0 && fds[0].revents != 0)
			return TTY_INPUT;
	}
}

static void tty_write(const struct tty *t, const char *s)
{
	size_t n = strlen(s);

	while (n > 0) {
		ssize_t put = write(t->out, s, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return;
		s += put;
		n -= (size_t)put;
	}
}

/* Byte by byte, so that what follows the line stays where it is. *used counts on when the line does not fit.
 * 0 a line, ERR_AGAIN a signal is pending, ERR_DENIED or ERR_CLOSED end of file, ERR_IO. */
static int tty_read_line(const struct tty *t, char *line, size_t room, size_t *used, struct err *e)
{
	for (;;) {
		char c;
		ssize_t got;

		switch (tty_wait(t)) {
		case TTY_SIGNAL:
			return ERR_AGAIN;
		case TTY_FAILED:
			return err_set_errno(e, "poll");
		case TTY_INPUT:
			break;
		}
		got = read(t->in, &c, 1);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return err_set_errno(e, "cannot read the answer");
		if (got == 0)
			return *used > 0 ? 0 : err_set(e, t->is_tty ? ERR_DENIED : ERR_CLOSED, "end of file instead of an answer");
		if (c == '\n')
			return 0;
		if (*used < room)
			line[*used] = c;
		(*used)++;
	}
}

static char *tty_take_line(const char *line, size_t used, struct err *e)
{
	if (used > PROMPT_ANSWER_MAX) {
		err_set(e, ERR_MEMORY, "the answer is longer than %d bytes", PROMPT_ANSWER_MAX);
		return NULL;
	}
	if (used > 0 && line[used - 1] == '\r')
		used--;
	if (memchr(line, '\0', used) != NULL) {
		err_set(e, ERR_DENIED, "the answer holds a NUL");
		return NULL;
	}
	return mem_strndup(line, used);
}

/* SIGTSTP with its default action stops the process here, terminal restored; it goes on after SIGCONT. */
static void stop_now(void)
{
	sigset_t stop, mask;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &stop, &mask);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static char *tty_ask(struct tty *t, const char *prompt, bool echo, struct err *e)
{
	char line[PROMPT_ANSWER_MAX], *answer = NULL;
	size_t used;
	bool stopped;
	int rc;

	tty_choose_signals(t);
	t->signal_fd = -1;
#ifdef HAVE_SYS_SIGNALFD_H
	t->signal_fd = signalfd(-1, &t->watched, SFD_CLOEXEC);
#endif
	do {
		used = 0;
		stopped = false;
		tty_enter(t, echo);
		tty_write(t, prompt);
		rc = tty_read_line(t, line, sizeof(line), &used, e);
		if (rc == ERR_AGAIN)
			tty_pending(t, &stopped);
		if (!echo || rc != 0)
			tty_write(t, "\n");
		tty_leave(t);
		if (stopped)
			stop_now();
	} while (stopped);
	if (rc == ERR_AGAIN)
		err_set(e, ERR_DENIED, "interrupted");
	else if (rc == 0)
		answer = tty_take_line(line, used, e);
	if (t->signal_fd >= 0)
		close(t->signal_fd);
	mem_wipe(line, sizeof(line));
	return answer;
}

static char *ask_terminal(int fd, const char *prompt, bool echo, struct err *e)
{
	struct tty t = { .in = fd, .out = fd, .is_tty = true };

	return tty_ask(&t, prompt, echo, e);
}

static char *ask_stdin(const char *prompt, bool echo, struct err *e)
{
	struct tty t = { .in = STDIN_FILENO, .out = STDERR_FILENO, .is_tty = isatty(STDIN_FILENO) == 1 };

	return tty_ask(&t, prompt, echo, e);
}

char *prompt_read_secret(const char *prompt, unsigned flags, struct err *e)
{
	enum askpass_wish wish = (flags & PROMPT_NO_ASKPASS) != 0 ? ASKPASS_NEVER : askpass_wish();
	bool echo = (flags & PROMPT_ECHO) != 0;
	char *answer;
	int fd;

	if (wish == ASKPASS_FIRST)
		return askpass_ask(prompt, NULL, e);
	fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0) {
		answer = ask_terminal(fd, prompt, echo, e);
		close(fd);
		return answer;
	}
	if (wish == ASKPASS_FALLBACK)
		return askpass_ask(prompt, NULL, e);
	if ((flags & PROMPT_ALLOW_STDIN) != 0)
		return ask_stdin(prompt, echo, e);
	err_set(e, ERR_NONE_FOUND, "there is no terminal to ask on, and no askpass program to run");
	return NULL;
}

bool prompt_confirm(const char *question, struct err *e)
{
	char *answer, *text;
	bool yes;

	if (askpass_wish() != ASKPASS_NEVER) {
		answer = askpass_ask(question, "confirm", e);
		yes = answer != NULL && (*answer == '\0' || str_equal_nocase(answer, "yes"));
	} else {
		text = str_printf("%s (yes/no) ", question);
		answer = prompt_read_secret(text, PROMPT_ECHO | PROMPT_NO_ASKPASS, e);
		free(text);
		yes = answer != NULL && str_equal_nocase(answer, "yes");
	}
	mem_free_string(answer);
	return yes;
}

struct prompt_notice { pid_t pid; };

struct prompt_notice *prompt_notice_start(const char *text)
{
	struct prompt_notice *n;
	struct tty t = { .out = STDERR_FILENO };
	pid_t pid;

	if (isatty(STDERR_FILENO) != 1 && askpass_wish() != ASKPASS_NEVER && askpass_start_notice(text, &pid, NULL) == 0) {
		n = mem_zalloc(sizeof(*n));
		n->pid = pid;
		return n;
	}
	tty_write(&t, text);
	tty_write(&t, "\n");
	return NULL;
}

void prompt_notice_end(struct prompt_notice *n)
{
	if (n == NULL)
		return;
	askpass_end_notice(n->pid);
	free(n);
}
