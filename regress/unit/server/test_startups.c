/* MaxStartups, PerSourceMaxStartups, rate limit of the log, masked sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <limits.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <cmocka.h>

#include "base/mem.h"
#include "server/peer_source.h"
#include "server/startups.h"

static void test_percent(void **state)
{
	static const struct { struct startups_limits l; unsigned n, percent; } cases[] = {
		{ { 10, 30, 100, UINT_MAX }, 0, 0 }, { { 10, 30, 100, UINT_MAX }, 9, 0 },
		{ { 10, 30, 100, UINT_MAX }, 10, 30 }, { { 10, 30, 100, UINT_MAX }, 55, 65 },
		{ { 10, 30, 100, UINT_MAX }, 99, 99 }, { { 10, 30, 100, UINT_MAX }, 100, 100 },
		{ { 10, 30, 100, UINT_MAX }, 5000, 100 },
		/* a single number */
		{ { 5, 30, 5, UINT_MAX }, 4, 0 }, { { 5, 30, 5, UINT_MAX }, 5, 100 },
		{ { 1, 100, 10, UINT_MAX }, 1, 100 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++)
		assert_int_equal(startups_refuse_percent(&cases[i].l, cases[i].n), cases[i].percent);
}

static void test_admit(void **state)
{
	const struct startups_limits l = { 10, 30, 100, 3 };

	(void)state;
	assert_true(startups_admit(&l, 0, 0, 0));
	assert_true(startups_admit(&l, 9, 2, 0));
	assert_false(startups_admit(&l, 9, 3, 99));
	assert_false(startups_admit(&l, 10, 0, 29));
	assert_true(startups_admit(&l, 10, 0, 30));
	assert_false(startups_admit(&l, 100, 0, 99));
}

static void test_drop_log(void **state)
{
	struct drop_log d = { 0 };
	unsigned n;

	(void)state;
	assert_true(drop_log_ask(&d, 5, &n));
	assert_int_equal(n, 0);
	assert_false(drop_log_ask(&d, 6, &n));
	assert_false(drop_log_ask(&d, 60004, &n));
	assert_true(drop_log_ask(&d, 60005, &n));
	assert_int_equal(n, 2);
	assert_true(drop_log_ask(&d, 200000, &n));
	assert_int_equal(n, 0);
}

static struct source source_of(int family, const char *text, unsigned v4, unsigned v6)
{
	struct sockaddr_storage ss = { 0 };
	struct source s;

	ss.ss_family = (sa_family_t)family;
	if (family == AF_INET)
		assert_int_equal(inet_pton(AF_INET, text, &((struct sockaddr_in *)&ss)->sin_addr), 1);
	else if (family == AF_INET6)
		assert_int_equal(inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&ss)->sin6_addr), 1);
	source_from_sockaddr(&s, (struct sockaddr *)&ss, v4, v6);
	return s;
}

static void test_source(void **state)
{
	static const struct { int family; const char *text; unsigned v4, v6; const char *shown; } cases[] = {
		{ AF_INET, "192.0.2.77", 32, 128, "192.0.2.77/32" }, { AF_INET, "192.0.2.77", 24, 128, "192.0.2.0/24" },
		{ AF_INET, "192.0.2.77", 0, 128, "0.0.0.0/0" }, { AF_INET, "255.255.255.255", 13, 1, "255.248.0.0/13" },
		{ AF_INET6, "2001:db8:1:2:3:4:5:6", 32, 64, "2001:db8:1:2::/64" },
		{ AF_INET6, "2001:db8:ffff::1", 32, 33, "2001:db8:8000::/33" },
		{ AF_INET6, "::ffff:192.0.2.77", 24, 64, "192.0.2.0/24" },
		{ AF_UNIX, "", 24, 64, "UNKNOWN" },
	};
	struct source a, b;
	char text[64];

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		a = source_of(cases[i].family, cases[i].text, cases[i].v4, cases[i].v6);
		source_format(&a, text, sizeof(text));
		assert_string_equal(text, cases[i].shown);
	}
	a = source_of(AF_INET, "192.0.2.1", 24, 64);
	b = source_of(AF_INET, "192.0.2.200", 24, 64);
	assert_true(source_equal(&a, &b));
	assert_int_equal(source_hash(&a, 7), source_hash(&b, 7));
	b = source_of(AF_INET, "192.0.3.1", 24, 64);
	assert_false(source_equal(&a, &b));
	a = source_of(AF_INET, "127.3.4.5", 32, 128);
	b = source_of(AF_INET6, "::1", 32, 128);
	assert_true(source_is_loopback(&a) && source_is_loopback(&b));
	a = source_of(AF_INET6, "::2", 32, 128);
	assert_false(source_is_loopback(&a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percent), cmocka_unit_test(test_admit), cmocka_unit_test(test_drop_log),
		cmocka_unit_test(test_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
