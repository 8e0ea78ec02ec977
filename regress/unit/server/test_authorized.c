/* authorized_keys with real files: where they are, who may change them, what their options say; several keys; revoked ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "server/authorized.h"

static char folder[64], *path;
static struct key *key, *other;
static struct server_options options;
static struct account account;
static char log_text[16384];

static void sink(void *ctx, enum log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	strncat(log_text, line, sizeof(log_text) - strlen(log_text) - 2);
	strcat(log_text, "\n");
}

static int setup(void **state)
{
	struct passwd *pw = getpwuid(geteuid());

	(void)state;
	strcpy(folder, "/tmp/ws-authorized-XXXXXX");
	assert_non_null(mkdtemp(folder));
	path = str_printf("%s/keys", folder);
	key = key_generate(KEY_ECDSA, 256, NULL);
	other = key_generate(KEY_ED25519, 0, NULL);
	account_lookup(pw->pw_name, &account);
	assert_true(account.exists);
	free(account.home);
	account.home = mem_strdup(folder);
	str_list_add(&options.authorized_keys_file, "keys");
	options.fingerprint_hash = CONF_HASH_SHA256;
	log_init("test", LOG_LEVEL_VERBOSE);
	log_to_sink(sink, NULL);
	return 0;
}

static int teardown(void **state)
{
	char *link = str_printf("%s/keys2", folder);

	(void)state;
	(void)unlink(path);
	(void)unlink(link);
	(void)rmdir(folder);
	free(link);
	free(path);
	key_free(key);
	key_free(other);
	account_clear(&account);
	str_list_clear(&options.authorized_keys_file);
	return 0;
}

/* options and a key in the middle of a file */
static void write_line(const char *field, const struct key *k)
{
	char *line = key_public_line(k);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "# keys\n\nnonsense\n%s%s%s comment\nssh-ed25519 AAAA\n", field, *field != '\0' ? " " : "", line);
	fclose(f);
	free(line);
	chmod(path, 0600);
	log_text[0] = '\0';
}

static int look(struct key_options *out)
{
	struct authorized_query q = { .options = &options, .account = &account, .key = key, .host = "client.example",
		.ip = "192.0.2.7", .now = 1700000000 };

	return authorized_find(&q, out, NULL);
}

static void test_found(void **state)
{
	struct key_options o;

	(void)state;
	write_line("", key);
	assert_int_equal(look(&o), 0);
	assert_true(o.pty && o.port_forwarding && o.command == NULL);
	assert_non_null(strstr(log_text, "Accepted key ECDSA SHA256:"));
	assert_non_null(strstr(log_text, "/keys:4"));
	key_options_clear(&o);
	write_line("", other);
	assert_int_equal(look(&o), ERR_NONE_FOUND);
	unlink(path);
	assert_int_equal(look(&o), ERR_NONE_FOUND);
}

static void test_options(void **state)
{
	static const struct { const char *field; int rc; } cases[] = {
		{ "from=\"192.0.2.0/24\"", 0 }, { "from=\"*.example\"", 0 }, { "from=\"198.51.100.*\"", ERR_DENIED },
		{ "from=\"*,!192.0.2.7\"", ERR_DENIED }, { "expiry-time=\"20200101\"", ERR_DENIED },
		{ "expiry-time=\"20990101\"", 0 }, { "cert-authority", ERR_NONE_FOUND }, { "unheard-of", ERR_NONE_FOUND },
		{ "command=\"unclosed", ERR_NONE_FOUND }, { "no-pty,command=\"ls -l\"", 0 },
	};
	struct key_options o;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		int rc;

		write_line(cases[i].field, key);
		rc = look(&o);
		if (rc != cases[i].rc)
			fail_msg("%s: %d", cases[i].field, rc);
		if (rc == 0)
			key_options_clear(&o);
		if (rc == ERR_DENIED)
			assert_non_null(strstr(log_text, "Refused by key options at "));
	}
	write_line("no-pty,command=\"ls -l\",environment=\"A=b\"", key);
	assert_int_equal(look(&o), 0);
	assert_false(o.pty);
	assert_string_equal(o.command, "ls -l");
	assert_int_equal(o.environment.count, 1);
	key_options_clear(&o);
}

static void test_strict_modes(void **state)
{
	struct key_options o;

	(void)state;
	options.strict_modes = true;
	write_line("", key);
	assert_int_equal(look(&o), 0);
	key_options_clear(&o);
	chmod(path, 0620);
	log_text[0] = '\0';
	assert_int_equal(look(&o), ERR_NONE_FOUND);
	assert_non_null(strstr(log_text, "Authentication refused: bad ownership or modes for file "));
	chmod(path, 0600);
	chmod(folder, 0777);
	assert_int_equal(look(&o), ERR_NONE_FOUND);
	assert_non_null(strstr(log_text, "bad ownership or modes for directory "));
	chmod(folder, 0755);
	options.strict_modes = false;
}

static void test_not_regular(void **state)
{
	struct key_options o;

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(look(&o), ERR_NONE_FOUND);      /* and does not wait for a writer */
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(look(&o), ERR_NONE_FOUND);
	rmdir(path);
}

static void set_files(const char *a, const char *b)
{
	str_list_clear(&options.authorized_keys_file);
	if (a != NULL)
		str_list_add(&options.authorized_keys_file, a);
	if (b != NULL)
		str_list_add(&options.authorized_keys_file, b);
}

static void test_names(void **state)
{
	struct key_options o;
	char *absolute = str_printf("%s/ke?s", folder);

	(void)state;
	write_line("", key);
	set_files("%h/keys", NULL);
	assert_int_equal(look(&o), 0);
	key_options_clear(&o);
	set_files("missing", "~/keys");
	assert_int_equal(look(&o), 0);
	key_options_clear(&o);
	set_files(absolute, NULL);
	assert_int_equal(look(&o), 0);
	key_options_clear(&o);
	set_files("%u-%U", NULL);
	assert_int_equal(look(&o), ERR_NONE_FOUND);
	set_files("%z", NULL);
	assert_int_equal(look(&o), ERR_NONE_FOUND);
	set_files(NULL, NULL);
	assert_int_equal(look(&o), ERR_NONE_FOUND);
	set_files("keys", NULL);
	free(absolute);
}

static void test_revoked(void **state)
{
	struct key_options o;
	char *list = str_printf("%s/keys2", folder), *line = key_public_line(key);
	FILE *f;

	(void)state;
	write_line("", key);
	str_list_add(&options.revoked_keys, list);
	assert_int_equal(look(&o), ERR_DENIED);          /* the list cannot be read: nobody gets in */
	f = fopen(list, "w");
	fprintf(f, "# nobody\n");
	fclose(f);
	assert_int_equal(look(&o), 0);
	key_options_clear(&o);
	f = fopen(list, "a");
	fprintf(f, "%s\n", line);
	fclose(f);
	log_text[0] = '\0';
	assert_int_equal(look(&o), ERR_DENIED);
	assert_non_null(strstr(log_text, "Authentication key ECDSA SHA256:"));
	assert_non_null(strstr(log_text, " revoked by file "));
	f = fopen(list, "w");
	fprintf(f, "# CR LF\r\n%s\r\n", line);
	fclose(f);
	assert_int_equal(look(&o), ERR_DENIED);
	f = fopen(list, "w");
	fprintf(f, "SSHKRL\n");
	fclose(f);
	assert_int_equal(look(&o), ERR_DENIED);
	str_list_clear(&options.revoked_keys);
	free(list);
	free(line);
}

/* Whoever is on such a list must not get in because it is not understood: then nobody does. */
static void test_revoked_spoilt(void **state)
{
	static const struct { const char *text; size_t n; const char *at; } cases[] = {
		{ "# one\n\0X\n", 9, "keys2:2: it holds a zero byte: all keys are refused" },
		{ "# one\n#\0\nX\n", 11, "keys2:2: it holds a zero byte: all keys are refused" },
		{ "\nssh-ed25519 AAAA\n", 18, "keys2:2: " }, { "SHA256:abc\n", 11, "keys2:1: " },
		{ "ssh-ed25519-cert-v01@openssh.com AAAA\n", 38, "keys2:1: " },
	};
	struct key_options o;
	char *list = str_printf("%s/keys2", folder);

	(void)state;
	write_line("", key);
	str_list_add(&options.revoked_keys, list);
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		FILE *f = fopen(list, "w");

		assert_int_equal(fwrite(cases[i].text, 1, cases[i].n, f), cases[i].n);
		fclose(f);
		log_text[0] = '\0';
		assert_int_equal(look(&o), ERR_DENIED);
		if (strstr(log_text, cases[i].at) == NULL)
			fail_msg("case %zu: %s", i, log_text);
	}
	str_list_clear(&options.revoked_keys);
	free(list);
}

static void test_zero_bytes(void **state)
{
	struct key_options o;
	char *line = key_public_line(key);
	FILE *f = fopen(path, "w");

	(void)state;
	/* The key with a zero byte behind it, and before it; then as it ought to be. */
	fprintf(f, "%s %c\nno-pty%c %s\nno-pty %s\n", line, '\0', '\0', line, line);
	fclose(f);
	log_text[0] = '\0';
	assert_int_equal(look(&o), 0);
	assert_false(o.pty);
	assert_non_null(strstr(log_text, "/keys:1: line is not used: it holds a zero byte"));
	assert_non_null(strstr(log_text, "/keys:2: line is not used: it holds a zero byte"));
	assert_non_null(strstr(log_text, "/keys:3"));
	key_options_clear(&o);
	free(line);
}

static void test_restrict(void **state)
{
	struct key_options a, b;

	(void)state;
	assert_int_equal(key_options_parse("command=\"one\",permitopen=\"a:1\",permitopen=\"b:2\"", &a, NULL), 0);
	assert_int_equal(key_options_parse("no-pty,permitopen=\"b:2\",expiry-time=\"20990101\"", &b, NULL), 0);
	assert_int_equal(key_options_restrict(&a, &b, NULL), 0);
	assert_false(a.pty);
	assert_string_equal(a.command, "one");
	assert_int_equal(a.permit_open.count, 1);
	assert_string_equal(a.permit_open.v[0], "b:2");
	assert_true(a.valid_before > 0);
	key_options_clear(&b);
	assert_int_equal(key_options_parse("permitopen=\"c:3\"", &b, NULL), 0);
	assert_int_equal(key_options_restrict(&a, &b, NULL), 0);
	assert_int_equal(a.permit_open.count, 1);        /* nothing is allowed by both: not everything */
	assert_string_not_equal(a.permit_open.v[0], "b:2");
	key_options_clear(&b);
	assert_int_equal(key_options_parse("command=\"two\"", &b, NULL), 0);
	assert_int_equal(key_options_restrict(&a, &b, NULL), ERR_DENIED);
	key_options_clear(&a);
	key_options_clear(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found), cmocka_unit_test(test_options), cmocka_unit_test(test_strict_modes),
		cmocka_unit_test(test_not_regular), cmocka_unit_test(test_names), cmocka_unit_test(test_revoked),
		cmocka_unit_test(test_revoked_spoilt), cmocka_unit_test(test_zero_bytes),
		cmocka_unit_test(test_restrict),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
