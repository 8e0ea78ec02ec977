/* Every method between two ends: both get the same secret and hash, the hash is the one of the RFCs, keys are derived as
 * RFC 4253 §7.2 says; wrong values are refused. */
#include "kex/kex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "wire/messages.h"

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

static int sign(void *ctx, struct view hash, struct buf *signature, struct err *e)
{
	if (ctx != NULL)
		return err_set(e, ERR_DENIED, "no signature today");
	buf_put(signature, "signed:", 7);
	buf_put(signature, hash.p, hash.n);
	return 0;
}

static struct kex_input input(void)
{
	return (struct kex_input){
		.client_version = text("SSH-2.0-client"), .server_version = text("SSH-2.0-server"),
		.client_kexinit = text("\024client's lists"), .server_kexinit = text("\024server's lists"),
		.host_key = text("blob of the host key"), .sign = sign
	};
}

struct ends {
	struct kex *client, *server;
	struct kex_message init, reply;
	struct buf group;        /* of group exchange: what the hash covers before the values */
};

static bool gex(const struct kex_method *m)
{
	return !kex_can_guess(m);
}

/* The first half of RFC 4419: request and group. The client's value is in e->init then, as in other methods. */
static void begin_group(struct ends *e)
{
	struct kex_input in = input();
	struct kex_message group = { .body = BUF_INIT(65536) }, init = { .body = BUF_INIT(65536) };
	struct err err = { .code = 0 };

	assert_int_equal(e->init.type, 34);
	assert_int_equal(kex_expects(e->server), 34);
	assert_int_equal(kex_expects(e->client), 31);
	assert_int_equal(e->init.body.size, 12);
	assert_int_equal(kex_input(e->server, &in, (struct view){ e->init.body.data, 12 }, &group, &err), 0);
	assert_int_equal(group.type, 31);
	assert_int_equal(kex_input(e->client, &in, (struct view){ group.body.data, group.body.size }, &init, &err), 0);
	assert_int_equal(init.type, 32);
	assert_int_equal(kex_expects(e->server), 32);
	assert_int_equal(kex_expects(e->client), 33);
	buf_put(&e->group, e->init.body.data, e->init.body.size);
	buf_put(&e->group, group.body.data, group.body.size);
	buf_free(&e->init.body);
	buf_free(&group.body);
	e->init = init;
}

static void begin(struct ends *e, const struct kex_method *m)
{
	struct err err = { .code = 0 };

	*e = (struct ends){ .init.body = BUF_INIT(65536), .reply.body = BUF_INIT(65536), .group = BUF_INIT(65536) };
	e->client = kex_new(m, false);
	e->server = kex_new(m, true);
	assert_int_equal(kex_begin(e->client, &e->init, &err), 0);
	if (gex(m)) {
		begin_group(e);
		return;
	}
	assert_int_equal(e->init.type, 30);
	assert_int_equal(kex_expects(e->server), 30);
	assert_int_equal(kex_expects(e->client), 31);
}

static void end(struct ends *e)
{
	kex_free(e->client);
	kex_free(e->server);
	buf_free(&e->init.body);
	buf_free(&e->reply.body);
	buf_free(&e->group);
}

static struct view body(const struct kex_message *m)
{
	return (struct view){ m->body.data, m->body.size };
}

static int answer(struct ends *e)
{
	const struct kex_input in = input();
	struct err err = { .code = 0 };

	return kex_input(e->server, &in, body(&e->init), &e->reply, &err);
}

static int finish(struct ends *e, struct view reply)
{
	const struct kex_input in = input();
	struct kex_message none = { .body = BUF_INIT(16) };
	struct err err = { .code = 0 };
	int r = kex_input(e->client, &in, reply, &none, &err);

	assert_int_equal(none.type, 0);
	assert_int_equal(r < 0, err.code != 0);
	return r;
}

static void check_hash(const struct ends *e, const struct kex_method *m)
{
	const struct kex_result *c = kex_result(e->client);
	struct buf b = BUF_INIT(65536);
	uint8_t want[DIGEST_MAX];
	struct reader r;
	struct view v;

	buf_put_cstring(&b, "SSH-2.0-client");
	buf_put_cstring(&b, "SSH-2.0-server");
	buf_put_cstring(&b, "\024client's lists");
	buf_put_cstring(&b, "\024server's lists");
	buf_put_cstring(&b, "blob of the host key");
	buf_put(&b, e->group.data, e->group.size);
	/* Values go into the hash as they stand in the messages, strings or mpints. */
	buf_put(&b, e->init.body.data, e->init.body.size);
	reader_init(&r, e->reply.body.data, e->reply.body.size);
	reader_string(&r);
	v = reader_string(&r);
	buf_put_string(&b, v.p, v.n);
	buf_put(&b, c->secret.data, c->secret.size);
	assert_int_equal(digest_bytes(m->hash, b.data, b.size, want), 0);
	assert_int_equal(c->hash_size, digest_size(m->hash));
	assert_memory_equal(c->hash, want, c->hash_size);
	buf_free(&b);
}

static void check_keys(const struct ends *e, const struct kex_method *m)
{
	static const char letters[] = "ABCDEF";
	const struct kex_result *res = kex_result(e->client);
	const struct view id = text("session id, which need not be this hash");
	uint8_t c[200], s[200], k[200], first[DIGEST_MAX], second[DIGEST_MAX];
	size_t n = digest_size(m->hash);
	struct buf b = BUF_INIT(65536);
	int i;

	for (i = 0; i < 6; i++) {
		assert_int_equal(kex_derive(e->client, id, letters[i], c, sizeof(c)), 0);
		assert_int_equal(kex_derive(e->server, id, letters[i], s, sizeof(s)), 0);
		assert_memory_equal(c, s, sizeof(c));
		assert_int_equal(kex_derive(e->client, id, letters[i], k, 7), 0);
		assert_memory_equal(c, k, 7);
		buf_reset(&b);
		buf_put(&b, res->secret.data, res->secret.size);
		buf_put(&b, res->hash, n);
		buf_put_u8(&b, (uint8_t)letters[i]);
		buf_put(&b, id.p, id.n);
		assert_int_equal(digest_bytes(m->hash, b.data, b.size, first), 0);
		assert_memory_equal(c, first, n);
		buf_reset(&b);
		buf_put(&b, res->secret.data, res->secret.size);
		buf_put(&b, res->hash, n);
		buf_put(&b, first, n);
		assert_int_equal(digest_bytes(m->hash, b.data, b.size, second), 0);
		assert_memory_equal(c + n, second, n);
	}
	buf_free(&b);
}

static void every_method_agrees(void **state)
{
	const struct kex_method *m;
	size_t i;

	(void)state;
	for (i = 0; (m = kex_at(i)) != NULL; i++) {
		struct ends e;
		const struct kex_result *c, *s;

		assert_ptr_equal(kex_find(text(m->name)), m);
		begin(&e, m);
		assert_null(kex_result(e.client));
		assert_int_equal(answer(&e), 1);
		assert_int_equal(e.reply.type, gex(m) ? 33 : 31);
		assert_int_equal(finish(&e, body(&e.reply)), 1);
		c = kex_result(e.client);
		s = kex_result(e.server);
		assert_int_equal(c->secret.size, s->secret.size);
		assert_memory_equal(c->secret.data, s->secret.data, c->secret.size);
		assert_memory_equal(c->hash, s->hash, c->hash_size);
		assert_true(view_is((struct view){ c->host_key.data, c->host_key.size }, "blob of the host key"));
		assert_int_equal(c->signature.size, 7 + c->hash_size);
		assert_memory_equal(c->signature.data, s->signature.data, c->signature.size);
		check_hash(&e, m);
		check_keys(&e, m);
		/* Once is enough. */
		assert_int_equal(finish(&e, body(&e.reply)), ERR_PEER);
		end(&e);
	}
	assert_null(kex_find(text("diffie-hellman-group2-sha1")));
}

static const char *const old_methods[] = {
	"diffie-hellman-group1-sha1", "diffie-hellman-group14-sha1", "diffie-hellman-group-exchange-sha1"
};

static void old_methods_are_marked(void **state)
{
	const struct kex_method *m;
	size_t i, legacy = 0;

	(void)state;
	for (i = 0; (m = kex_at(i)) != NULL; i++) {
		legacy += m->legacy;
		assert_int_equal(m->legacy, m->hash == DIGEST_SHA1);
	}
#ifdef WITH_LEGACY_CIPHERS
	assert_int_equal(legacy, MEM_COUNT(old_methods));
	for (i = 0; i < MEM_COUNT(old_methods); i++)
		assert_true(kex_find(text(old_methods[i]))->legacy);
#else
	assert_int_equal(legacy, 0);
	for (i = 0; i < MEM_COUNT(old_methods); i++)
		assert_null(kex_find(text(old_methods[i])));
#endif
}

/* What a client asks for, by the size of the keys. */
static void groups_are_as_strong_as_keys(void **state)
{
	static const struct { unsigned key, group; } sizes[] = {
		{ 0, 2048 }, { 112, 2048 }, { 128, 3072 }, { 160, 7680 }, { 192, 7680 }, { 256, 8192 }, { 512, 8192 }
	};
	struct reader r;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(sizes); i++) {
		struct kex *k = kex_new(kex_find(text("diffie-hellman-group-exchange-sha256")), false);
		struct kex_message m = { .body = BUF_INIT(100) };

		kex_set_key_bits(k, sizes[i].key);
		assert_int_equal(kex_begin(k, &m, NULL), 0);
		reader_init(&r, m.body.data, m.body.size);
		assert_int_equal(reader_u32(&r), 2048);
		assert_int_equal(reader_u32(&r), sizes[i].group);
		assert_int_equal(reader_u32(&r), 8192);
		assert_int_equal(kex_input(k, NULL, text("x"), &m, NULL), ERR_PEER);
		kex_free(k);
		buf_free(&m.body);
	}
}

/* Server: min, wanted, max in; bits of the prime out, 0 for refusal. */
static unsigned group_for(uint32_t min, uint32_t wanted, uint32_t max)
{
	struct kex *k = kex_new(kex_find(text("diffie-hellman-group-exchange-sha256")), true);
	struct kex_message out = { .body = BUF_INIT(65536) };
	struct kex_input in = input();
	struct buf b = BUF_INIT(100);
	unsigned bits = 0;
	struct reader r;
	int code;

	buf_put_u32(&b, min);
	buf_put_u32(&b, wanted);
	buf_put_u32(&b, max);
	code = kex_input(k, &in, (struct view){ b.data, b.size }, &out, NULL);
	if (code == 0) {
		reader_init(&r, out.body.data, out.body.size);
		bits = (unsigned)reader_mpint(&r, 2000).n * 8;
	}
	/* It does not answer twice. */
	assert_int_equal(kex_input(k, &in, (struct view){ b.data, b.size }, &out, NULL), ERR_PEER);
	kex_free(k);
	buf_free(&b);
	buf_free(&out.body);
	return bits;
}

static void groups_that_can_be_had(void **state)
{
	(void)state;
	assert_int_equal(group_for(2048, 3072, 8192), 3072);
	assert_int_equal(group_for(1024, 1024, 8192), 2048);
	assert_int_equal(group_for(1024, 2048, 2048), 2048);
	assert_int_equal(group_for(2048, 7680, 8192), 8192);
	assert_int_equal(group_for(2048, 7680, 7680), 6144);
	assert_int_equal(group_for(2048, 20000, 65536), 8192);
	assert_int_equal(group_for(1024, 1024, 1024), 0);
	assert_int_equal(group_for(3000, 2048, 8192), 0);
	assert_int_equal(group_for(2048, 4096, 3072), 0);
	assert_int_equal(group_for(9000, 9000, 10000), 0);
	assert_int_equal(group_for(2049, 2050, 2051), 0);
}

/* Client: groups that no honest server names. */
static int take_group(struct view p, struct view g)
{
	struct kex *k = kex_new(kex_find(text("diffie-hellman-group-exchange-sha256")), false);
	struct kex_message request = { .body = BUF_INIT(100) }, out = { .body = BUF_INIT(65536) };
	struct kex_input in = input();
	struct buf b = BUF_INIT(65536);
	int code;

	assert_int_equal(kex_begin(k, &request, NULL), 0);
	buf_put_mpint(&b, p.p, p.n);
	buf_put_mpint(&b, g.p, g.n);
	code = kex_input(k, &in, (struct view){ b.data, b.size }, &out, NULL);
	kex_free(k);
	buf_free(&b);
	buf_free(&request.body);
	buf_free(&out.body);
	return code;
}

static void bad_groups_are_refused(void **state)
{
	const struct kex_group_size want = { 2048, 2048, 2048 };
	struct buf p = BUF_INIT(2000), g = BUF_INIT(10);
	uint8_t two[1] = { 2 }, one[1] = { 1 };
	struct view good, v;

	(void)state;
	assert_int_equal(kex_builtin_group(&want, &p, &g, NULL), 0);
	good = (struct view){ p.data, p.size };
	assert_int_equal(take_group(good, (struct view){ two, 1 }), 0);
	assert_int_equal(take_group(good, (struct view){ one, 1 }), ERR_PEER);
	assert_int_equal(take_group(good, (struct view){ two, 0 }), ERR_PEER);
	assert_int_equal(take_group(good, good), ERR_PEER);
	assert_int_equal(take_group((struct view){ p.data, 255 }, (struct view){ two, 1 }), ERR_PEER);      /* 2040 bits */
	p.data[255] ^= 1;                        /* even */
	assert_int_equal(take_group(good, (struct view){ two, 1 }), ERR_PEER);
	p.data[255] ^= 1;
	v = good;
	for (unsigned i = 2; i < 20; i += 2) {   /* neighbours, which are no safe primes */
		p.data[255] ^= (uint8_t)i;
		assert_int_equal(take_group(v, (struct view){ two, 1 }), ERR_PEER);
		p.data[255] ^= (uint8_t)i;
	}
	buf_free(&p);
	buf_free(&g);
}

static void cut_messages_are_refused(void **state)
{
	const struct kex_method *m = kex_find(text("curve25519-sha256"));
	struct ends e;
	struct view v;
	size_t n;

	(void)state;
	begin(&e, m);
	for (n = 0; n < e.init.body.size; n++) {
		const struct kex_input in = input();
		struct kex_message out = { .body = BUF_INIT(65536) };
		struct err err = { .code = 0 };

		assert_true(kex_input(e.server, &in, (struct view){ e.init.body.data, n }, &out, &err) < 0);
		assert_null(kex_result(e.server));
		buf_free(&out.body);
	}
	end(&e);
	begin(&e, m);
	assert_int_equal(answer(&e), 1);
	for (n = 0, v = body(&e.reply); n < v.n; n++) {
		struct ends cut;

		begin(&cut, m);
		assert_true(finish(&cut, (struct view){ v.p, n }) < 0);
		end(&cut);
	}
	end(&e);
}

/* Values that no honest peer sends, as the client's and as the server's. */
static void bad_values(const char *name, const void *value, size_t n, bool mpint)
{
	const struct kex_method *m = kex_find(text(name));
	struct ends e;
	struct buf b = BUF_INIT(65536);

	begin(&e, m);
	buf_reset(&e.init.body);
	if (mpint)
		buf_put_mpint(&e.init.body, value, n);
	else
		buf_put_string(&e.init.body, value, n);
	assert_true(answer(&e) < 0);
	buf_put_cstring(&b, "blob of the host key");
	buf_put(&b, e.init.body.data, e.init.body.size);
	buf_put_cstring(&b, "signature");
	assert_true(finish(&e, (struct view){ b.data, b.size }) < 0);
	end(&e);
	buf_free(&b);
}

static void bad_values_are_refused(void **state)
{
	uint8_t v[1100];

	(void)state;
	memset(v, 0, sizeof(v));
	bad_values("curve25519-sha256", v, 32, false);
	v[0] = 9;
	bad_values("curve25519-sha256", v, 31, false);
	bad_values("curve25519-sha256", v, 33, false);
	bad_values("curve25519-sha256", v, 0, false);
	memset(v, 0, sizeof(v));
	v[0] = 4;
	bad_values("ecdh-sha2-nistp256", v, 65, false);
	bad_values("ecdh-sha2-nistp256", v, 1, false);
	v[0] = 0;
	bad_values("ecdh-sha2-nistp521", v, 1, false);
	memset(v, 0, sizeof(v));
	bad_values("diffie-hellman-group14-sha256", v, 1, true);
	v[0] = 1;
	bad_values("diffie-hellman-group14-sha256", v, 1, true);
	memset(v, 0xff, sizeof(v));
	bad_values("diffie-hellman-group14-sha256", v, 256, true);
	bad_values("diffie-hellman-group18-sha512", v, 1100, true);
	bad_values("diffie-hellman-group-exchange-sha256", v, 1100, true);
	v[0] = 1;
	bad_values("diffie-hellman-group-exchange-sha256", v, 1, true);
#ifdef WITH_LEGACY_CIPHERS
	bad_values("diffie-hellman-group1-sha1", v, 1, true);
	memset(v, 0xff, sizeof(v));
	bad_values("diffie-hellman-group1-sha1", v, 128, true);
	bad_values("diffie-hellman-group1-sha1", v, 129, true);
#endif
}

enum damage { SHORTER, LONGER, ZERO_POINT, OTHER_CIPHERTEXT };

/* The value as it would come from a peer that gets it wrong. */
static void put_damaged(struct buf *b, struct view value, enum damage how)
{
	struct buf v = BUF_INIT(4096);

	buf_put(&v, value.p, value.n);
	buf_put_u8(&v, 0);
	if (how == ZERO_POINT)
		memset(v.data + value.n - 32, 0, 32);
	if (how == OTHER_CIPHERTEXT)
		v.data[0] ^= 1;
	buf_put_string(b, v.data, how == SHORTER ? value.n - 1 : how == LONGER ? value.n + 1 : value.n);
	buf_free(&v);
}

/* sntrup761 with X25519. A ciphertext that was changed yields another secret, so that nothing built on it fits. */
static void hybrid_values(void **state)
{
	const struct kex_method *m = kex_find(text("sntrup761x25519-sha512"));
	struct reader r;

	(void)state;
	for (enum damage how = SHORTER; how <= OTHER_CIPHERTEXT; how++) {
		struct buf b = BUF_INIT(65536);
		struct view value, key, signature;
		struct ends e;

		begin(&e, m);
		reader_init(&r, e.init.body.data, e.init.body.size);
		value = reader_string(&r);
		assert_int_equal(value.n, 1158 + 32);
		put_damaged(&b, value, how);
		buf_reset(&e.init.body);
		buf_put(&e.init.body, b.data, b.size);
		assert_int_equal(answer(&e), how == OTHER_CIPHERTEXT ? 1 : ERR_PEER);
		end(&e);

		begin(&e, m);
		assert_int_equal(answer(&e), 1);
		reader_init(&r, e.reply.body.data, e.reply.body.size);
		key = reader_string(&r);
		value = reader_string(&r);
		signature = reader_string(&r);
		assert_int_equal(value.n, 1039 + 32);
		buf_reset(&b);
		buf_put_string(&b, key.p, key.n);
		put_damaged(&b, value, how);
		buf_put_string(&b, signature.p, signature.n);
		assert_int_equal(finish(&e, (struct view){ b.data, b.size }), how == OTHER_CIPHERTEXT ? 1 : ERR_PEER);
		if (how == OTHER_CIPHERTEXT) {
			const struct buf *c = &kex_result(e.client)->secret, *other = &kex_result(e.server)->secret;

			assert_int_equal(c->size, 4 + 64);
			assert_int_equal(other->size, 4 + 64);
			assert_memory_not_equal(c->data + 4, other->data + 4, 64);
		}
		end(&e);
		buf_free(&b);
	}
}

static void a_refused_signature_ends_it(void **state)
{
	struct ends e;
	struct kex_input in = input();
	struct err err = { .code = 0 };

	(void)state;
	begin(&e, kex_find(text("curve25519-sha256")));
	in.ctx = &e;
	assert_int_equal(kex_input(e.server, &in, body(&e.init), &e.reply, &err), ERR_DENIED);
	assert_string_equal(err.text, "no signature today");
	assert_int_equal(e.reply.type, 0);
	end(&e);
}

static void order_is_kept(void **state)
{
	struct ends e;
	struct kex_input in = input();
	struct kex_message out = { .body = BUF_INIT(4096) };
	struct err err = { .code = 0 };
	struct kex *late = kex_new(kex_find(text("curve25519-sha256")), false);

	(void)state;
	/* A reply before anything was begun, and a beginning of a server. */
	assert_int_equal(kex_input(late, &in, text("x"), &out, &err), ERR_PEER);
	kex_free(late);
	begin(&e, kex_find(text("curve25519-sha256")));
	assert_int_equal(kex_begin(e.server, &out, &err), ERR_USAGE);
	assert_int_equal(kex_begin(e.client, &out, &err), ERR_USAGE);
	end(&e);
	buf_free(&out.body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_method_agrees),
		cmocka_unit_test(old_methods_are_marked),
		cmocka_unit_test(groups_are_as_strong_as_keys),
		cmocka_unit_test(groups_that_can_be_had),
		cmocka_unit_test(bad_groups_are_refused),
		cmocka_unit_test(cut_messages_are_refused),
		cmocka_unit_test(bad_values_are_refused),
		cmocka_unit_test(hybrid_values),
		cmocka_unit_test(a_refused_signature_ends_it),
		cmocka_unit_test(order_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
