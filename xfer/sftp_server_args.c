/* The command line of sftp-server and internal-sftp (sftp-server(8)). */
#include "xfer/sftp_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"

struct args {
	struct sftp_server_options *o;
	int *facility;
	bool *to_stderr;
	bool stop;
};

static int list_set(struct str_list *l, const char *value, char letter, struct err *e)
{
	const char *name;
	size_t n;

	if (l->count > 0)
		return err_set(e, ERR_USAGE, "-%c given twice", letter);
	while (str_next_name(&value, &name, &n))
		str_list_add_n(l, name, n);
	/* An empty list permits nothing (or denies nothing); a list without entries would mean "all". */
	if (l->count == 0)
		str_list_add(l, "");
	return 0;
}

static int set_umask(int *mask, const char *value, struct err *e)
{
	unsigned m = 0;
	size_t n = strlen(value);

	if (n == 0 || strspn(value, "01234567") != n || strlen(value + strspn(value, "0")) > 3)
		return err_set(e, ERR_USAGE, "invalid umask \"%s\"", value);
	for (; *value != '\0'; value++)
		m = m * 8 + (unsigned)(*value - '0');
	*mask = (int)m;
	return 0;
}

static int take_flag(struct args *a, char letter, struct err *e)
{
	switch (letter) {
	case 'e':
		*a->to_stderr = true;
		return 0;
	case 'R':
		a->o->read_only = true;
		return 0;
	case 'c':
		a->stop = true;
		return 0;
	case 'h':
		return err_set(e, ERR_NONE_FOUND, "help");
	default:
		return err_set(e, ERR_USAGE, "unknown option -- %c", letter);
	}
}

static int take_value(struct args *a, char letter, const char *value, struct err *e)
{
	enum log_level level;

	switch (letter) {
	case 'd':
		a->o->start_dir = value;
		return 0;
	case 'f':
		if (log_facility_parse(value, a->facility) < 0)
			return err_set(e, ERR_USAGE, "invalid log facility \"%s\"", value);
		return 0;
	case 'l':
		if (log_level_parse(value, &level) < 0)
			return err_set(e, ERR_USAGE, "invalid log level \"%s\"", value);
		a->o->log_level = (int)level;
		return 0;
	case 'p':
		return list_set(&a->o->allow, value, letter, e);
	case 'P':
		return list_set(&a->o->deny, value, letter, e);
	default:
		return set_umask(&a->o->umask, value, e);
	}
}

/* One argument of letters; *i moves on if a value was in the next one. */
static int take_letters(struct args *a, int argc, char *const *argv, int *i, struct err *e)
{
	for (const char *p = argv[*i] + 1; *p != '\0'; p++) {
		int r;

		if (strchr("dflPpu", *p) == NULL) {
			r = take_flag(a, *p, e);
			if (r < 0 || a->stop)
				return r;
			continue;
		}
		if (p[1] != '\0')
			return take_value(a, *p, p + 1, e);
		if (*i + 1 >= argc)
			return err_set(e, ERR_USAGE, "option requires an argument -- %c", *p);
		return take_value(a, *p, argv[++*i], e);
	}
	return 0;
}

int sftp_server_parse_args(int argc, char *const *argv, struct sftp_server_options *o, int *log_facility, bool *to_stderr,
	struct err *e)
{
	struct args a = { .o = o, .facility = log_facility, .to_stderr = to_stderr };

	*o = (struct sftp_server_options){ .umask = -1, .log_level = LOG_LEVEL_ERROR };
	*log_facility = -1;
	*to_stderr = false;
	for (int i = 1; i < argc && !a.stop; i++) {
		int r;

		if (argv[i][0] != '-' || argv[i][1] == '\0' || strcmp(argv[i], "--") == 0)
			break;                   /* operands mean nothing */
		r = take_letters(&a, argc, argv, &i, e);
		if (r < 0)
			return r;
	}
	return 0;
}

char *sftp_server_start_dir(const char *given, const char *home, const char *user, struct err *e)
{
	char uid[24], *tilde, *path;
	const struct path_token tokens[] = { { 'd', home }, { 'u', user }, { 'U', uid }, { 0, NULL } };

	(void)snprintf(uid, sizeof uid, "%lu", (unsigned long)getuid());
	tilde = path_expand_tilde(given, home, e);
	if (tilde == NULL)
		return NULL;
	path = path_expand_tokens(tilde, tokens, e);
	free(tilde);
	return path;
}
