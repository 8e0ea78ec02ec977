/* The environment of a session: what comes from where, and what replaces what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "paths.h"
#include "server/usession_env.h"

static void assert_value(const struct str_list *env, const char *name, const char *want)
{
	const char *got = usession_env_get_value(env, name);

	if (want == NULL) {
		if (got != NULL)
			fail_msg("%s is %s", name, got);
		return;
	}
	if (got == NULL || strcmp(got, want) != 0)
		fail_msg("%s is %s instead of %s", name, got != NULL ? got : "unset", want);
}

static void test_set(void **state)
{
	struct str_list env = { 0 };

	(void)state;
	usession_env_set(&env, "A", "1");
	usession_env_set(&env, "AB", "2");
	usession_env_set(&env, "A", "3");
	assert_int_equal(env.count, 2);
	assert_value(&env, "A", "3");
	assert_value(&env, "AB", "2");
	assert_value(&env, "B", NULL);
	assert_null(env.v[2]);           /* as execve wants it */
	str_list_clear(&env);
}

static void test_accepted(void **state)
{
	struct str_list p = { 0 };

	(void)state;
	assert_false(usession_env_accepted(&p, "LANG"));
	str_list_add(&p, "LANG");
	str_list_add(&p, "LC_*");
	assert_true(usession_env_accepted(&p, "LANG"));
	assert_true(usession_env_accepted(&p, "LC_ALL"));
	assert_false(usession_env_accepted(&p, "LANGUAGE"));
	assert_false(usession_env_accepted(&p, ""));
	assert_false(usession_env_accepted(&p, "LC_A=B"));
	str_list_clear(&p);
}

static void test_order(void **state)
{
	struct str_list client = { 0 }, key = { 0 }, pam = { 0 }, set = { 0 }, env = { 0 };
	struct server_permit_env all = { .yes = true };
	char *file = mem_strdup("# mine\nFROM_FILE=file\n  KEYVAR=file\nbroken\n=x\nPAMVAR=file\nUSER=mallory\n");
	struct usession_env in = {
		.client = &client, .user = "ada", .home = "/home/ada", .shell = "/bin/sh", .use_pam = false, .term = "vt100",
		.key_environment = &key, .permitted = &all, .file_text = file, .pam = &pam, .set_env = &set,
		.remote_ip = "192.0.2.1", .local_ip = "192.0.2.2", .remote_port = 5000, .local_port = 22,
		.tty = "/dev/pts/3", .original_command = "ls",
	};

	(void)state;
	str_list_add(&client, "LANG=C");
	str_list_add(&client, "HOME=/tmp");
	str_list_add(&client, "SSH_CLIENT=lie");
	str_list_add(&client, "TERM=lie");
	str_list_add(&key, "KEYVAR=key");
	str_list_add(&key, "PAMVAR=key");
	str_list_add(&pam, "PAMVAR=pam");
	str_list_add(&pam, "SSH_CONNECTION=pam");
	str_list_add(&pam, "SSH_AUTH_INFO_0=pam");
	str_list_add(&pam, "SETVAR=pam");
	str_list_add(&set, "SETVAR=set");
	str_list_add(&set, "SSH_TTY=lie");
	usession_env_build(&in, &env);
	assert_value(&env, "LANG", "C");
	assert_value(&env, "HOME", "/home/ada");
	assert_value(&env, "USER", "mallory");           /* PermitUserEnvironment yes means all of it */
	assert_value(&env, "LOGNAME", "ada");
	assert_value(&env, "SHELL", "/bin/sh");
	assert_value(&env, "MAIL", "/var/mail/ada");
	assert_value(&env, "TERM", "vt100");
	assert_value(&env, "FROM_FILE", "file");
	assert_value(&env, "KEYVAR", "file");
	assert_value(&env, "PAMVAR", "pam");
	assert_value(&env, "SSH_AUTH_INFO_0", NULL);
	assert_value(&env, "SETVAR", "set");
	assert_value(&env, "SSH_CLIENT", "192.0.2.1 5000 22");
	assert_value(&env, "SSH_CONNECTION", "192.0.2.1 5000 192.0.2.2 22");
	assert_value(&env, "SSH_TTY", "/dev/pts/3");
	assert_value(&env, "SSH_ORIGINAL_COMMAND", "ls");
	assert_int_equal(strncmp(usession_env_get_value(&env, "PATH"), PATH_BINDIR ":", strlen(PATH_BINDIR) + 1), 0);
	str_list_clear(&env);

	/* the user's own variables are not wanted */
	all.yes = false;
	in.file_text = NULL;
	in.use_pam = true;
	usession_env_build(&in, &env);
	assert_value(&env, "KEYVAR", NULL);
	assert_value(&env, "MAIL", NULL);
	str_list_clear(&env);
	free(file);
	str_list_clear(&client);
	str_list_clear(&key);
	str_list_clear(&pam);
	str_list_clear(&set);
}

static void test_patterns(void **state)
{
	struct server_permit_env some = { .yes = true, .patterns = (char *)"LANG,MY_*,!MY_SECRET" };
	struct str_list env = { 0 };
	char text[] = "LANG=x\nMY_A=1\nMY_SECRET=2\nLD_PRELOAD=/evil.so\n";

	(void)state;
	usession_env_read_file(&env, text, &some);
	assert_value(&env, "LANG", "x");
	assert_value(&env, "MY_A", "1");
	assert_value(&env, "MY_SECRET", NULL);
	assert_value(&env, "LD_PRELOAD", NULL);
	str_list_clear(&env);
}

static void test_many_lines(void **state)
{
	struct server_permit_env all = { .yes = true };
	struct str_list env = { 0 };
	char *text = mem_zalloc(4 * 1200 + 16);

	(void)state;
	for (int i = 0; i < 1200; i++)
		strcat(text, "A=1\n");
	strcat(text, "LATE=1\n");
	usession_env_read_file(&env, text, &all);
	assert_value(&env, "A", "1");
	assert_value(&env, "LATE", NULL);
	str_list_clear(&env);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set), cmocka_unit_test(test_accepted), cmocka_unit_test(test_order),
		cmocka_unit_test(test_patterns), cmocka_unit_test(test_many_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
