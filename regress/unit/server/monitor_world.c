#include "monitor_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "crypto/crypto.h"
#include "server/monitor.h"
#include "server/monitor_wire.h"

static void add_line(struct server_config *c, const char *keyword, const char *value)
{
	char *text = str_printf("%s %s", keyword, value);

	assert_int_equal(server_config_add_line(c, text, NULL), 0);
	free(text);
}

static void write_keys(struct world *w)
{
	char *line = key_public_line(w->user_key);
	FILE *f = fopen(w->keys_path, "w");

	assert_non_null(f);
	fprintf(f, "%s test\n", line);
	fclose(f);
	free(line);
}

void world_open(struct world *w, const char *const *lines)
{
	struct passwd *pw = getpwuid(geteuid());
	struct err e = { 0 };

	crypto_init();
	memset(w, 0, sizeof(*w));
	w->fd = -1;
	assert_non_null(pw);
	w->user = mem_strdup(pw->pw_name);
	strcpy(w->folder, "/tmp/ws-monitor-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	chmod(w->folder, 0755);
	w->keys_path = str_printf("%s/keys", w->folder);
	w->log_path = str_printf("%s/log", w->folder);
	w->host_key = key_generate(KEY_ED25519, 0, &e);
	w->other_host_key = key_generate(KEY_ED25519, 0, &e);
	w->user_key = key_generate(KEY_ED25519, 0, &e);
	w->other_key = key_generate(KEY_ED25519, 0, &e);
	assert_non_null(w->host_key);
	write_keys(w);
	w->handover.config = server_config_new();
	for (; lines != NULL && *lines != NULL; lines++)
		add_line(w->handover.config, *lines, "");
	add_line(w->handover.config, "AuthorizedKeysFile", w->keys_path);
	add_line(w->handover.config, "StrictModes", "no");
	add_line(w->handover.config, "PermitRootLogin", "yes");
	add_line(w->handover.config, "LogLevel", "VERBOSE");
	assert_int_equal(server_config_load(w->handover.config, "none", &e), 0);
	assert_int_equal(host_keys_add(&w->handover.keys, w->host_key), 0);
	w->handover.host_length = UINT32_MAX;
	memset(w->hash, 0x5a, sizeof(w->hash));
}

static _Noreturn void be_monitor(struct world *w, int fd)
{
	struct monitor_options o = { .handover = &w->handover, .connection = fd };
	struct err e = { 0 };
	struct monitor *m;
	int rc, log = open(w->log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	log_init("test", LOG_LEVEL_VERBOSE);
	log_to_fd(log);
	m = monitor_new(&o, &e);
	rc = monitor_serve_preauth(m, fd, &e);
	/* Whatever happened, a session must not be had without a verdict. */
	if (rc != 1 && monitor_open_session(m, NULL) == 0)
		rc = 1;
	monitor_free(m);
	_exit(rc == 1 ? WORLD_LET_IN : rc == 0 ? WORLD_ENDED : WORLD_BROKEN);
}

void world_start(struct world *w)
{
	int pair[2];

	if (w->pid > 0)
		(void)world_end(w);
	(void)unlink(w->log_path);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fflush(NULL);
	w->pid = fork();
	assert_true(w->pid >= 0);
	if (w->pid == 0) {
		close(pair[0]);
		be_monitor(w, pair[1]);
	}
	close(pair[1]);
	w->fd = pair[0];
	(void)signal(SIGPIPE, SIG_IGN);
}

int world_end(struct world *w)
{
	int status;

	close(w->fd);
	w->fd = -1;
	assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
	w->pid = 0;
	assert_true(WIFEXITED(status));  /* it never crashes */
	return WEXITSTATUS(status);
}

void world_close(struct world *w)
{

	if (w->pid > 0)
		(void)world_end(w);
	handover_clear(&w->handover);
	key_free(w->host_key);
	key_free(w->other_host_key);
	key_free(w->user_key);
	key_free(w->other_key);
	(void)unlink(w->keys_path);
	(void)unlink(w->log_path);
	(void)rmdir(w->folder);
	free(w->keys_path);
	free(w->log_path);
	free(w->user);
}

void world_send(struct world *w, uint8_t type, const struct buf *body)
{
	(void)!mon_send(w->fd, type, body, NULL);
}

uint8_t world_receive(struct world *w, struct buf *body)
{
	uint8_t type;
	uint32_t size;

	if (mon_recv_head(w->fd, &type, &size, NULL) < 0)
		return 0;
	assert_int_equal(mon_recv_body(w->fd, size, body, NULL), 0);
	return type;
}

enum mon_verdict_kind world_verdict(struct world *w)
{
	struct buf b = BUF_INIT(1 << 20);
	struct mon_verdict v;
	struct reader r;
	enum mon_verdict_kind kind = MON_VERDICT_COUNT;

	if (world_receive(w, &b) == MON_VERDICT) {
		reader_init(&r, b.data, b.size);
		assert_int_equal(mon_verdict_get(&r, &v, NULL), 0);
		kind = v.kind;
		mon_verdict_clear(&v);
	}
	buf_free(&b);
	return kind;
}

void world_put_sign(struct world *w, struct buf *b, const struct key *k, const uint8_t *hash, size_t n)
{
	struct view blob = key_blob(k);

	(void)w;
	buf_put_cstring(b, "ssh-ed25519");
	buf_put_string(b, blob.p, blob.n);
	buf_put_string(b, hash, n);
}

bool world_sign(struct world *w)
{
	struct buf b = BUF_INIT(4096), a = BUF_INIT(4096);
	const struct sig_alg *alg = sig_alg_find((struct view){ (const uint8_t *)"ssh-ed25519", 11 });
	struct reader r;
	struct view sig;
	bool ok = false;

	world_put_sign(w, &b, w->host_key, w->hash, sizeof(w->hash));
	world_send(w, MON_SIGN, &b);
	if (world_receive(w, &a) == MON_SIGNATURE) {
		reader_init(&r, a.data, a.size);
		sig = reader_string(&r);
		ok = key_verify(w->host_key, alg, (struct view){ w->hash, sizeof(w->hash) }, sig) == 0;
	}
	buf_free(&b);
	buf_free(&a);
	return ok;
}

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

void world_put_auth(struct world *w, struct buf *b, const struct world_request *want)
{
	const struct sig_alg *alg = sig_alg_find(text("ssh-ed25519"));
	struct userauth_request q = { .kind = want->kind, .user = text(want->user != NULL ? want->user : w->user),
		.service = text(USERAUTH_CONNECTION), .alg = text("ssh-ed25519") };
	struct buf data = BUF_INIT(8192), sig = BUF_INIT(1024);

	if (want->key != NULL)
		q.key_blob = key_blob(want->key);
	q.host_key = key_blob(want->host_key != NULL ? want->host_key : w->host_key);
	if (want->password != NULL)
		q.password = text(want->password);
	if (want->sign_with != NULL) {
		q.has_signature = true;
		userauth_signed_data_put(&data, (struct view){ want->session_id != NULL ? want->session_id : w->hash, 32 }, &q);
		assert_int_equal(key_sign(want->sign_with, alg, (struct view){ data.data, data.size }, &sig, NULL), 0);
		q.signature = (struct view){ sig.data, sig.size };
	}
	userauth_request_put(b, &q);
	buf_free(&data);
	buf_free(&sig);
}

enum mon_verdict_kind world_auth(struct world *w, const struct world_request *q)
{
	struct buf b = BUF_INIT(16384);

	world_put_auth(w, &b, q);
	world_send(w, MON_AUTH, &b);
	buf_free(&b);
	return world_verdict(w);
}

const char *world_log(struct world *w)
{
	static char *last;
	size_t n;

	free(last);
	last = NULL;
	if (path_read_file(w->log_path, 1 << 22, &last, &n, NULL) < 0)
		last = mem_strdup("");
	return last;
}
