/* The client's authentication against a server that says anything: client_auth_message and every handler of
 * client/client_auth*.c. Input: messages as type, length (one byte; 255 adds the next byte times 16), body; type 0 stands for
 * the right PK_OK. SERVICE_ACCEPT goes before, unless the first byte is 255; when it is 254, the client goes ahead with its
 * key. The engine, the carrier and the prompts are stand-ins with the same names, defined here, so that the real ones are not
 * linked in. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "auth/userauth_msg.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "channel/carrier.h"
#include "client/client_auth.h"
#include "keys/key_file.h"
#include "platform/prompt.h"
#include "transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct client_options options;
static struct client_tokens tokens;
static char dir[] = "/tmp/ws-fuzz-auth.XXXXXX";
static char *key_path, *pub_path;
static struct buf accept_body = BUF_INIT(BUF_LIMIT_DEFAULT), pk_ok_body = BUF_INIT(BUF_LIMIT_DEFAULT);

static struct err ended;
static unsigned sent, answered;
static bool succeeded, failed;
static enum peer_kind kind;

/* ---- stand-ins */

struct transport *carrier_transport(const struct carrier *c) { return (struct transport *)&ended; }
const struct err *carrier_err(const struct carrier *c) { return &ended; }
void carrier_kick(struct carrier *c) { }

int carrier_fail(struct carrier *c, int code, uint32_t reason, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(&ended, code, fmt, ap);
	va_end(ap);
	return code;
}

/* Nothing is sent once the connection is over. */
int transport_send(struct transport *t, uint8_t type, const struct buf *body)
{
	if (ended.code != 0 || succeeded || failed)
		abort();
	sent++;
	return 0;
}

int transport_send_padded(struct transport *t, uint8_t type, const struct buf *body) { return transport_send(t, type, body); }
const struct err *transport_err(const struct transport *t) { return &ended; }
struct view transport_session_id(const struct transport *t) { return (struct view){ (const uint8_t *)"session", 7 }; }
struct view transport_host_key_blob(const struct transport *t) { return (struct view){ (const uint8_t *)"key", 3 }; }
struct view transport_host_key_signature(const struct transport *t) { return (struct view){ NULL, 0 }; }
const char *transport_server_sig_algs(const struct transport *t) { return "ssh-ed25519"; }
const char *transport_peer_software(const struct transport *t) { return "Fuzz_1"; }
bool transport_peer_ext(const struct transport *t, const char *name) { return true; }
enum peer_kind transport_peer_kind(const struct transport *t) { return kind; }
bool transport_cipher_none(const struct transport *t) { return false; }
bool transport_mac_none(const struct transport *t) { return false; }

/* Every third question is not answered. */
char *prompt_read_secret(const char *prompt, unsigned flags, struct err *e)
{
	for (const char *p = prompt; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t')
			abort();
	return ++answered % 3 != 0 ? mem_strdup("answer") : NULL;
}

bool prompt_confirm(const char *question, struct err *e) { return true; }

static void on_success(void *ctx) { succeeded = true; }
static void on_failure(void *ctx, const struct err *e) { failed = true; }

/* ---- */

static void forget(void)
{
	unlink(key_path);
	unlink(pub_path);
	rmdir(dir);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

static void make_key(void)
{
	static const struct key_write_options plain = { .comment = "fuzz" };
	struct key *k = key_generate(KEY_ED25519, 0, NULL);
	struct buf text = BUF_INIT(BUF_LIMIT_DEFAULT);
	char *line = key_public_line(k);

	if (mkdtemp(dir) == NULL || key_private_write(k, &plain, &text, NULL) != 0)
		abort();
	key_path = str_printf("%s/id", dir);
	pub_path = str_printf("%s/id.pub", dir);
	umask(077);
	write_file(key_path, buf_cstr(&text));
	write_file(pub_path, line);
	atexit(forget);
	userauth_service_put(&accept_body, USERAUTH_SERVICE);
	userauth_pk_ok_put(&pk_ok_body, (struct view){ (const uint8_t *)"ssh-ed25519", 11 }, key_blob(k));
	free(line);
	buf_free(&text);
	key_free(k);
}

static void sink(void *ctx, enum log_level level, const char *line) { }

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct client_subject who = { .host_arg = "host", .local_user = "me", .home = dir, .uid = getuid() };
	struct err e = { 0 };
	char *line;

	log_init("fuzz", LOG_LEVEL_ERROR);
	log_to_sink(sink, NULL);
	unsetenv("SSH_AUTH_SOCK");
	make_key();
	client_options_init(&options);
	line = str_printf("IdentityFile %s", key_path);
	if (client_options_line(&options, line, &e) != 0 || client_options_fill(&options, &who, &e) != 0 ||
	    client_options_expand_hostname(&options, &who, &e) != 0)
		abort();
	client_tokens_fill(&tokens, &options, &who);
	free(line);
	return 0;
}

static bool over(void)
{
	return ended.code != 0 || succeeded || failed;
}

static void deliver(struct client_auth *a, const struct message *m)
{
	unsigned before = sent;

	if (client_auth_message(a, m) < 0 && !over())
		abort();
	/* One message brings forth one at most. */
	if (sent > before + 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct client_auth_setup s = { .carrier = (struct carrier *)&ended, .options = &options, .tokens = &tokens, .user = "user",
		.prompt_host = "host", .via = "here", .success = on_success, .failure = on_failure };
	struct message m = { .type = MSG_SERVICE_ACCEPT, .body = { accept_body.data, accept_body.size } };
	struct client_auth *a;
	struct reader r;
	size_t n;

	err_clear(&ended);
	sent = answered = 0;
	succeeded = failed = false;
	kind = size > 0 && data[0] == 254 ? PEER_OPENSSH : PEER_OTHER;
	a = client_auth_new(&s, NULL);
	reader_init(&r, data, size);
	if (size > 0 && data[0] >= 254)
		reader_u8(&r);
	if (size == 0 || data[0] != 255)
		deliver(a, &m);
	while (reader_left(&r) >= 2 && !over()) {
		m.type = reader_u8(&r);
		n = reader_u8(&r);
		if (n == 255 && reader_left(&r) > 0)
			n += (size_t)reader_u8(&r) * 16;
		m.body = reader_bytes(&r, n < reader_left(&r) ? n : reader_left(&r));
		if (m.type == 0)
			m = (struct message){ .type = MSG_USERAUTH_PK_OK, .body = { pk_ok_body.data, pk_ok_body.size } };
		deliver(a, &m);
	}
	client_auth_free(a);
	return 0;
}
