/* Fuzzes the connection protocol: channels_message() and what it calls, as a client and as a server that accepts sessions
 * with a link. The first byte says which, and whether channel-echo@wirespeed is in force; then records of type byte, length
 * byte, bytes. The engine beneath is real and keyed; only the wire is left out. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/channel.h"
#include "channel/channel_private.h"
#include "io/loop.h"
#include "keys/key.h"
#include "transport.h"

static struct key *host_key;
static struct loop *loop;
static struct buf blob;          /* hand-off blob of the server's engine, which serves both roles here */

static int check_host_key(void *ctx, struct key *k, struct view b, struct err *e)
{
	return 0;
}

static int sign_hash(void *ctx, const struct sig_alg *alg, struct view b, struct view hash, struct buf *out, struct err *e)
{
	return key_sign(host_key, alg, hash, out, e);
}

static int host_key_for(void *ctx, const struct sig_alg *alg, struct view *out)
{
	*out = key_blob(host_key);
	return sig_alg_fits(alg, host_key) ? 0 : ERR_NONE_FOUND;
}

static void keys_changed(void *ctx)
{
}

static struct transport_options options(bool server)
{
	static const char *const lists[PROPOSAL_COUNT] = { "curve25519-sha256", "ssh-ed25519", "aes128-gcm@openssh.com",
		"aes128-gcm@openssh.com", "hmac-sha2-256", "hmac-sha2-256", "none", "none", "", "" };
	struct transport_options o = { .server = server, .software = "Wirespeed_fuzz", .cb = {
		.check_host_key = check_host_key, .sign_hash = sign_hash, .host_key_for = host_key_for,
		.keys_changed = keys_changed } };

	for (int i = 0; i < PROPOSAL_COUNT; i++)
		proposal_set(&o.proposal, (enum proposal_list)i, lists[i]);
	return o;
}

/* Everything that one side has to say goes to the other. */
static size_t carry(struct transport *from, struct transport *to)
{
	struct iovec iov[16];
	struct message m;
	size_t total = 0;
	int n;

	while ((n = transport_out_view(from, iov, 16)) > 0)
		for (int i = 0; i < n; i++) {
			const uint8_t *p = iov[i].iov_base;
			size_t left = iov[i].iov_len, room;
			uint8_t *at;

			while (left > 0) {
				if (transport_in_space(to, &at, &room) < 0)
					abort();
				room = room < left ? room : left;
				memcpy(at, p, room);
				transport_in_added(to, room);
				p += room;
				left -= room;
				total += room;
				if (transport_next(to, &m) < 0)
					abort();
			}
			if (i == n - 1) {
				size_t all = 0;

				for (int j = 0; j < n; j++)
					all += iov[j].iov_len;
				transport_out_sent(from, all);
			}
		}
	return total;
}

static void prepare(void)
{
	struct transport_options o[2] = { options(false), options(true) };
	struct transport *t[2];

	host_key = key_generate(KEY_ED25519, 0, NULL);
	loop = loop_new(NULL);
	for (int i = 0; i < 2; i++) {
		t[i] = transport_new(&o[i], NULL);
		if (!t[i] || transport_start(t[i]) < 0)
			abort();
	}
	while (carry(t[0], t[1]) + carry(t[1], t[0]) > 0)
		;
	for (int i = 0; i < 2; i++) {
		buf_init(&blob, 1 << 20);
		if (i == 1 && transport_export(t[i], &blob) < 0)
			abort();
		transport_free(t[i]);
		proposal_clear(&o[i].proposal);
	}
}

struct sink { struct link *link; };

static void sink_readable(void *ctx)
{
	struct sink *s = ctx;
	const uint8_t *p;
	size_t n = link_peek(s->link, &p);

	/* leaves some, so that queues are used as well */
	if (n > 3)
		link_consume(s->link, n - n / 4);
}

static struct sink sinks[8];
static unsigned sinks_used;

static uint32_t accept_session(void *ctx, struct channel *c, struct view type, struct reader *extra, struct channel_answer *a)
{
	struct sink *s = &sinks[sinks_used % 8];

	if (!view_is(type, "session") || sinks_used >= 8)
		return 3;
	sinks_used++;
	s->link = channel_link(c, -1);
	s->link->user = (struct link_user){ .ctx = s, .readable = sink_readable };
	return 0;
}

static bool global_request(void *ctx, struct view name, struct reader *body, bool want_reply, struct buf *reply)
{
	return name.n % 2 == 0;
}

static void channel_replied(void *ctx, struct channel *c, bool ok)
{
}

static void run_side(bool server, bool echo, const uint8_t *p, size_t n)
{
	struct transport_options o = options(true);
	struct channels_options co = { .server = server, .echo_window = echo ? 1 << 16 : 0,
		.user = { .open = server ? accept_session : NULL, .global_request = global_request } };
	struct channel_user none = { 0 };
	struct reader r;
	struct transport *t;
	struct carrier *carrier;
	struct channels *cs;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		abort();
	reader_init(&r, blob.data, blob.size);
	t = transport_import(&o, &r, NULL);
	if (!t)
		abort();
	transport_set_authenticated(t);
	carrier = carrier_new(loop, t, fds[0], fds[0], NULL);
	cs = channels_new(carrier, &co, NULL);
	sinks_used = 0;
	if (!server) {
		struct channel *c = channel_open(cs, "session", NULL, false, &none, NULL);

		if (channel_request(c, "exec", NULL, channel_replied, NULL) < 0)
			abort();
		sinks[0].link = channel_link(c, -1);
		sinks[0].link->user = (struct link_user){ .ctx = &sinks[0], .readable = sink_readable };
	}
	while (n >= 2) {
		size_t size = p[1] < n - 2 ? p[1] : n - 2;
		struct message m = { .type = p[0], .body = { p + 2, size } };

		if (channels_message(cs, &m) < 0)
			break;
		transport_out_sent(t, transport_out_pending(t));
		p += 2 + size;
		n -= 2 + size;
	}
	if (loop_turn(loop, 0, NULL) < 0)
		abort();
	channels_free(cs);
	carrier_free(carrier);
	transport_free(t);
	proposal_clear(&o.proposal);
	close(fds[0]);
	close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!loop)
		prepare();
	if (size < 1)
		return 0;
	run_side(data[0] & 1, data[0] & 2, data + 1, size - 1);
	return 0;
}
