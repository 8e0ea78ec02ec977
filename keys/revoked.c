/* keys/revoked.c: is a key on a list of revoked ones? Whatever is not understood may be that key: it is an error. */
#include "keys/revoked.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/path.h"
#include "keys/key_file.h"
#include "keys/key_line.h"

enum { FILE_MAX = 64 * 1024 * 1024 };

/* 0: another key, or nothing. ERR_DENIED: this key. ERR_PEER: not a line that we understand. */
static int revoked_line(const char *line, const struct key *k, struct err *e)
{
	struct key *revoked = NULL;
	const char *s = key_line_skip_blanks(line);
	size_t n = strcspn(s, " \t");
	bool cert = n > 0 && memmem(s, n, "-cert-v0", 8) != NULL;
	int rc;

	if (*s == '\0' || *s == '#')
		return 0;
	/* A certificate would stand for its plain key, which is not looked for in it: that must not pass for "not revoked". */
	if (cert)
		return err_set(e, ERR_PEER, "a certificate, which is not understood here");
	rc = key_public_parse(s, &revoked, NULL, e);
	if (rc == ERR_NONE_FOUND) {
		/* A type that we do not know cannot be that of the key in front of us. */
		err_clear(e);
		return 0;
	}
	if (rc == 0 && key_equal_public(revoked, k))
		rc = ERR_DENIED;
	key_free(revoked);
	return rc;
}

int key_revoked_by_text(const char *path, const char *text, size_t n, const struct key *k, struct err *e)
{
	unsigned number = 0;
	size_t cursor = 0;
	char *line;

	/* Binary lists are known by their first bytes. */
	if (n >= 6 && memcmp(text, "SSHKRL", 6) == 0)
		return err_set(e, ERR_USAGE, "%s is a binary key revocation list (KRL), which this version cannot read; list the keys "
			"as text, one a line", path);
	while (key_line_next(text, n, &cursor, &line)) {
		struct err inner = { 0 };
		int rc;

		number++;
		rc = line != NULL ? revoked_line(line, k, &inner) : err_set(&inner, ERR_PEER, "%s", KEY_LINE_ZERO);
		free(line);
		if (rc == ERR_DENIED)
			return err_set(e, ERR_DENIED, "%s:%u", path, number);
		if (rc != 0)
			return err_set(e, rc, "%s:%u: %s", path, number, err_text(&inner));
	}
	return 0;
}

int key_revoked_by_file(const char *path, const struct key *k, struct err *e)
{
	struct err inner = { 0 };
	char *text;
	size_t n;
	int rc = path_read_file(path, FILE_MAX, &text, &n, &inner);

	/* Whatever the reason is, it is not that the key is listed. */
	if (rc != 0)
		return err_set(e, ERR_IO, "%s", err_text(&inner));
	rc = key_revoked_by_text(path, text, n, k, e);
	free(text);
	return rc;
}
