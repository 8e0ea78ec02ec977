/* base/err.c: the first error of a layer, with its class and its text. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int code;
	const char *name;
} err_classes[] = {
	{ ERR_IO, "i/o error" },
	{ ERR_CLOSED, "closed by peer" },
	{ ERR_AGAIN, "not ready" },
	{ ERR_PEER, "protocol error by peer" },
	{ ERR_CRYPTO, "cryptographic check failed" },
	{ ERR_USAGE, "not possible as asked" },
	{ ERR_MEMORY, "size limit exceeded" },
	{ ERR_DENIED, "permission denied" },
	{ ERR_NONE_FOUND, "not found" },
};

int err_vset(struct err *e, int code, const char *fmt, va_list ap)
{
	if (e == NULL || e->code != 0)
		return code;
	e->code = code;
	if (vsnprintf(e->text, sizeof(e->text), fmt, ap) < 0)
		e->text[0] = '\0';
	return code;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(e, code, fmt, ap);
	va_end(ap);
	return code;
}

int err_set_errno(struct err *e, const char *fmt, ...)
{
	int saved = errno;
	size_t n;
	va_list ap;

	if (e == NULL || e->code != 0)
		return ERR_IO;
	va_start(ap, fmt);
	err_vset(e, ERR_IO, fmt, ap);
	va_end(ap);
	n = strlen(e->text);
	snprintf(e->text + n, sizeof(e->text) - n, ": %s", strerror(saved));
	errno = saved;
	return ERR_IO;
}

void err_prefix(struct err *e, const char *fmt, ...)
{
	char old[ERR_TEXT_SIZE];
	size_t n;
	va_list ap;

	if (e == NULL || e->code == 0)
		return;
	memcpy(old, e->text, sizeof(old));
	va_start(ap, fmt);
	if (vsnprintf(e->text, sizeof(e->text), fmt, ap) < 0)
		e->text[0] = '\0';
	va_end(ap);
	n = strlen(e->text);
	snprintf(e->text + n, sizeof(e->text) - n, ": %s", old[0] != '\0' ? old : err_class_name(e->code));
}

void err_clear(struct err *e)
{
	if (e == NULL)
		return;
	e->code = 0;
	e->text[0] = '\0';
}

const char *err_text(const struct err *e)
{
	if (e == NULL || e->code == 0)
		return "no error";
	return e->text[0] != '\0' ? e->text : err_class_name(e->code);
}

const char *err_class_name(int code)
{
	size_t i;

	if (code >= 0)
		return "no error";
	for (i = 0; i < sizeof(err_classes) / sizeof(err_classes[0]); i++)
		if (err_classes[i].code == code)
			return err_classes[i].name;
	return "unknown error";
}
