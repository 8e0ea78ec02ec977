/* kex/kex.c: what key exchange methods share: the table, the two messages, the exchange hash and key derivation. */
#include "kex/kex.h"

#include "base/mem.h"
#include "crypto/agree.h"
#include "crypto/crypto.h"
#include "wire/messages.h"

enum {
	KEX_MSG_INIT = MSG_KEX_FIRST,                    /* KEXDH_INIT, KEX_ECDH_INIT: RFC 4253 §8, RFC 5656 §4 */
	KEX_MSG_REPLY = MSG_KEX_FIRST + 1,
	GEX_MSG_REQUEST = MSG_KEX_FIRST + 4,             /* RFC 4419 §5 */
	GEX_MSG_GROUP = MSG_KEX_FIRST + 1,
	GEX_MSG_INIT = MSG_KEX_FIRST + 2,
	GEX_MSG_REPLY = MSG_KEX_FIRST + 3,
	KEX_VALUE_MAX = 4096,                            /* bytes of a public value; group18 has 1,024 */
	KEX_BLOB_MAX = 64 * 1024,                        /* bytes of a host key or signature */
	KEX_HASHED_MAX = 1024 * 1024                     /* versions, two KEXINITs of 256 KiB, a host key, values */
};

struct kex {
	const struct kex_method *method;
	bool server, finished;
	bool group_tried, grouped;                       /* group exchange: the group is known */
	unsigned key_bits;
	void *state;                                     /* of the method */
	struct buf ours;                                 /* client: the value it sent */
	struct kex_result result;
};

/* In the order of -Q, which is OpenSSH's. */
static const struct kex_method methods[] = {
#ifdef WITH_LEGACY_CIPHERS
	{ "diffie-hellman-group1-sha1", DIGEST_SHA1, KEX_MPINT, KEX_MPINT, &kex_agree_ops, AGREE_DH1, true },
	{ "diffie-hellman-group14-sha1", DIGEST_SHA1, KEX_MPINT, KEX_MPINT, &kex_agree_ops, AGREE_DH14, true },
#endif
	{ "diffie-hellman-group14-sha256", DIGEST_SHA256, KEX_MPINT, KEX_MPINT, &kex_agree_ops, AGREE_DH14, false },
	{ "diffie-hellman-group16-sha512", DIGEST_SHA512, KEX_MPINT, KEX_MPINT, &kex_agree_ops, AGREE_DH16, false },
	{ "diffie-hellman-group18-sha512", DIGEST_SHA512, KEX_MPINT, KEX_MPINT, &kex_agree_ops, AGREE_DH18, false },
#ifdef WITH_LEGACY_CIPHERS
	{ "diffie-hellman-group-exchange-sha1", DIGEST_SHA1, KEX_MPINT, KEX_MPINT, &kex_gex_ops, 0, true },
#endif
	{ "diffie-hellman-group-exchange-sha256", DIGEST_SHA256, KEX_MPINT, KEX_MPINT, &kex_gex_ops, 0, false },
	{ "ecdh-sha2-nistp256", DIGEST_SHA256, KEX_STRING, KEX_MPINT, &kex_agree_ops, AGREE_P256, false },
	{ "ecdh-sha2-nistp384", DIGEST_SHA384, KEX_STRING, KEX_MPINT, &kex_agree_ops, AGREE_P384, false },
	{ "ecdh-sha2-nistp521", DIGEST_SHA512, KEX_STRING, KEX_MPINT, &kex_agree_ops, AGREE_P521, false },
	{ "curve25519-sha256", DIGEST_SHA256, KEX_STRING, KEX_MPINT, &kex_agree_ops, AGREE_X25519, false },
	{ "curve25519-sha256@libssh.org", DIGEST_SHA256, KEX_STRING, KEX_MPINT, &kex_agree_ops, AGREE_X25519, false },
	{ "sntrup761x25519-sha512", DIGEST_SHA512, KEX_STRING, KEX_STRING, &kex_sntrup_ops, 0, false },
	{ "sntrup761x25519-sha512@openssh.com", DIGEST_SHA512, KEX_STRING, KEX_STRING, &kex_sntrup_ops, 0, false },
};

static bool is_offered(const struct kex_method *m)
{
	return crypto_has_digest(m->hash) && (m->ops != &kex_sntrup_ops || !crypto_is_fips());
}

const struct kex_method *kex_at(size_t i)
{
	for (size_t at = 0; at < MEM_COUNT(methods); at++)
		if (is_offered(&methods[at]) && i-- == 0)
			return &methods[at];
	return NULL;
}

const struct kex_method *kex_find(struct view name)
{
	size_t i;

	for (i = 0; i < MEM_COUNT(methods); i++)
		if (view_is(name, methods[i].name))
			return is_offered(&methods[i]) ? &methods[i] : NULL;
	return NULL;
}

struct kex *kex_new(const struct kex_method *m, bool server)
{
	struct kex *k = mem_zalloc(sizeof(*k));

	k->method = m;
	k->server = server;
	buf_init(&k->ours, KEX_VALUE_MAX);
	buf_init(&k->result.host_key, KEX_BLOB_MAX);
	buf_init(&k->result.signature, KEX_BLOB_MAX);
	buf_init(&k->result.secret, KEX_VALUE_MAX);
	return k;
}

void kex_free(struct kex *k)
{
	if (k == NULL)
		return;
	if (k->state != NULL)
		k->method->ops->release(k->state);
	buf_free(&k->ours);
	buf_free(&k->result.host_key);
	buf_free(&k->result.signature);
	buf_free(&k->result.secret);
	mem_free_secret(k, sizeof(*k));
}

const struct kex_method *kex_method(const struct kex *k)
{
	return k->method;
}

const struct kex_result *kex_result(const struct kex *k)
{
	return k->finished ? &k->result : NULL;
}

bool kex_can_guess(const struct kex_method *m)
{
	return m->ops->request == NULL;
}

void kex_set_key_bits(struct kex *k, unsigned bits)
{
	k->key_bits = bits;
}

static bool is_group_exchange(const struct kex *k)
{
	return k->method->ops->request != NULL;
}

uint8_t kex_expects(const struct kex *k)
{
	if (!is_group_exchange(k))
		return k->server ? KEX_MSG_INIT : KEX_MSG_REPLY;
	if (k->grouped)
		return k->server ? GEX_MSG_INIT : GEX_MSG_REPLY;
	return k->server ? GEX_MSG_REQUEST : GEX_MSG_GROUP;
}

static void put_form(struct buf *b, enum kex_form form, struct view v)
{
	if (form == KEX_MPINT)
		buf_put_mpint(b, v.p, v.n);
	else
		buf_put_string(b, v.p, v.n);
}

static struct view get_form(struct reader *r, enum kex_form form)
{
	return form == KEX_MPINT ? reader_mpint(r, KEX_VALUE_MAX) : reader_string(r);
}

static struct view view_of(const struct buf *b)
{
	return (struct view){ b->data, b->size };
}

/* RFC 4253 §8 and RFC 5656 §4: H over V_C, V_S, I_C, I_S, K_S, the client's value, the server's value, K; RFC 4419 §3 has what was
 * asked for and the group between K_S and the values. */
static int hash_exchange(struct kex *k, const struct kex_input *in, struct view of_client, struct view of_server,
	struct err *e)
{
	struct buf b = BUF_INIT(KEX_HASHED_MAX);
	const struct view strings[] = {
		in->client_version, in->server_version, in->client_kexinit, in->server_kexinit,
		view_of(&k->result.host_key)
	};
	size_t i;
	int r = 0;

	for (i = 0; i < MEM_COUNT(strings); i++)
		buf_put_string(&b, strings[i].p, strings[i].n);
	if (k->grouped)
		k->method->ops->hashed(k->state, &b);
	put_form(&b, k->method->value, of_client);
	put_form(&b, k->method->value, of_server);
	buf_put(&b, k->result.secret.data, k->result.secret.size);
	if (!buf_ok(&b) || !buf_ok(&k->result.secret) || !buf_ok(&k->result.host_key))
		r = err_set(e, ERR_MEMORY, "the messages of the key exchange are too long");
	else if (digest_bytes(k->method->hash, b.data, b.size, k->result.hash) < 0)
		r = err_set(e, ERR_CRYPTO, "the hash of %s is not available", k->method->name);
	k->result.hash_size = digest_size(k->method->hash);
	buf_free(&b);
	return r;
}

int kex_begin(struct kex *k, struct kex_message *out, struct err *e)
{
	int r;

	if (k->server || k->state != NULL)
		return err_set(e, ERR_USAGE, "key exchange %s begun twice", k->method->name);
	if (is_group_exchange(k)) {
		out->type = GEX_MSG_REQUEST;
		return k->method->ops->request(k->method, k->key_bits, &k->state, &out->body, e);
	}
	r = k->method->ops->offer(k->method, &k->state, &k->ours, e);
	if (r < 0)
		return r;
	out->type = KEX_MSG_INIT;
	put_form(&out->body, k->method->value, view_of(&k->ours));
	if (!buf_ok(&k->ours) || !buf_ok(&out->body))
		return err_set(e, ERR_MEMORY, "the first message of %s is too long", k->method->name);
	return 0;
}

/* The server's part: the client's value in, KEXDH_REPLY or KEX_ECDH_REPLY out. */
static int answer_init(struct kex *k, const struct kex_input *in, struct reader *r, struct kex_message *out,
	struct err *e)
{
	struct view theirs = get_form(r, k->method->value);
	struct buf secret = BUF_INIT(KEX_VALUE_MAX), ours = BUF_INIT(KEX_VALUE_MAX);
	int code;

	if ((code = reader_end(r, e, "key exchange message")) < 0)
		goto out;
	code = k->method->ops->answer(k->method, k->state, theirs, &ours, &secret, e);
	if (code < 0)
		goto out;
	put_form(&k->result.secret, k->method->secret, view_of(&secret));
	buf_put(&k->result.host_key, in->host_key.p, in->host_key.n);
	if ((code = hash_exchange(k, in, theirs, view_of(&ours), e)) < 0)
		goto out;
	code = in->sign(in->ctx, (struct view){ k->result.hash, k->result.hash_size }, &k->result.signature, e);
	if (code < 0)
		goto out;
	out->type = is_group_exchange(k) ? GEX_MSG_REPLY : KEX_MSG_REPLY;
	buf_put_buf_string(&out->body, &k->result.host_key);
	put_form(&out->body, k->method->value, view_of(&ours));
	buf_put_buf_string(&out->body, &k->result.signature);
	code = buf_ok(&out->body) && buf_ok(&secret) && buf_ok(&ours) ? 1
		: err_set(e, ERR_MEMORY, "the answer of %s is too long", k->method->name);
out:
	buf_free(&secret);
	buf_free(&ours);
	return code;
}

/* The client's part: the server's reply in. */
static int finish_reply(struct kex *k, const struct kex_input *in, struct reader *r, struct err *e)
{
	struct view host_key = reader_string(r), theirs = get_form(r, k->method->value), signature = reader_string(r);
	struct buf secret = BUF_INIT(KEX_VALUE_MAX);
	int code;

	if ((code = reader_end(r, e, "key exchange reply")) < 0)
		return code;
	buf_put(&k->result.host_key, host_key.p, host_key.n);
	buf_put(&k->result.signature, signature.p, signature.n);
	if (!buf_ok(&k->result.host_key) || !buf_ok(&k->result.signature))
		return err_set(e, ERR_PEER, "the server's host key or signature is too long");
	code = k->method->ops->finish(k->method, k->state, theirs, &secret, e);
	if (code == 0) {
		put_form(&k->result.secret, k->method->secret, view_of(&secret));
		code = buf_ok(&secret) ? hash_exchange(k, in, view_of(&k->ours), theirs, e)
			: err_set(e, ERR_MEMORY, "the secret of %s is too long", k->method->name);
	}
	buf_free(&secret);
	return code < 0 ? code : 1;
}

/* Group exchange, first half: the server names a group, the client takes it and sends its value. */
static int agree_group(struct kex *k, const struct kex_input *in, struct reader *r, struct kex_message *out, struct err *e)
{
	int code;

	if (k->group_tried)
		return err_set(e, ERR_PEER, "key exchange message out of turn");
	k->group_tried = true;
	if (k->server) {
		code = k->method->ops->choose(in, r, &k->state, &out->body, e);
		out->type = GEX_MSG_GROUP;
	} else {
		code = k->method->ops->take_group(k->state, r, &k->ours, e);
		put_form(&out->body, k->method->value, view_of(&k->ours));
		out->type = GEX_MSG_INIT;
	}
	if (code == 0 && (!buf_ok(&out->body) || !buf_ok(&k->ours)))
		code = err_set(e, ERR_MEMORY, "a message of %s is too long", k->method->name);
	k->grouped = code == 0;
	return code;
}

int kex_input(struct kex *k, const struct kex_input *in, struct view body, struct kex_message *out, struct err *e)
{
	struct reader r;
	int code;

	if (k->finished || (!k->server && k->state == NULL))
		return err_set(e, ERR_PEER, "key exchange message out of turn");
	reader_init(&r, body.p, body.n);
	if (is_group_exchange(k) && !k->grouped)
		return agree_group(k, in, &r, out, e);
	code = k->server ? answer_init(k, in, &r, out, e) : finish_reply(k, in, &r, e);
	k->finished = code == 1;
	return code;
}

int kex_derive(const struct kex *k, struct view session_id, char letter, uint8_t *out, size_t n)
{
	const struct kex_result *res = &k->result;
	const struct view hash = { res->hash, res->hash_size }, secret = view_of(&res->secret);
	const struct view name = { (const uint8_t *)&letter, 1 };
	const struct view first[] = { secret, hash, name, session_id };
	size_t step = res->hash_size, have = 0, i, room = n + step;
	uint8_t *all = mem_zalloc(room + step);
	int r;

	/* RFC 4253 §7.2: K1 = HASH(K || H || X || session_id), then each further part over everything before it. */
	r = digest_of(k->method->hash, first, MEM_COUNT(first), all);
	for (have = step; r == 0 && have < n; have += step) {
		const struct view more[] = { secret, hash, { all, have } };

		r = digest_of(k->method->hash, more, MEM_COUNT(more), all + have);
	}
	for (i = 0; r == 0 && i < n; i++)
		out[i] = all[i];
	mem_free_secret(all, room + step);
	return r;
}
