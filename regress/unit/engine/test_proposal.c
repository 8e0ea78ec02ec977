/* KEXINIT: writing, reading, and what two proposals agree on. */
#include "proposal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "cipher.h"
#include "kex/kex.h"
#include "mac.h"

/* Lists in the order of the enum; NULL is empty. */
static void fill(struct proposal *p, const char *const *lists)
{
	int i;

	*p = (struct proposal){ .guess_follows = false };
	for (i = 0; i < PROPOSAL_COUNT; i++)
		proposal_set(p, (enum proposal_list)i, lists[i] != NULL ? lists[i] : "");
}

static const char *const usual[PROPOSAL_COUNT] = {
	"curve25519-sha256", "ssh-ed25519", "aes128-ctr,aes128-gcm@openssh.com", "aes128-ctr,aes128-gcm@openssh.com",
	"hmac-sha2-256", "hmac-sha2-256", "none", "none"
};

static void usual_with(struct proposal *p, enum proposal_list which, const char *names)
{
	fill(p, usual);
	proposal_set(p, which, names);
}

static void written_and_read(void **state)
{
	struct proposal a, b = { .guess_follows = false };
	struct buf out = BUF_INIT(65536), again = BUF_INIT(65536);
	struct reader r;
	struct err e = { .code = 0 };
	size_t n;
	int i;

	(void)state;
	fill(&a, usual);
	a.guess_follows = true;
	proposal_put(&a, &out);
	reader_init(&r, out.data, out.size);
	assert_int_equal(proposal_get(&r, &b, &e), 0);
	for (i = 0; i < PROPOSAL_COUNT; i++)
		assert_string_equal(a.list[i], b.list[i]);
	assert_true(b.guess_follows);
	/* The cookie is new each time. */
	proposal_put(&a, &again);
	assert_memory_not_equal(out.data, again.data, 16);
	assert_memory_equal(out.data + 16, again.data + 16, out.size - 16);
	/* Cut anywhere, or with something behind it, it is refused, and the old value stays. */
	for (n = 0; n < out.size; n++) {
		e = (struct err){ .code = 0 };
		reader_init(&r, out.data, n);
		assert_int_equal(proposal_get(&r, &b, &e), ERR_PEER);
	}
	buf_put_u8(&out, 0);
	reader_init(&r, out.data, out.size);
	assert_int_equal(proposal_get(&r, &b, &e), ERR_PEER);
	assert_string_equal(b.list[PROPOSAL_KEX], "curve25519-sha256");
	proposal_clear(&a);
	proposal_clear(&b);
	buf_free(&out);
	buf_free(&again);
}

static void strange_bytes_are_refused(void **state)
{
	static const char *const bad[] = { "a b", "a\tb", "a\nb", "\001", "\177", "\303\244" };
	static const char *const odd[] = { "", ",", "a,", ",a", "a,,b" };
	struct proposal a, b = { .guess_follows = false };
	struct buf out = BUF_INIT(65536);
	struct reader r;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(bad) + MEM_COUNT(odd); i++) {
		bool is_bad = i < MEM_COUNT(bad);

		usual_with(&a, PROPOSAL_LANG_S2C, is_bad ? bad[i] : odd[i - MEM_COUNT(bad)]);
		buf_reset(&out);
		proposal_put(&a, &out);
		reader_init(&r, out.data, out.size);
		e = (struct err){ .code = 0 };
		assert_int_equal(proposal_get(&r, &b, &e), is_bad ? ERR_PEER : 0);
		proposal_clear(&a);
	}
	proposal_clear(&b);
	buf_free(&out);
}

/* One list differs; what is chosen, or NULL and what the error says. */
static const struct agree_case {
	enum proposal_list which;
	const char *client, *server;
	size_t field;
	const char *chosen, *error;      /* error as the client sees it */
} agree_cases[] = {
#define F(x) offsetof(struct agreement, x)
	{ PROPOSAL_KEX, "a,b,c", "c,b", F(kex), "b", NULL },
	{ PROPOSAL_KEX, "b,c", "c,b", F(kex), "b", NULL },
	{ PROPOSAL_KEX, "x", "c,b,ext-info-s", F(kex), NULL, "no matching key exchange method found. Their offer: c,b,ext-info-s" },
	/* Signals are no methods, even if both sides were to say the same. */
	{ PROPOSAL_KEX, "ext-info-c,kex-strict-c-v00@openssh.com", "ext-info-c,kex-strict-c-v00@openssh.com", F(kex), NULL,
		"no matching key exchange method found. Their offer: ext-info-c,kex-strict-c-v00@openssh.com" },
	{ PROPOSAL_KEX, "kexguess2@matt.ucc.asn.au,a", "kexguess2@matt.ucc.asn.au,b,a", F(kex), "a", NULL },
	{ PROPOSAL_HOST_KEY, "ssh-ed25519,rsa-sha2-512", "rsa-sha2-512,rsa-sha2-256", F(host_key), "rsa-sha2-512", NULL },
	{ PROPOSAL_HOST_KEY, "ssh-ed25519", "rsa-sha2-512", F(host_key), NULL,
		"no matching host key type found. Their offer: rsa-sha2-512" },
	{ PROPOSAL_HOST_KEY, "", "rsa-sha2-512", F(host_key), NULL, "no matching host key type found. Their offer: rsa-sha2-512" },
	{ PROPOSAL_CIPHER_C2S, "aes256-ctr", "aes128-ctr", F(cipher_c2s), NULL,
		"no matching cipher found. Their offer: aes128-ctr" },
	{ PROPOSAL_CIPHER_S2C, "aes256-ctr,aes128-ctr", "aes128-ctr", F(cipher_s2c), "aes128-ctr", NULL },
	{ PROPOSAL_CIPHER_S2C, "aes128-gcm@openssh.com", "aes128-ctr,aes128-gcm@openssh.com", F(mac_s2c), "<implicit>", NULL },
	{ PROPOSAL_MAC_C2S, "hmac-sha1", "hmac-sha2-256", F(mac_c2s), NULL, "no matching MAC found. Their offer: hmac-sha2-256" },
	{ PROPOSAL_COMPRESS_C2S, "zlib@openssh.com,none", "none,zlib@openssh.com", F(compress_c2s), "zlib@openssh.com", NULL },
	{ PROPOSAL_COMPRESS_S2C, "zlib", "none", F(compress_s2c), NULL, "no matching compression found. Their offer: none" },
	/* Names are whole names. */
	{ PROPOSAL_CIPHER_C2S, "aes128", "aes128-ctr", F(cipher_c2s), NULL, "no matching cipher found. Their offer: aes128-ctr" },
	{ PROPOSAL_CIPHER_C2S, ",,aes128-ctr,", "aes256-ctr,,aes128-ctr", F(cipher_c2s), "aes128-ctr", NULL },
#undef F
};

static void choices(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(agree_cases); i++) {
		const struct agree_case *c = &agree_cases[i];
		struct proposal client, server;
		struct agreement a = { .kex = NULL };
		struct err e = { .code = 0 };
		int r;

		usual_with(&client, c->which, c->client);
		usual_with(&server, c->which, c->server);
		r = proposal_agree(&client, &server, true, &a, &e);
		if (c->chosen != NULL) {
			assert_int_equal(r, 0);
			assert_string_equal(*(char **)((char *)&a + c->field), c->chosen);
		} else {
			assert_int_equal(r, ERR_PEER);
			assert_string_equal(e.text, c->error);
			assert_null(a.kex);
		}
		agreement_clear(&a);
		proposal_clear(&client);
		proposal_clear(&server);
	}
}

static void the_offer_named_is_the_peers(void **state)
{
	struct proposal client, server;
	struct agreement a = { .kex = NULL };
	struct err e = { .code = 0 };

	(void)state;
	usual_with(&client, PROPOSAL_CIPHER_C2S, "none");
	usual_with(&server, PROPOSAL_CIPHER_C2S, "aes128-ctr");
	assert_int_equal(proposal_agree(&client, &server, false, &a, &e), ERR_PEER);
	assert_string_equal(e.text, "no matching cipher found. Their offer: none");
	proposal_clear(&client);
	proposal_clear(&server);
}

/* None for one direction, and MAC none with a real cipher (SECURITY.md). */
static void none_is_for_both_directions(void **state)
{
	static const struct { const char *cipher_c2s, *cipher_s2c, *mac_c2s, *mac_s2c; bool good; } cases[] = {
		{ "none", "none", "hmac-sha2-256", "hmac-sha2-256", true },
		{ "none", "none", "none", "none", true },
		{ "none", "none", "none", "hmac-sha2-256", false },
		{ "none", "none", "hmac-sha2-256", "none", false },
		{ "none", "aes128-ctr", "hmac-sha2-256", "hmac-sha2-256", false },
		{ "aes128-gcm@openssh.com", "none", "hmac-sha2-256", "hmac-sha2-256", false },
		{ "aes128-ctr", "aes128-ctr", "none", "none", false },
		{ "aes128-ctr", "aes128-ctr", "hmac-sha2-256", "none", false },
		/* With AEAD the lists of MACs do not count. */
		{ "aes128-gcm@openssh.com", "aes128-gcm@openssh.com", "none", "none", true },
		{ "aes128-gcm@openssh.com", "aes128-ctr", "none", "hmac-sha2-256", true },
		{ "aes128-gcm@openssh.com", "aes128-ctr", "none", "none", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		struct proposal p;
		struct agreement a = { .kex = NULL };
		struct err e = { .code = 0 };

		fill(&p, usual);
		proposal_set(&p, PROPOSAL_CIPHER_C2S, cases[i].cipher_c2s);
		proposal_set(&p, PROPOSAL_CIPHER_S2C, cases[i].cipher_s2c);
		proposal_set(&p, PROPOSAL_MAC_C2S, cases[i].mac_c2s);
		proposal_set(&p, PROPOSAL_MAC_S2C, cases[i].mac_s2c);
		assert_int_equal(proposal_agree(&p, &p, true, &a, &e), cases[i].good ? 0 : ERR_PEER);
		if (!cases[i].good)
			assert_non_null(strstr(e.text, "none"));
		agreement_clear(&a);
		proposal_clear(&p);
	}
}

static void guesses(void **state)
{
	static const struct { const char *ck, *sk, *ch, *sh; bool right; } cases[] = {
		{ "a", "a", "k", "k", true },
		{ "a,b", "a,c", "k,l", "k,m", true },
		{ "a,b", "b,a", "k", "k", false },
		{ "b", "a,b", "k", "k", false },
		{ "a", "a", "k,l", "l,k", false },
		{ "ext-info-c,a", "a,ext-info-s", "k", "k", true },
		{ "a,ab", "ab,a", "k", "k", false },
		/* With kexguess2 on both sides only the result counts. */
		{ "b,kexguess2@matt.ucc.asn.au", "a,b,kexguess2@matt.ucc.asn.au", "k,l", "l,k", true },
		{ "b,kexguess2@matt.ucc.asn.au", "a,b", "k", "k", false },
		{ "c,b,kexguess2@matt.ucc.asn.au", "a,b,kexguess2@matt.ucc.asn.au", "k", "k", false },
		{ "b,kexguess2@matt.ucc.asn.au", "a,b,kexguess2@matt.ucc.asn.au", "l,k", "k", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		struct proposal client, server;
		struct agreement a = { .kex = NULL };
		struct err e = { .code = 0 };

		usual_with(&client, PROPOSAL_KEX, cases[i].ck);
		proposal_set(&client, PROPOSAL_HOST_KEY, cases[i].ch);
		usual_with(&server, PROPOSAL_KEX, cases[i].sk);
		proposal_set(&server, PROPOSAL_HOST_KEY, cases[i].sh);
		assert_int_equal(proposal_agree(&client, &server, true, &a, &e), 0);
		assert_int_equal(a.first_guess_right, cases[i].right);
		agreement_clear(&a);
		proposal_clear(&client);
		proposal_clear(&server);
	}
}

static void forty_names_of_a_server_count(void **state)
{
	char list[500] = "";
	struct proposal client, server;
	struct agreement a = { .kex = NULL };
	struct err e = { .code = 0 };
	int i, n = 0;

	(void)state;
	for (i = 1; i <= 41; i++)
		n += snprintf(list + n, sizeof(list) - (size_t)n, "%sn%d", i == 1 ? "" : ",", i);
	usual_with(&server, PROPOSAL_KEX, list);
	usual_with(&client, PROPOSAL_KEX, "n40");
	assert_int_equal(proposal_agree(&client, &server, true, &a, &e), 0);
	proposal_set(&client, PROPOSAL_KEX, "n41");
	assert_int_equal(proposal_agree(&client, &server, true, &a, &e), ERR_PEER);
	agreement_clear(&a);
	proposal_clear(&client);
	proposal_clear(&server);
}

static void each_name(const char *list, bool (*known)(struct view name))
{
	const char *cursor = list, *name;
	size_t n, count = 0;

	while (str_next_name(&cursor, &name, &n)) {
		assert_true(known((struct view){ (const uint8_t *)name, n }));
		count++;
	}
	assert_true(count > 4);
}

static bool known_kex(struct view v) { return kex_find(v) != NULL; }
static bool known_cipher(struct view v) { return cipher_find(v) != NULL && !cipher_find(v)->legacy; }
static bool known_mac(struct view v) { return mac_find(v) != NULL && !mac_find(v)->legacy; }

static void defaults_are_built_in(void **state)
{
	size_t i;

	(void)state;
	each_name(proposal_default_kex(true), known_kex);
	each_name(proposal_default_kex(false), known_kex);
	each_name(proposal_default_ciphers(), known_cipher);
	each_name(proposal_default_macs(), known_mac);
	assert_false(str_names_has(proposal_default_macs(), "none", 4));
	for (i = 0; proposal_kex_at(i) != NULL; i++)
		assert_non_null(kex_find((struct view){ (const uint8_t *)proposal_kex_at(i), strlen(proposal_kex_at(i)) }));
	assert_null(proposal_kex_at(i + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_and_read),
		cmocka_unit_test(strange_bytes_are_refused),
		cmocka_unit_test(choices),
		cmocka_unit_test(the_offer_named_is_the_peers),
		cmocka_unit_test(none_is_for_both_directions),
		cmocka_unit_test(guesses),
		cmocka_unit_test(forty_names_of_a_server_count),
		cmocka_unit_test(defaults_are_built_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
