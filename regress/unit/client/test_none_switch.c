/* The decision to drop encryption: every combination, and the lists that ask for it. */
#include "client/none_switch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static enum none_answer ask(const char *set, const char **reason)
{
	struct none_question q = { .built = true };

	for (const char *p = set; *p; p++)
		switch (*p) {
		case 's': q.none_switch = true; break;
		case 'f': q.switch_from_file = true; break;
		case 'a': q.from_file_allowed = true; break;
		case 'e': q.enabled = q.enabled_set = true; break;
		case 'n': q.enabled_set = true; break;
		case 'm': q.mac = true; break;
		case 't': q.tty = true; break;
		case '-': q.built = false; break;
		default: fail();
		}
	return none_switch_decide(&q, reason);
}

static void test_decisions(void **state)
{
	static const struct { const char *set; enum none_answer answer; } rows[] = {
		{ "", NONE_NOT_ASKED }, { "e", NONE_NOT_ASKED }, { "em", NONE_NOT_ASKED },
		{ "s", NONE_ASK }, { "se", NONE_ASK }, { "sem", NONE_ASK }, { "sm", NONE_ASK },
		{ "sn", NONE_IMPOSSIBLE },
		{ "st", NONE_KEEP_ENCRYPTED }, { "set", NONE_KEEP_ENCRYPTED }, { "snt", NONE_IMPOSSIBLE },
		{ "sf", NONE_KEEP_ENCRYPTED }, { "sfe", NONE_KEEP_ENCRYPTED }, { "sfae", NONE_ASK },
		{ "sfa", NONE_IMPOSSIBLE }, { "sfan", NONE_IMPOSSIBLE }, { "s-", NONE_IMPOSSIBLE }, { "-", NONE_NOT_ASKED },
	};
	const char *reason;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (ask(rows[i].set, &reason) != rows[i].answer)
			fail_msg("%s", rows[i].set);
		/* who is refused is told why; who is not asked is told nothing */
		assert_true((reason != NULL) == (rows[i].answer == NONE_KEEP_ENCRYPTED || rows[i].answer == NONE_IMPOSSIBLE));
	}
	ask("sfe", &reason);
	assert_non_null(strstr(reason, "NoneSwitchFromFile yes"));
}

static void test_lists(void **state)
{
	struct proposal p = { 0 }, q = { 0 };

	proposal_set(&p, PROPOSAL_KEX, "ecdh-sha2-nistp256");
	proposal_set(&p, PROPOSAL_HOST_KEY, "rsa-sha2-512,ssh-ed25519");
	proposal_set(&p, PROPOSAL_CIPHER_C2S, "aes128-ctr,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com");
	proposal_set(&p, PROPOSAL_CIPHER_S2C, "aes128-ctr");
	proposal_set(&p, PROPOSAL_MAC_C2S, "hmac-sha2-256");
	proposal_set(&p, PROPOSAL_MAC_S2C, "umac-64@openssh.com");
	for (int i = PROPOSAL_COMPRESS_C2S; i < PROPOSAL_COUNT; i++)
		proposal_set(&p, (enum proposal_list)i, "");
	none_switch_proposal(&p, "ssh-ed25519", false, &q);
	assert_string_equal(q.list[PROPOSAL_KEX], "ecdh-sha2-nistp256");
	assert_string_equal(q.list[PROPOSAL_HOST_KEY], "ssh-ed25519");
	assert_string_equal(q.list[PROPOSAL_CIPHER_C2S], "none,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com");
	assert_string_equal(q.list[PROPOSAL_CIPHER_S2C], "none");
	assert_string_equal(q.list[PROPOSAL_MAC_C2S], "hmac-sha2-256");
	proposal_clear(&q);
	none_switch_proposal(&p, "ssh-ed25519", true, &q);
	assert_string_equal(q.list[PROPOSAL_MAC_C2S], "none,hmac-sha2-256");
	assert_string_equal(q.list[PROPOSAL_MAC_S2C], "none,umac-64@openssh.com");
	proposal_clear(&q);
	proposal_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_decisions), cmocka_unit_test(test_lists) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
