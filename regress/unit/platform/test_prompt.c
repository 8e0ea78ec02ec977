/* regress/unit/platform/test_prompt.c: questions on a terminal (a pty with a session of its own), on stdin, through askpass. */
#include "platform/prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* What a worker does in front of the terminal; its text comes back as `result`. */
typedef void work_fn(char *result, size_t size);

/* A session: the leader holds the terminal and waits for the worker, which stands in the foreground. Events: "S" the worker
 * stopped, "Xn" exit status n, "Kn" signal n. */
struct session { pid_t leader, worker; int master, events, results; char seen[4096]; size_t seen_n; };

static void put_event(int fd, char kind, int n)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "%c%d\n", kind, n);

	if (write(fd, text, (size_t)size) != size)
		_exit(9);
}

static void lead(const char *slave, int events, int results, int go, work_fn *work)
{
	char result[512] = "", c;
	int tty, status, ready[2];
	pid_t pid;

	setsid();
	tty = open(slave, O_RDWR);
	if (tty < 0 || ioctl(tty, TIOCSCTTY, 0) != 0 || pipe(ready) != 0)
		_exit(9);
	signal(SIGTTOU, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		signal(SIGTTOU, SIG_DFL);
		close(ready[1]);
		if (read(ready[0], &c, 1) != 1)
			_exit(9);
		work(result, sizeof(result));
		_exit(write(results, result, strlen(result)) >= 0 ? 0 : 9);
	}
	close(results);
	setpgid(pid, pid);
	tcsetpgrp(tty, pid);
	put_event(events, 'P', pid);
	if (read(go, &c, 1) != 1 || write(ready[1], "", 1) != 1)
		_exit(9);
	while (waitpid(pid, &status, WUNTRACED) == pid) {
		if (WIFSTOPPED(status)) {
			put_event(events, 'S', 0);
			continue;
		}
		put_event(events, WIFEXITED(status) ? 'X' : 'K', WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
		break;
	}
	/* Until the test has looked at the terminal. */
	if (read(go, &c, 1) < 0)
		_exit(9);
	_exit(0);
}

static int read_event(struct session *s, char want)
{
	char text[32];
	size_t n = 0;

	while (n < sizeof(text) - 1 && read(s->events, text + n, 1) == 1 && text[n] != '\n')
		n++;
	text[n] = '\0';
	if (text[0] != want)
		fail_msg("event %s instead of %c", text, want);
	return (int)strtol(text + 1, NULL, 10);
}

static int go_fd;

static void start(struct session *s, work_fn *work)
{
	int events[2], results[2], go[2];

	memset(s, 0, sizeof(*s));
	s->master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(s->master >= 0 && grantpt(s->master) == 0 && unlockpt(s->master) == 0);
	assert_true(pipe(events) == 0 && pipe(results) == 0 && pipe(go) == 0);
	/* Someone must hold the other side, or reading the master fails before the leader is there. */
	s->leader = fork();
	if (s->leader == 0) {
		close(events[0]);
		close(results[0]);
		close(go[1]);
		lead(ptsname(s->master), events[1], results[1], go[0], work);
	}
	close(events[1]);
	close(results[1]);
	close(go[0]);
	s->events = events[0];
	s->results = results[0];
	go_fd = go[1];
	s->worker = read_event(s, 'P');
	assert_int_equal(write(go_fd, "", 1), 1);
}

/* Reads what the terminal shows until text is there; forgets what came before its end. */
static void await_text(struct session *s, const char *text)
{
	for (;;) {
		char *at;
		ssize_t n;

		s->seen[s->seen_n] = '\0';
		at = strstr(s->seen, text);
		if (at != NULL) {
			size_t used = (size_t)(at - s->seen) + strlen(text);

			memmove(s->seen, s->seen + used, s->seen_n - used + 1);
			s->seen_n -= used;
			return;
		}
		n = read(s->master, s->seen + s->seen_n, sizeof(s->seen) - 1 - s->seen_n);
		if (n <= 0)
			fail_msg("the terminal never showed: %s", text);
		s->seen_n += (size_t)n;
	}
}

static bool has_echo(const struct session *s)
{
	struct termios t;

	assert_int_equal(tcgetattr(s->master, &t), 0);
	return (t.c_lflag & ECHO) != 0;
}

static void type(const struct session *s, const char *text)
{
	assert_int_equal(write(s->master, text, strlen(text)), strlen(text));
}

static void expect_result(struct session *s, const char *want)
{
	char text[512];
	ssize_t n;

	assert_int_equal(read_event(s, 'X'), 0);
	n = read(s->results, text, sizeof(text) - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	assert_string_equal(text, want);
	assert_true(has_echo(s));
}

static void finish(struct session *s)
{
	char rest[64];

	close(go_fd);
	/* So that the leader does not wait for what it wrote to be read. */
	fcntl(s->master, F_SETFL, O_NONBLOCK);
	while (read(s->master, rest, sizeof(rest)) > 0)
		;
	close(s->master);
	waitpid(s->leader, NULL, 0);
	close(s->events);
	close(s->results);
}

static void describe(char *answer, const struct err *e, char *result, size_t size)
{
	if (answer != NULL)
		snprintf(result, size, "%s", answer);
	else
		snprintf(result, size, "error %d", e->code);
	mem_free_string(answer);
}

static void work_secret(char *result, size_t size)
{
	struct err e = { 0 };

	describe(prompt_read_secret("Say it: ", 0, &e), &e, result, size);
}

static void work_echo(char *result, size_t size)
{
	struct err e = { 0 };

	describe(prompt_read_secret("Say it: ", PROMPT_ECHO, &e), &e, result, size);
}

static void work_confirm(char *result, size_t size)
{
	struct err e = { 0 };

	snprintf(result, size, "%d", prompt_confirm("Sure?", &e));
}

static volatile sig_atomic_t caught;

static void catch_signal(int number)
{
	caught++;
}

static void work_handler(char *result, size_t size)
{
	struct sigaction sa = { .sa_handler = catch_signal };
	struct err e = { 0 };
	char *answer;

	sigaction(SIGINT, &sa, NULL);
	answer = prompt_read_secret("Say it: ", 0, &e);
	snprintf(result, size, "%s %d caught %d", answer != NULL ? answer : "error", e.code, caught);
}

static void work_ignoring(char *result, size_t size)
{
	signal(SIGINT, SIG_IGN);
	work_secret(result, size);
}

static void work_blocking(char *result, size_t size)
{
	sigset_t mask, pending;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	work_secret(result, size);
	sigpending(&pending);
	snprintf(result + strlen(result), size - strlen(result), " pending %d", sigismember(&pending, SIGINT));
}

static void test_secret(void **state)
{
	struct session s;

	start(&s, work_secret);
	await_text(&s, "Say it: ");
	assert_false(has_echo(&s));
	type(&s, "open \xc3\xa9 sesame\n");
	await_text(&s, "\r\n");
	expect_result(&s, "open \xc3\xa9 sesame");
	assert_null(strstr(s.seen, "sesame"));
	finish(&s);
}

static void test_echo(void **state)
{
	struct session s;

	start(&s, work_echo);
	await_text(&s, "Say it: ");
	assert_true(has_echo(&s));
	type(&s, "visible\n");
	await_text(&s, "visible\r\n");
	expect_result(&s, "visible");
	finish(&s);
}

static void test_empty_and_eof(void **state)
{
	struct session s;

	start(&s, work_secret);
	await_text(&s, "Say it: ");
	type(&s, "\n");
	expect_result(&s, "");
	finish(&s);
	start(&s, work_secret);
	await_text(&s, "Say it: ");
	type(&s, "\004");
	expect_result(&s, "error -8");
	finish(&s);
}

static void test_killed(void **state)
{
	struct session s;

	start(&s, work_secret);
	await_text(&s, "Say it: ");
	type(&s, "half a sec\003");
	assert_int_equal(read_event(&s, 'K'), SIGINT);
	assert_true(has_echo(&s));
	finish(&s);
	start(&s, work_secret);
	await_text(&s, "Say it: ");
	kill(s.worker, SIGTERM);
	assert_int_equal(read_event(&s, 'K'), SIGTERM);
	assert_true(has_echo(&s));
	finish(&s);
}

static void test_stopped(void **state)
{
	struct session s;

	start(&s, work_secret);
	for (int i = 0; i < 2; i++) {
		await_text(&s, "Say it: ");
		assert_false(has_echo(&s));
		type(&s, "for\032");
		read_event(&s, 'S');
		assert_true(has_echo(&s));
		kill(s.worker, SIGCONT);
	}
	await_text(&s, "Say it: ");
	assert_false(has_echo(&s));
	type(&s, "real\n");
	expect_result(&s, "real");
	finish(&s);
}

static void test_handlers(void **state)
{
	struct session s;

	start(&s, work_handler);
	await_text(&s, "Say it: ");
	type(&s, "\003");
	expect_result(&s, "error -8 caught 1");
	finish(&s);
	start(&s, work_ignoring);
	await_text(&s, "Say it: ");
	/* The terminal empties the line at a signal character, here to no other effect. */
	type(&s, "not\003yet\n");
	expect_result(&s, "yet");
	finish(&s);
	start(&s, work_blocking);
	await_text(&s, "Say it: ");
	type(&s, "\003");
	expect_result(&s, "error -8 pending 1");
	finish(&s);
}

static void test_confirm_tty(void **state)
{
	static const struct { const char *typed, *result; } cases[] = { { "yes\n", "1" }, { "no\n", "0" }, { "\n", "0" }, { "\004", "0" } };

	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct session s;

		start(&s, work_confirm);
		await_text(&s, "Sure? (yes/no) ");
		type(&s, cases[i].typed);
		expect_result(&s, cases[i].result);
		finish(&s);
	}
}

/* Without a terminal: a child in a session of its own, stdin a pipe with the text. "code:answer" comes back. */
static char *without_tty(const char *input, size_t n, unsigned flags, int questions)
{
	struct buf_text { char text[20000]; } *out = mem_zalloc(sizeof(*out));
	int in[2], results[2];
	size_t used = 0;
	ssize_t got;
	char *s;
	pid_t pid;

	assert_true(pipe(in) == 0 && pipe(results) == 0);
	pid = fork();
	if (pid == 0) {
		setsid();
		dup2(in[0], 0);
		close(in[0]);
		close(in[1]);
		close(2);
		for (int i = 0; i < questions; i++) {
			struct err e = { 0 };
			char *answer = prompt_read_secret("Say it: ", flags, &e), *line;

			line = str_printf("%d:%s\n", e.code, answer != NULL ? answer : "");
			if (write(results[1], line, strlen(line)) < 0)
				_exit(9);
		}
		_exit(0);
	}
	close(in[0]);
	close(results[1]);
	assert_int_equal(write(in[1], input, n), n);
	close(in[1]);
	while ((got = read(results[0], out->text + used, sizeof(out->text) - 1 - used)) > 0)
		used += (size_t)got;
	close(results[0]);
	waitpid(pid, NULL, 0);
	s = mem_strdup(out->text);
	free(out);
	return s;
}

static void expect_without_tty(const char *input, size_t n, unsigned flags, int questions, const char *want)
{
	char *have = without_tty(input, n, flags, questions);

	assert_string_equal(have, want);
	free(have);
}

static void test_stdin(void **state)
{
	char line[PROMPT_ANSWER_MAX + 2], *want;

	expect_without_tty("one\ntwo\r\nthree", 14, PROMPT_ALLOW_STDIN, 4, "0:one\n0:two\n0:three\n-2:\n");
	expect_without_tty("a\0b\nnext\n", 9, PROMPT_ALLOW_STDIN, 2, "-8:\n0:next\n");
	expect_without_tty("one\n", 4, 0, 1, "-9:\n");
	memset(line, 'x', sizeof(line));
	line[PROMPT_ANSWER_MAX] = '\n';
	want = str_printf("0:%.*s\n", PROMPT_ANSWER_MAX, line);
	expect_without_tty(line, PROMPT_ANSWER_MAX + 1, PROMPT_ALLOW_STDIN, 1, want);
	free(want);
	line[PROMPT_ANSWER_MAX] = 'x';
	line[PROMPT_ANSWER_MAX + 1] = '\n';
	expect_without_tty(line, sizeof(line), PROMPT_ALLOW_STDIN, 1, "-7:\n");
}

/* ---- askpass */

static char *script;

static int askpass_setup(void **state)
{
	script = mem_strdup("/tmp/ws-askpass.XXXXXX");
	close(mkstemp(script));
	chmod(script, 0700);
	setenv("SSH_ASKPASS", script, 1);
	return 0;
}

static int askpass_teardown(void **state)
{
	unlink(script);
	free(script);
	unsetenv("SSH_ASKPASS");
	unsetenv("SSH_ASKPASS_REQUIRE");
	unsetenv("SSH_ASKPASS_PROMPT");
	unsetenv("DISPLAY");
	unsetenv("WAYLAND_DISPLAY");
	return 0;
}

static void write_script(const char *body)
{
	FILE *f = fopen(script, "w");

	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", body);
	assert_int_equal(fclose(f), 0);
}

static void expect_askpass(const char *body, int code, const char *want)
{
	struct err e = { 0 };
	char *answer;

	write_script(body);
	answer = prompt_read_secret("The prompt: ", 0, &e);
	assert_int_equal(e.code, code);
	if (code == 0)
		assert_string_equal(answer, want);
	else
		assert_null(answer);
	mem_free_string(answer);
}

static void test_askpass(void **state)
{
	setenv("SSH_ASKPASS_REQUIRE", "force", 1);
	setenv("SSH_ASKPASS_PROMPT", "left over", 1);
	expect_askpass("echo \"[$1]${SSH_ASKPASS_PROMPT-unset}\"", 0, "[The prompt: ]unset");
	expect_askpass("printf 'no newline'", 0, "no newline");
	expect_askpass("printf 'first\\r\\nsecond\\n'", 0, "first");
	expect_askpass(":", 0, "");
	expect_askpass("echo x; exit 1", ERR_DENIED, NULL);
	expect_askpass("kill -9 $$", ERR_DENIED, NULL);
	expect_askpass("printf 'a\\0b'", ERR_DENIED, NULL);
	expect_askpass("head -c 100000 /dev/zero | tr '\\0' x", ERR_MEMORY, NULL);
	setenv("SSH_ASKPASS", "/no/such/askpass", 1);
	expect_askpass(":", ERR_IO, NULL);
}

static void test_askpass_wishes(void **state)
{
	static const struct { const char *require, *display, *wayland; bool asks; } cases[] = {
		{ NULL, NULL, NULL, false }, { NULL, ":0", NULL, true }, { NULL, NULL, "wayland-0", true }, { NULL, "", "", false },
		{ "never", ":0", NULL, false }, { "force", NULL, NULL, true }, { "prefer", NULL, NULL, false }, { "prefer", ":0", NULL, true },
		{ "FORCE", NULL, NULL, true }, { "nonsense", ":0", NULL, true }
	};

	write_script("echo asked");
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		unsetenv("SSH_ASKPASS_REQUIRE");
		unsetenv("DISPLAY");
		unsetenv("WAYLAND_DISPLAY");
		if (cases[i].require != NULL)
			setenv("SSH_ASKPASS_REQUIRE", cases[i].require, 1);
		if (cases[i].display != NULL)
			setenv("DISPLAY", cases[i].display, 1);
		if (cases[i].wayland != NULL)
			setenv("WAYLAND_DISPLAY", cases[i].wayland, 1);
		expect_without_tty("stdin\n", 6, PROMPT_ALLOW_STDIN, 1, cases[i].asks ? "0:asked\n" : "0:stdin\n");
		expect_without_tty("stdin\n", 6, PROMPT_ALLOW_STDIN | PROMPT_NO_ASKPASS, 1, "0:stdin\n");
	}
}

static void test_askpass_after_tty(void **state)
{
	struct session s;

	/* With a terminal, DISPLAY alone does not bring askpass in; "prefer" does. */
	write_script("echo asked");
	setenv("DISPLAY", ":0", 1);
	start(&s, work_secret);
	await_text(&s, "Say it: ");
	type(&s, "typed\n");
	expect_result(&s, "typed");
	finish(&s);
	setenv("SSH_ASKPASS_REQUIRE", "prefer", 1);
	start(&s, work_secret);
	expect_result(&s, "asked");
	finish(&s);
}

static void test_askpass_confirm(void **state)
{
	static const struct { const char *body; bool yes; } cases[] = {
		{ "test \"$SSH_ASKPASS_PROMPT\" = confirm", true }, { "echo yes", true }, { "echo YES", true }, { "echo no", false },
		{ "echo y", false }, { "exit 1", false }, { "echo yes; exit 1", false }
	};

	setenv("SSH_ASKPASS_REQUIRE", "force", 1);
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		write_script(cases[i].body);
		assert_int_equal(prompt_confirm("Sure?", NULL), cases[i].yes);
	}
}

static void test_notice(void **state)
{
	struct prompt_notice *n;
	int keep = dup(2), null = open("/dev/null", O_WRONLY);

	/* A program that never ends by itself is ended. */
	setenv("SSH_ASKPASS_REQUIRE", "force", 1);
	write_script("test \"$SSH_ASKPASS_PROMPT\" = none && exec sleep 1000");
	dup2(null, 2);
	n = prompt_notice_start("touch it");
	dup2(keep, 2);
	close(keep);
	close(null);
	assert_non_null(n);
	prompt_notice_end(n);
	prompt_notice_end(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secret), cmocka_unit_test(test_echo), cmocka_unit_test(test_empty_and_eof),
		cmocka_unit_test(test_killed), cmocka_unit_test(test_stopped), cmocka_unit_test(test_handlers),
		cmocka_unit_test(test_confirm_tty), cmocka_unit_test(test_stdin),
		cmocka_unit_test_setup_teardown(test_askpass, askpass_setup, askpass_teardown),
		cmocka_unit_test_setup_teardown(test_askpass_wishes, askpass_setup, askpass_teardown),
		cmocka_unit_test_setup_teardown(test_askpass_after_tty, askpass_setup, askpass_teardown),
		cmocka_unit_test_setup_teardown(test_askpass_confirm, askpass_setup, askpass_teardown),
		cmocka_unit_test_setup_teardown(test_notice, askpass_setup, askpass_teardown)
	};

	alarm(60);
	unsetenv("DISPLAY");
	unsetenv("WAYLAND_DISPLAY");
	unsetenv("SSH_ASKPASS");
	unsetenv("SSH_ASKPASS_REQUIRE");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
