/* platform/procname.c: what ps and top show. */
#include "platform/procname.h"

#include <stdio.h>
#include <string.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

extern char **environ;

/* End of the text that begins at `end`, if the two lie one behind the other. */
static char *procname_extend(char *end, char *text)
{
	return text == end ? text + strlen(text) + 1 : end;
}

/* Copies strings to *to, which moves on, and points at the copies. */
static void procname_move(char **strings, size_t count, char **to)
{
	size_t i, n;

	for (i = 0; i < count; i++) {
		n = strlen(strings[i]) + 1;
		memcpy(*to, strings[i], n);
		strings[i] = *to;
		*to += n;
	}
}

static size_t procname_total(char *const *strings, size_t count)
{
	size_t i, n = 0;

	for (i = 0; i < count; i++)
		n += strlen(strings[i]) + 1;
	return n;
}

void procname_init(struct procname *p, int argc, char **argv)
{
	char *end, *to, **env;
	size_t args = (size_t)argc, vars = 0, i;

	*p = (struct procname){ 0 };
	if (argc < 1 || argv[0] == NULL)
		return;
	/* The kernel puts all arguments and then the environment into one piece of memory, and ps reads what is there. */
	end = argv[0];
	for (i = 0; i < args; i++)
		end = procname_extend(end, argv[i]);
	for (vars = 0; environ != NULL && environ[vars] != NULL; vars++)
		end = procname_extend(end, environ[vars]);
	p->area = argv[0];
	p->size = (size_t)(end - argv[0]);
	/* One piece, the list of variables first. environ itself is replaced too: it belongs to the C library's startup. */
	p->copies = mem_alloc((vars + 1) * sizeof(*env) + procname_total(argv, args) + procname_total(environ, vars));
	env = (char **)(void *)p->copies;
	for (i = 0; i < vars; i++)
		env[i] = environ[i];
	env[vars] = NULL;
	to = (char *)(env + vars + 1);
	procname_move(argv, args, &to);
	procname_move(env, vars, &to);
	environ = env;
}

void procname_set_title(struct procname *p, const char *fmt, ...)
{
	char text[512];
	size_t n;
	va_list ap;

	if (p->size < 2)
		return;
	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	va_end(ap);
	n = strlen(text);
	if (n > p->size - 1)
		n = p->size - 1;
	memcpy(p->area, text, n);
	memset(p->area + n, 0, p->size - n);
}

void procname_set_short(const char *name)
{
#ifdef PR_SET_NAME
	char text[16];

	(void)str_copy(text, sizeof(text), name);
	(void)prctl(PR_SET_NAME, text, 0, 0, 0);
#else
	(void)name;
#endif
}
