/* regress/unit/conf/test_conf.c: the engine by small tables of its own: first value wins, blocks, Include, errors. */
#include "conf/conf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "conf/types.h"
#include "../log_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct small {
	struct conf_marks marks;
	unsigned number, last, quirk, later;
	char *text, *raw, *ignore, *risky, *stop;
	struct str_list items;
	bool flag;
};

/* "Block yes|no": a block that applies or does not. */
static int block_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	(void)field;
	if (word == NULL)
		return ERR_USAGE;
	conf_line_block(l, strcmp(word, "yes") == 0);
	return 0;
}

static int stop_parse(struct conf_line *l, void *field)
{
	(void)field;
	(void)conf_line_next(l);
	return l->active ? err_set(l->err, ERR_DENIED, "%s line %u: stop here", l->file, l->number) : 0;
}

static const struct conf_type block = { 0, block_parse, NULL, NULL, NULL };
static const struct conf_type stop = { sizeof(char *), stop_parse, NULL, NULL, NULL };

#define AT(f) offsetof(struct small, f)
static const struct conf_row rows[] = {
	{ .name = "Block", .type = &block, .flags = CONF_BLOCK | CONF_FILE_ONLY },
	{ .name = "Include", .flags = CONF_INCLUDE | CONF_FILE_ONLY },
	{ .name = "Stop", .type = &stop, .offset = AT(stop), .flags = CONF_NO_DUMP },
	{ .name = "Number", .aliases = "digits,count", .offset = AT(number), .type = &conf_int, .def = "7", .flags = CONF_IN_MATCH },
	{ .name = "LastOne", .offset = AT(last), .type = &conf_int, .flags = CONF_LAST_WINS },
	{ .name = "Quirk", .offset = AT(quirk), .type = &conf_int, .flags = CONF_ANY_BLOCK },
	{ .name = "Later", .offset = AT(later), .type = &conf_seconds_none, .def = "0" },
	{ .name = "Text", .offset = AT(text), .type = &conf_string, .flags = CONF_IN_MATCH },
	{ .name = "Raw", .offset = AT(raw), .type = &conf_raw, .flags = CONF_RAW },
	{ .name = "Item", .offset = AT(items), .type = &conf_items, .flags = CONF_COLLECTS | CONF_IN_MATCH, .def = "one" },
	{ .name = "Flag", .offset = AT(flag), .type = &conf_bool, .shown = "FLAG" },
	{ .name = "IgnoreUnknown", .offset = AT(ignore), .type = &conf_string },
	{ .name = "Risky", .offset = AT(risky), .type = &conf_string, .flags = CONF_UNBUILT_REFUSE | CONF_IN_MATCH, .harmless = "none,no" },
	{ .name = "Missing", .flags = CONF_UNBUILT, .harmless = "no" },
	{ .name = "NoEffect", .flags = CONF_NO_EFFECT },
	{ .name = "Old", .flags = CONF_DEPRECATED },
	{ .name = "VeryOld", .flags = CONF_SILENT },
	{ .name = "Elsewhere", .flags = CONF_UNSUPPORTED },
};

static const struct conf_table client = {
	.rows = rows, .count = MEM_COUNT(rows), .options_size = sizeof(struct small), .true_false = true,
	.ignore_unknown = AT(ignore), .lower_case = true, .deprecated_level = LOG_LEVEL_DEBUG1, .unsupported_level = LOG_LEVEL_ERROR
};
static const struct conf_table server = {
	.rows = rows, .count = MEM_COUNT(rows), .options_size = sizeof(struct small), .bad_value_is_fatal = true,
	.restricted_blocks = true, .deprecated_level = LOG_LEVEL_INFO, .unsupported_level = LOG_LEVEL_INFO
};

static char dir[] = "/tmp/ws-test-conf.XXXXXX";

/* A file of that name and text in the private folder; returns its path. */
static const char *file(const char *name, const char *text)
{
	static char path[4][512];
	static unsigned turn;
	char *p = path[turn++ % 4];
	FILE *f;

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	f = fopen(p, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return p;
}

static int read_text(const struct conf_table *t, struct small *o, const char *text, struct err *e)
{
	struct conf_source s = { 0 };
	struct conf_reader r;
	int code;

	conf_reader_init(&r, t, o, &s);
	r.include_dir = dir;
	err_clear(e);
	code = conf_read_file(&r, file("config", text), CONF_USER_FILE, e);
	conf_source_clear(&s);
	return code;
}

static void test_values(void **state)
{
	struct small o = { .number = 0 };
	struct err e;

	log_capture_start(LOG_LEVEL_INFO);
	assert_int_equal(read_text(&client, &o, "number 1\nNUMBER 2\nDigits 3\nLastOne 1\nLastOne 2\nRaw  a \"b # c\" \nItem a\n"
		"item b\nItem a\nText \"x y\"\nFlag TRUE\n", &e), 0);
	assert_int_equal(o.number, 1);
	assert_int_equal(o.last, 2);
	assert_string_equal(o.raw, "a \"b # c\"");
	assert_int_equal(o.items.count, 3);
	assert_string_equal(o.text, "x y");
	assert_true(o.flag);
	assert_int_equal(conf_origin_at(&client, &o, AT(number)), CONF_USER_FILE);
	assert_int_equal(conf_origin_at(&client, &o, AT(later)), CONF_UNSET);
	assert_string_equal(log_capture_text(), "");
	conf_unset_at(&client, &o, AT(text));
	assert_null(o.text);
	assert_int_equal(conf_origin_at(&client, &o, AT(text)), CONF_UNSET);
	conf_options_clear(&client, &o);
}

static void test_defaults(void **state)
{
	struct small o = { .number = 0 }, copy = { .number = 0 }, over = { .number = 0 };
	struct err e = { 0 };

	assert_int_equal(read_text(&client, &o, "Later none\nLater 1m\nText a\n", &e), 0);
	assert_int_equal(conf_fill_defaults(&client, &o, NULL, &e), 0);
	assert_int_equal(o.number, 7);
	assert_int_equal(o.later, 60);
	assert_int_equal(o.items.count, 1);
	assert_int_equal(conf_origin_at(&client, &o, AT(items)), CONF_DEFAULT);
	/* A copy shares nothing; what is set replaces, what is not stays. */
	conf_options_copy(&client, &copy, &o);
	assert_string_equal(copy.text, "a");
	assert_ptr_not_equal(copy.text, o.text);
	assert_int_equal(read_text(&client, &over, "Item x\nNumber 3\n", &e), 0);
	conf_options_merge(&client, &copy, &over);
	assert_int_equal(copy.number, 3);
	assert_int_equal(copy.items.count, 1);
	assert_string_equal(copy.items.v[0], "x");
	assert_string_equal(copy.text, "a");
	conf_options_clear(&client, &o);
	conf_options_clear(&client, &copy);
	conf_options_clear(&client, &over);
}

static void test_blocks(void **state)
{
	struct small o = { .number = 0 };
	struct err e;

	assert_int_equal(read_text(&client, &o, "Block no\nNumber 1\nQuirk 5\nItem a\nBlock yes\nNumber 2\nQuirk 6\nItem b\n", &e), 0);
	assert_int_equal(o.number, 2);
	assert_int_equal(o.quirk, 5);
	assert_int_equal(o.items.count, 1);
	conf_options_clear(&client, &o);
}

static void test_include(void **state)
{
	struct small o = { .number = 0 };
	struct err e;

	file("b1.inc", "Item b1\nBlock yes\nItem b1y\nBlock no\nItem b1n\n");
	file("b2.inc", "Item b2\n");
	/* Glob order; the state of a block inside does not leak out; nothing applies below a block that does not match. */
	assert_int_equal(read_text(&client, &o, "Item a\nInclude b*.inc nothing-*.inc\nItem c\nBlock no\nInclude b*.inc\nBlock yes\n"
		"Include b2.inc\n", &e), 0);
	assert_int_equal(o.items.count, 6);
	assert_string_equal(o.items.v[1], "b1");
	assert_string_equal(o.items.v[2], "b1y");
	assert_string_equal(o.items.v[3], "b2");
	assert_string_equal(o.items.v[4], "c");
	assert_string_equal(o.items.v[5], "b2");
	conf_options_clear(&client, &o);

	/* A file that includes itself ends at the limit. */
	log_capture_start(LOG_LEVEL_INFO);
	file("loop.inc", "Include loop.inc\n");
	assert_int_equal(read_text(&client, &o, "Include loop.inc\n", &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "deeper than 16"));
	/* Bad lines of an included file end the reading at its end. */
	file("bad.inc", "Nonsense 1\nNumber x\n");
	assert_int_equal(read_text(&client, &o, "Include bad.inc\nNonsense 2\n", &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "/bad.inc: terminating, 2 bad configuration options"));
	assert_false(log_capture_has("/config"));
	/* A folder is no file to read, and no error. */
	assert_int_equal(read_text(&client, &o, "Include /\n", &e), 0);
	conf_options_clear(&client, &o);
}

static void test_errors(void **state)
{
	static const struct { const char *line, *want; } t[] = {
		{ "Nonsense 1", ": line 1: Bad configuration option: nonsense\n" },
		{ "Number", " line 1: no argument after keyword \"Number\"\n" },
		{ "Number #x", " line 1: no argument after keyword \"Number\"\n" },
		{ "Number 1 2", " line 1: Number has more arguments than it takes\n" },
		{ "Number \"1", " line 1: invalid quotes\n" },
		{ "Raw a \"1", " line 1: invalid quotes\n" },
		{ "Number x", " line 1: Number is a number from 0 to 2147483647, not \"x\"\n" },
		{ "Flag maybe", " line 1: Flag is yes or no, not \"maybe\"\n" },
		{ "Text \"\"", " line 1: Text needs an argument\n" },
		{ "Elsewhere 1", " line 1: Unsupported option Elsewhere\n" },
	};
	struct small o = { .number = 0 };
	struct err e;
	size_t i;

	for (i = 0; i < MEM_COUNT(t); i++) {
		char *line = str_printf("%s\n", t[i].line), *want = str_printf("%s/config%s", dir, t[i].want);
		bool fine = strstr(t[i].line, "Elsewhere") != NULL;

		log_capture_start(LOG_LEVEL_INFO);
		assert_int_equal(read_text(&client, &o, line, &e), fine ? 0 : ERR_USAGE);
		assert_string_equal(log_capture_text(), want);
		if (!fine)
			assert_non_null(strstr(e.text, "/config: terminating, 1 bad configuration options"));
		free(line);
		free(want);
	}
	/* All of them are told. */
	log_capture_start(LOG_LEVEL_INFO);
	assert_int_equal(read_text(&client, &o, "A 1\nNumber 1\nB 2\n\nC 3\n", &e), ERR_USAGE);
	assert_true(log_capture_has("line 5: Bad configuration option: c"));
	assert_non_null(strstr(e.text, "terminating, 3 bad"));
	assert_int_equal(read_text(&client, &o, "Stop 1\nA 1\n", &e), ERR_DENIED);
	assert_non_null(strstr(e.text, "line 1: stop here"));
	assert_int_equal(read_text(&client, &o, "Block no\nStop 1\n", &e), 0);
	conf_options_clear(&client, &o);
}

static void test_server_rules(void **state)
{
	struct small o = { .number = 0 };
	struct err e;

	log_capture_start(LOG_LEVEL_INFO);
	/* A bad value ends the reading; unknown keywords are counted. */
	assert_int_equal(read_text(&server, &o, "Number x\nNonsense 1\n", &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "line 1: Number is a number"));
	assert_string_equal(log_capture_text(), "");
	assert_int_equal(read_text(&server, &o, "Nonsense 1\nNumber 1 2\n", &e), ERR_USAGE);
	assert_true(log_capture_has("line 1: Bad configuration option: Nonsense\n"));
	assert_non_null(strstr(e.text, "terminating, 2 bad"));
	/* true and false are no booleans there. */
	assert_int_equal(read_text(&server, &o, "Flag true\n", &e), ERR_USAGE);
	assert_int_equal(read_text(&server, &o, "Block no\nFlag yes\n", &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "line 2: Directive 'Flag' is not allowed within a Match block"));
	assert_int_equal(read_text(&server, &o, "Block no\nnonsense yes\n", &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "Directive 'nonsense' is not allowed within a Match block"));
	/* A block that applies at start may hold them. */
	assert_int_equal(read_text(&server, &o, "Block yes\nFlag yes\n", &e), 0);
	assert_true(o.flag);
	conf_options_clear(&server, &o);
}

static void test_second_evaluation(void **state)
{
	struct small o = { .number = 0 };
	struct conf_source s = { 0 };
	struct conf_reader r;
	struct err e = { 0 };
	const char *path;

	file("m.inc", "Item i1\nBlock yes\nItem i2\nNumber 8\n");
	path = file("config", "Number 1\nItem g\nFlag no\nInclude m.inc\nBlock yes\nItem a\nFlag yes\nNumber 2\nBlock no\nItem b\n"
		"Block yes\nInclude m.inc\nItem c\nNumber 3\n");
	conf_reader_init(&r, &server, &o, &s);
	r.include_dir = dir;
	assert_int_equal(conf_read_file(&r, path, CONF_SYSTEM_FILE, &e), 0);
	conf_options_clear(&server, &o);
	assert_int_equal(unlink(path), 0);
	/* Again, by what was read: only blocks count, only keywords that may stand there; lists collect, first value wins. */
	s.sealed = true;
	conf_reader_init(&r, &server, &o, &s);
	r.include_dir = dir;
	r.blocks_only = true;
	assert_int_equal(conf_read_file(&r, path, CONF_SYSTEM_FILE, &e), 0);
	assert_int_equal(o.number, 8);
	assert_int_equal(o.items.count, 5);
	assert_string_equal(o.items.v[0], "i2");
	assert_string_equal(o.items.v[1], "a");
	assert_string_equal(o.items.v[2], "i1");
	assert_string_equal(o.items.v[4], "c");
	assert_int_equal(conf_origin_at(&server, &o, AT(flag)), CONF_UNSET);
	assert_int_equal(conf_read_file(&r, "/etc/passwd", CONF_SYSTEM_FILE, &e), ERR_NONE_FOUND);
	conf_options_clear(&server, &o);
	conf_source_clear(&s);
}

static void test_unbuilt(void **state)
{
	struct small o = { .number = 0 };
	struct err e;

	log_capture_start(LOG_LEVEL_VERBOSE);
	assert_int_equal(read_text(&client, &o, "Missing no\nRisky none\nBlock no\nMissing yes\nRisky yes\n", &e), 0);
	assert_string_equal(log_capture_text(), "");
	assert_int_equal(read_text(&client, &o, "Missing yes\n", &e), 0);
	assert_true(log_capture_has("line 1: Missing is not built into this program and has no effect"));
	/* The first value has won already. */
	assert_int_equal(read_text(&client, &o, "Risky yes\n", &e), 0);
	conf_options_clear(&client, &o);
	assert_int_equal(read_text(&client, &o, "Risky yes\n", &e), ERR_USAGE);
	/* A server does not start with it, whatever block it stands in. */
	assert_int_equal(read_text(&server, &o, "Risky no\nBlock no\nRisky NONE\n", &e), 0);
	assert_int_equal(read_text(&server, &o, "Block no\nRisky list\n", &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "line 2: Risky is not built into this program"));
	log_capture_start(LOG_LEVEL_DEBUG1);
	assert_int_equal(read_text(&client, &o, "NoEffect 1\nOld 1 2\nVeryOld 1\n", &e), 0);
	assert_true(log_capture_has("NoEffect is accepted and has no effect"));
	assert_true(log_capture_has("Deprecated option Old"));
	assert_false(log_capture_has("VeryOld"));
	conf_options_clear(&client, &o);
}

static void test_ignore_unknown(void **state)
{
	struct small o = { .number = 0 };
	struct err e;

	log_capture_start(LOG_LEVEL_INFO);
	assert_int_equal(read_text(&client, &o, "IgnoreUnknown Use*,foo\nUseKeychain yes\nFOO\n", &e), 0);
	/* It counts for what follows only, and not for values. */
	assert_int_equal(read_text(&client, &o, "IgnoreUnknown bar\nBar 1\nNumber bar\n", &e), ERR_USAGE);
	conf_options_clear(&client, &o);
	assert_int_equal(read_text(&client, &o, "Bar 1\nIgnoreUnknown bar\n", &e), ERR_USAGE);
	conf_options_clear(&client, &o);
}

static int one_line(struct small *o, const struct conf_table *t, const char *text)
{
	struct conf_reader r;
	struct err e = { 0 };

	conf_reader_init(&r, t, o, NULL);
	return conf_read_line(&r, text, "command-line", CONF_COMMAND_LINE, &e);
}

static void test_lines(void **state)
{
	struct small o = { .number = 0 };
	struct err e;

	log_capture_start(LOG_LEVEL_INFO);
	assert_int_equal(one_line(&o, &client, "Number=5"), 0);
	assert_int_equal(one_line(&o, &client, "Number 6"), 0);
	assert_int_equal(one_line(&o, &client, ""), 0);
	assert_int_equal(one_line(&o, &client, "#x"), 0);
	assert_string_equal(log_capture_text(), "");
	assert_int_equal(one_line(&o, &client, "Nonsense 1"), ERR_NONE_FOUND);
	assert_string_equal(log_capture_text(), "command-line: line 0: Bad configuration option: nonsense\n");
	assert_int_equal(one_line(&o, &client, "Number 1 2"), ERR_NONE_FOUND);
	assert_int_equal(one_line(&o, &client, "Number x"), ERR_USAGE);
	assert_int_equal(one_line(&o, &server, "Number x"), ERR_USAGE);
	assert_int_equal(one_line(&o, &client, "Block yes"), ERR_NONE_FOUND);
	assert_int_equal(one_line(&o, &client, "Include x"), ERR_NONE_FOUND);
	/* The command line comes before files. */
	assert_int_equal(read_text(&client, &o, "Number 9\n", &e), 0);
	assert_int_equal(o.number, 5);
	assert_int_equal(conf_origin_at(&client, &o, AT(number)), CONF_COMMAND_LINE);
	conf_options_clear(&client, &o);
}

static void test_owner(void **state)
{
	struct small o = { .number = 0 };
	struct conf_source s = { 0 };
	struct conf_reader r;
	struct err e = { 0 };
	const char *path = file("config", "Number 1\n"), *inc;

	conf_reader_init(&r, &client, &o, &s);
	r.check_owner = true;
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(conf_read_file(&r, path, CONF_USER_FILE, &e), 0);
	conf_source_clear(&s);
	assert_int_equal(chmod(path, 0664), 0);
	assert_int_equal(conf_read_file(&r, path, CONF_USER_FILE, &e), ERR_DENIED);
	assert_true(str_starts(e.text, "Bad owner or permissions on /"));
	/* The file itself need not be checked while its includes are. */
	err_clear(&e);
	inc = file("w.inc", "Number 2\n");
	assert_int_equal(chmod(inc, 0622), 0);
	path = file("config", "Include w.inc\n");
	assert_int_equal(chmod(path, 0666), 0);
	r.check_owner = false;
	r.check_included = true;
	r.include_dir = dir;
	assert_int_equal(conf_read_file(&r, path, CONF_USER_FILE, &e), ERR_DENIED);
	assert_non_null(strstr(e.text, "/w.inc"));
	conf_source_clear(&s);
	conf_options_clear(&client, &o);
}

static void test_odd_files(void **state)
{
	struct small o = { .number = 0 };
	struct conf_source s = { 0 };
	struct conf_reader r;
	struct err e = { 0 };
	char path[512];
	int fd;

	conf_reader_init(&r, &client, &o, &s);
	assert_int_equal(conf_read_file(&r, "/nonexistent/file", CONF_USER_FILE, &e), ERR_NONE_FOUND);
	/* What stands behind a zero byte is not passed over in silence. */
	snprintf(path, sizeof(path), "%s/zero", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, "Number 1\n\0Number 2\n", 19), 19);
	close(fd);
	err_clear(&e);
	assert_int_equal(conf_read_file(&r, path, CONF_USER_FILE, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "/zero line 2: is not a text file: it holds a zero byte"));
	/* No newline at the end, CR LF, and a file without anything. */
	err_clear(&e);
	conf_source_clear(&s);
	assert_int_equal(read_text(&client, &o, "Text a\r\nNumber 4", &e), 0);
	assert_int_equal(o.number, 4);
	assert_string_equal(o.text, "a");
	assert_int_equal(read_text(&client, &o, "", &e), 0);
	conf_options_clear(&client, &o);
}

static void collect(void *ctx, const char *line)
{
	str_list_add(ctx, line);
}

static void test_dump(void **state)
{
	struct small o = { .number = 0 };
	struct str_list lines = { 0 };
	struct err e;

	assert_int_equal(read_text(&client, &o, "Number 1\nItem a\nItem b\nRaw none\n", &e), 0);
	conf_dump(&client, &o, collect, &lines);
	assert_string_equal(lines.v[0], "number 1");
	assert_true(str_list_has(&lines, "item a"));
	assert_true(str_list_has(&lines, "item b"));
	assert_true(str_list_has(&lines, "FLAG no"));
	assert_false(str_list_has(&lines, "raw none"));
	str_list_clear(&lines);
	conf_dump(&server, &o, collect, &lines);
	assert_string_equal(lines.v[0], "Number 1");
	str_list_clear(&lines);
	conf_options_clear(&client, &o);
}

static int setup(void **state)
{
	umask(022);
	return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
	char *command = str_printf("rm -rf %s", dir);
	int r = system(command);

	free(command);
	log_capture_stop();
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_defaults), cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_include), cmocka_unit_test(test_errors), cmocka_unit_test(test_server_rules),
		cmocka_unit_test(test_second_evaluation), cmocka_unit_test(test_unbuilt), cmocka_unit_test(test_ignore_unknown),
		cmocka_unit_test(test_lines), cmocka_unit_test(test_owner), cmocka_unit_test(test_odd_files),
		cmocka_unit_test(test_dump),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
