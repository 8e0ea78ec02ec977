/* regress/unit/keys/test_agent.c: the client against the stock ssh-agent, and against agents that misbehave. */
#include "keys/agent.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "key_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

extern char **environ;

#define STOCK_AGENT "/usr/bin/ssh-agent"

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

/* Starts the stock agent; its first line of output says that it listens. */
static pid_t start_stock(const char *path)
{
	char *argv[] = { (char *)"ssh-agent", (char *)"-D", (char *)"-a", (char *)path, NULL };
	posix_spawn_file_actions_t files;
	int fds[2];
	pid_t pid;
	char c = 0;

	assert_int_equal(pipe(fds), 0);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fds[1], 1);
	posix_spawn_file_actions_addclose(&files, fds[0]);
	assert_int_equal(posix_spawn(&pid, STOCK_AGENT, &files, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&files);
	close(fds[1]);
	while (c != '\n')
		assert_int_equal(read(fds[0], &c, 1), 1);
	close(fds[0]);
	return pid;
}

static void try_signatures(struct agent *a, const char *file)
{
	struct key *pub = data_public(file);
	const struct sig_alg *alg;

	for (size_t i = 0; (alg = sig_alg_at(i)) != NULL; i++) {
		struct buf sig = BUF_INIT(4096);
		int rc = agent_sign(a, pub, alg, text("message"), &sig, NULL);

		if (sig_alg_fits(alg, pub)) {
			assert_int_equal(rc, 0);
			assert_int_equal(key_verify(pub, alg, text("message"), (struct view){ sig.data, sig.size }), 0);
		} else {
			assert_int_equal(rc, ERR_USAGE);
		}
		buf_free(&sig);
	}
	key_free(pub);
}

static void test_stock(void **state)
{
	static const char *const kinds[] = { "ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa" };
	char *dir = data_temp_dir(), *path = str_printf("%s/agent", dir);
	struct agent_identity *v;
	struct buf sig = BUF_INIT(4096);
	struct err e = { 0 };
	struct agent *a;
	struct key *k;
	size_t count;
	pid_t pid;

	if (access(STOCK_AGENT, X_OK) != 0)
		skip();
	pid = start_stock(path);
	assert_int_equal(agent_open(path, &a, &e), 0);
	assert_int_equal(agent_list(a, &v, &count, &e), 0);
	assert_int_equal(count, 0);
	agent_identities_free(v, count);
	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		k = data_private(kinds[i]);
		assert_int_equal(agent_sign(a, k, sig_alg_find(text(key_type(k) == KEY_RSA ? "rsa-sha2-256" : key_type_name(k))),
			text("m"), &sig, NULL), ERR_DENIED);
		assert_int_equal(agent_add(a, k, kinds[i], i == 1 ? 600 : 0, 0, &e), 0);
		key_free(k);
	}
	assert_int_equal(agent_list(a, &v, &count, &e), 0);
	assert_int_equal(count, MEM_COUNT(kinds));
	for (size_t i = 0; i < count; i++) {
		k = data_public(kinds[i]);
		assert_true(key_equal_public(v[i].key, k));
		assert_string_equal(v[i].comment, kinds[i]);
		key_free(k);
		try_signatures(a, kinds[i]);
	}
	agent_identities_free(v, count);
	/* A bind that makes no sense is refused by the agent, which is no error here. */
	k = data_public("ed25519");
	assert_int_equal(agent_bind_session(a, k, text("sid"), text("not a signature"), 0, &e), 0);
	assert_int_equal(agent_add(a, k, "public", 0, 0, NULL), ERR_USAGE);
	key_free(k);
	agent_close(a);
	buf_free(&sig);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	free(path);
	data_remove_dir(dir);
}

/* A good bind: the signature of a host key over the session id. */
static void test_stock_bind(void **state)
{
	char *dir = data_temp_dir(), *path = str_printf("%s/agent", dir);
	struct key *host = data_private("ecdsa256"), *user = data_private("ed25519");
	struct buf sig = BUF_INIT(4096);
	struct agent_identity *v;
	struct agent *a;
	size_t count;
	pid_t pid;

	if (access(STOCK_AGENT, X_OK) != 0)
		skip();
	pid = start_stock(path);
	assert_int_equal(agent_open(path, &a, NULL), 0);
	assert_int_equal(key_sign(host, sig_alg_find(text("ecdsa-sha2-nistp256")), text("session id"), &sig, NULL), 0);
	assert_int_equal(agent_bind_session(a, host, text("session id"), (struct view){ sig.data, sig.size }, 1, NULL), 0);
	assert_int_equal(agent_add(a, user, "u", 0, 1, NULL), 0);
	assert_int_equal(agent_list(a, &v, &count, NULL), 0);
	assert_int_equal(count, 1);
	agent_identities_free(v, count);
	agent_close(a);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	buf_free(&sig);
	key_free(host);
	key_free(user);
	free(path);
	data_remove_dir(dir);
}

/* An agent that answers one request with the given bytes and goes away. */
static pid_t start_fake(const char *path, const void *answer, size_t n)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), c;
	char request[4096];
	pid_t pid;

	assert_true(str_copy(to.sun_path, sizeof(to.sun_path), path));
	assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(listen(fd, 1), 0);
	pid = fork();
	if (pid == 0) {
		c = accept(fd, NULL, NULL);
		if (read(c, request, sizeof(request)) > 0 && write(c, answer, n) == (ssize_t)n)
			_exit(0);
		_exit(1);
	}
	close(fd);
	return pid;
}

static void test_fakes(void **state)
{
	static const struct { const char *bytes; size_t n; int list, sign; } cases[] = {
		{ "", 0, ERR_CLOSED, ERR_CLOSED }, { "\0\0", 2, ERR_CLOSED, ERR_CLOSED }, { "\0\0\0\0", 4, ERR_PEER, ERR_PEER },
		{ "\0\4\0\1", 4, ERR_PEER, ERR_PEER }, { "\377\377\377\377", 4, ERR_PEER, ERR_PEER }, { "\0\0\0\2\5", 5, ERR_CLOSED, ERR_CLOSED },
		{ "\0\0\0\1\5", 5, ERR_DENIED, ERR_DENIED }, { "\0\0\0\1\34", 5, ERR_DENIED, ERR_DENIED }, { "\0\0\0\1\6", 5, ERR_PEER, ERR_PEER },
		{ "\0\0\0\1\14", 5, ERR_PEER, ERR_PEER }, { "\0\0\0\5\14\0\0\0\1", 9, ERR_PEER, ERR_PEER },
		{ "\0\0\0\5\14\0\0\0\0", 9, 0, ERR_PEER }, { "\0\0\0\5\16\0\0\0\0", 9, ERR_PEER, ERR_PEER },
		{ "\0\0\0\11\16\0\0\0\4\0\0\0\0", 13, ERR_PEER, ERR_DENIED }
	};

	for (size_t i = 0; i < 2 * MEM_COUNT(cases); i++) {
		size_t c = i / 2;
		char *dir = data_temp_dir(), *path = str_printf("%s/agent", dir);
		pid_t pid = start_fake(path, cases[c].bytes, cases[c].n);
		struct agent_identity *v = NULL;
		struct buf sig = BUF_INIT(4096);
		struct key *k = data_public("ed25519");
		struct err e = { 0 };
		struct agent *a;
		size_t count = 0;
		int rc;

		assert_int_equal(agent_open(path, &a, &e), 0);
		rc = i % 2 == 0 ? agent_list(a, &v, &count, &e) : agent_sign(a, k, sig_alg_at(0), text("m"), &sig, &e);
		assert_int_equal(rc, i % 2 == 0 ? cases[c].list : cases[c].sign);
		assert_int_equal(e.code, rc);
		agent_identities_free(v, count);
		agent_close(a);
		buf_free(&sig);
		key_free(k);
		waitpid(pid, NULL, 0);
		free(path);
		data_remove_dir(dir);
	}
}

static void test_open_fails(void **state)
{
	char path[200];
	struct err e = { 0 };
	struct agent *a;

	assert_int_equal(agent_open("/no/such/socket", &a, &e), ERR_IO);
	assert_non_null(strstr(e.text, "/no/such/socket"));
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(agent_open(path, &a, NULL), ERR_IO);
	agent_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stock), cmocka_unit_test(test_stock_bind), cmocka_unit_test(test_fakes),
		cmocka_unit_test(test_open_fails)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
