/* regress/unit/client/test_guess.c: which first packet is guessed, and what is learnt of a server. */
#include "client/guess.h"

#include <string.h>
#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define GUESS2 "kexguess2@matt.ucc.asn.au"

static void lists(struct proposal *p, const char *kex, const char *host_keys)
{
	static const char *const rest[] = { "aes128-gcm@openssh.com", "aes128-gcm@openssh.com", "", "", "none", "none", "", "" };

	*p = (struct proposal){ .guess_follows = false };
	proposal_set(p, PROPOSAL_KEX, kex);
	proposal_set(p, PROPOSAL_HOST_KEY, host_keys);
	for (size_t i = 0; i < MEM_COUNT(rest); i++)
		proposal_set(p, (enum proposal_list)(PROPOSAL_CIPHER_C2S + i), rest[i]);
}

static struct peer_record record(const char *kex, const char *host_key, bool guess)
{
	struct peer_record r = { .guess = guess };

	str_copy(r.kex, sizeof(r.kex), kex);
	str_copy(r.host_key, sizeof(r.host_key), host_key);
	return r;
}

static void what_is_guessed(void **state)
{
	static const struct {
		const char *kex, *host_key;
		bool guess, known;
		const char *kexes, *host_keys;   /* expected; NULL: no guess */
	} cases[] = {
		{ "a", "k", true, true, "a,b,c", "k,l,m" },
		{ "b", "m", true, true, "b,a,c", "m,k,l" },
		{ "c", "k", true, false, "c,a,b", "k,l,m" },
		{ "a", "l", true, false, NULL, NULL },   /* another type is what the user knows */
		{ "a", "k", false, true, NULL, NULL },
		{ "d", "k", true, true, NULL, NULL },    /* not permitted any more */
		{ "a", "n", true, true, NULL, NULL },
		{ "", "k", true, true, NULL, NULL },
		{ "a", "", true, true, NULL, NULL },
		{ "a,b", "k", true, true, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct peer_record r = record(cases[i].kex, cases[i].host_key, cases[i].guess);
		struct proposal p;

		lists(&p, "a,b,c", "k,l,m");
		assert_int_equal(guess_apply(&r, cases[i].known, &p), cases[i].kexes != NULL);
		assert_int_equal(p.guess_follows, cases[i].kexes != NULL);
		assert_string_equal(p.list[PROPOSAL_KEX], cases[i].kexes != NULL ? cases[i].kexes : "a,b,c");
		assert_string_equal(p.list[PROPOSAL_HOST_KEY], cases[i].kexes != NULL ? cases[i].host_keys : "k,l,m");
		assert_string_equal(p.list[PROPOSAL_CIPHER_C2S], "aes128-gcm@openssh.com");
		proposal_clear(&p);
	}
}

static void what_is_learnt(void **state)
{
	static const struct { const char *kexes, *host_keys, *kex, *host_key; bool guess; } cases[] = {
		{ "a,b," GUESS2, "k", "a", "k", true },
		{ GUESS2 ",b,a", "m,l", "a", "l", true },
		{ "a,b", "k,l", "a", "k", true },        /* without kexguess2: the first of both are the same */
		{ "b,a", "k", "a", "k", false },
		{ "a", "l,k", "a", "k", false },
		{ "ext-info-s,a", "k", "a", "k", false },
		{ "x", "k", "", "", false },
		{ "a", "x", "", "", false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct peer_record r = record("old", "older", true);
		struct proposal ours, theirs;

		lists(&ours, "a,b,c", "k,l,m");
		lists(&theirs, cases[i].kexes, cases[i].host_keys);
		guess_learn(&ours, &theirs, &r);
		assert_string_equal(r.kex, cases[i].kex);
		assert_string_equal(r.host_key, cases[i].host_key);
		assert_int_equal(r.guess, cases[i].guess);
		proposal_clear(&ours);
		proposal_clear(&theirs);
	}
}

/* A server that learns a better method is not held to the old one: what is remembered is what our own order leads to. */
static void a_better_method_is_taken_up(void **state)
{
	struct peer_record r = { .guess = false };
	struct proposal ours, sent, theirs;

	(void)state;
	lists(&ours, "new,old", "k");
	lists(&theirs, "old," GUESS2, "k");
	guess_learn(&ours, &theirs, &r);
	assert_string_equal(r.kex, "old");
	lists(&sent, "new,old", "k");
	assert_true(guess_apply(&r, true, &sent));
	assert_string_equal(sent.list[PROPOSAL_KEX], "old,new");
	proposal_clear(&theirs);
	lists(&theirs, "old,new," GUESS2, "k");
	guess_learn(&ours, &theirs, &r);
	assert_string_equal(r.kex, "new");
	proposal_clear(&ours);
	proposal_clear(&sent);
	proposal_clear(&theirs);
}

/* Names that do not fit are not cut. */
static void long_names(void **state)
{
	static const char name[] = "a123456789012345678901234567890123456789012345678901234567890123456789";
	struct peer_record r = { .guess = true };
	struct proposal ours, theirs;

	(void)state;
	lists(&ours, name, "k");
	lists(&theirs, name, "k");
	guess_learn(&ours, &theirs, &r);
	assert_string_equal(r.kex, "");
	assert_string_equal(r.host_key, "");
	assert_false(r.guess);
	proposal_clear(&ours);
	proposal_clear(&theirs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_guessed), cmocka_unit_test(what_is_learnt),
		cmocka_unit_test(a_better_method_is_taken_up), cmocka_unit_test(long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
