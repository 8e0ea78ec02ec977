/* keys/key_file.c: private and public key files (ssh-keygen(1), FILES). */
#include "keys/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "keys/key_impl.h"
#include "keys/key_line.h"
#include "keys/openssh_key.h"

enum { KEY_FILE_MAX = 1024 * 1024 };

static int pem_parse(const char *text, size_t n, const char *passphrase, struct key **out, char **comment, struct err *e)
{
	struct err inner = { 0 };
	struct pkey *pkey = pkey_pem_read(text, n, passphrase, &inner);

	if (pkey != NULL && !pkey_is_private(pkey)) {
		pkey_free(pkey);
		return err_set(e, ERR_PEER, "invalid format: a public key, not a private one");
	}
	*out = pkey != NULL ? key_from_pkey(pkey, &inner) : NULL;
	if (*out == NULL)
		return inner.code == ERR_DENIED ? err_set(e, ERR_DENIED, "%s", err_text(&inner)) :
			err_set(e, ERR_PEER, "invalid format: %s", err_text(&inner));
	if (comment != NULL)
		*comment = mem_strdup("");
	return 0;
}

int key_private_parse(const char *text, size_t n, const char *passphrase, struct key **out, char **comment, struct err *e)
{
	*out = NULL;
	if (comment != NULL)
		*comment = NULL;
	if (openssh_key_is(text, n))
		return openssh_key_parse(text, n, passphrase, out, comment, e);
	return pem_parse(text, n, passphrase, out, comment, e);
}

/* A private key that others may read is as good as published. Only the owner can mend that. */
static int check_mode(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_set_errno(e, "%s", path);
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return err_set_errno(e, "%s", path);
	}
	if (st.st_uid != getuid() || (st.st_mode & 077) == 0)
		return 0;
	log_error("@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@");
	log_error("@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @");
	log_error("@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@");
	log_error("Permissions 0%03o for '%s' are too open.", (unsigned)st.st_mode & 0777, path);
	log_error("A private key must be readable by its owner only (chmod 600); this one is not used.");
	return err_set(e, ERR_USAGE, "bad permissions");
}

int key_private_load(const char *path, const char *passphrase, struct key **out, char **comment, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc;
	char *text = NULL;
	size_t n = 0;

	*out = NULL;
	if (comment != NULL)
		*comment = NULL;
	if (fd < 0)
		return err_set_errno(e, "%s", path);
	rc = check_mode(fd, path, e);
	if (rc == 0)
		rc = path_read_fd(fd, KEY_FILE_MAX, &text, &n, e);
	close(fd);
	if (rc != 0)
		return rc;
	rc = key_private_parse(text, n, passphrase, out, comment, e);
	mem_free_secret(text, n);
	return rc;
}

int key_public_parse(const char *line, struct key **out, char **comment, struct err *e)
{
	int rc = key_line_read(&line, out, NULL, e);

	if (rc == 0 && comment != NULL)
		*comment = key_line_comment(line);
	return rc;
}

int key_listed_parse(const char *line, struct key **out, char **comment, struct err *e)
{
	const char *front = key_line_skip_blanks(line), *s = front;
	size_t n = 0;
	int rc;

	*out = NULL;
	if (*s == '\0' || *s == '#')
		return ERR_NONE_FOUND;
	/* Options, or names, or a marker and names. */
	for (int words = *s == '@' ? 2 : 1; words > 0 && *s != '\0' && !key_line_starts_key(s); words--) {
		n = (size_t)(s - front) + key_line_quoted_word(s);
		s = key_line_skip_blanks(front + n);
	}
	rc = key_line_read(&s, out, NULL, e);
	if (rc != 0 || comment == NULL)
		return rc;
	*comment = key_line_comment(s);
	if (**comment == '\0' && n > 0) {
		free(*comment);
		*comment = mem_strndup(front, n);
	}
	return 0;
}

/* First line of a public key file that parses. ERR_NONE_FOUND if there is none. */
static int first_public_line(const char *text, size_t n, struct key **out, char **comment)
{
	size_t cursor = 0;
	char *line;

	while (key_line_next(text, n, &cursor, &line)) {
		bool private, counts;
		int rc;

		if (line == NULL)
			continue;
		private = str_starts(line, "-----BEGIN");
		counts = *key_line_skip_blanks(line) != '#';
		rc = counts ? key_public_parse(line, out, comment, NULL) : ERR_NONE_FOUND;
		free(line);
		if (rc == 0)
			return 0;
		if (private)
			break;
	}
	return ERR_NONE_FOUND;
}

static int public_from_text_file(const char *path, struct key **out, char **comment, struct err *e)
{
	char *text;
	size_t n;
	int rc = path_read_file(path, KEY_FILE_MAX, &text, &n, e);

	if (rc != 0)
		return rc;
	rc = first_public_line(text, n, out, comment);
	mem_free_secret(text, n);
	if (rc == 0 && comment != NULL && **comment == '\0') {
		free(*comment);
		*comment = mem_strdup(path);
	}
	return rc;
}

/* Without a passphrase the comment is in reach too. */
static int public_from_private_file(const char *path, struct key **out, char **comment)
{
	struct key *k;
	char *text;
	size_t n;
	int rc = path_read_file(path, KEY_FILE_MAX, &text, &n, NULL);

	if (rc != 0)
		return rc;
	rc = openssh_key_is(text, n) ? openssh_key_parse_public(text, n, out, NULL) : ERR_NONE_FOUND;
	if (rc == 0 && comment != NULL) {
		if (openssh_key_parse(text, n, NULL, &k, comment, NULL) == 0)
			key_free(k);
		else
			*comment = mem_strdup("");
	}
	mem_free_secret(text, n);
	return rc;
}

int key_public_load(const char *path, struct key **out, char **comment, struct err *e)
{
	char *beside = str_printf("%s.pub", path);
	struct err first = { 0 };
	int rc;

	*out = NULL;
	if (comment != NULL)
		*comment = NULL;
	rc = public_from_text_file(path, out, comment, &first);
	if (rc != 0)
		rc = public_from_text_file(beside, out, comment, NULL);
	if (rc != 0)
		rc = public_from_private_file(path, out, comment);
	free(beside);
	if (rc == 0)
		return 0;
	if (first.code != 0)
		return err_set(e, first.code, "%s", err_text(&first));
	return err_set(e, ERR_PEER, "%s: invalid format: no public key in it", path);
}

int key_private_write(const struct key *k, const struct key_write_options *o, struct buf *out, struct err *e)
{
	if (!key_is_private(k))
		return err_set(e, ERR_USAGE, "only the public half of this key is known");
	if (o->format == KEY_FORMAT_OPENSSH)
		return openssh_key_write(k, o, out, e);
	/* RFC 8410 keys have no traditional form. */
	if (o->format == KEY_FORMAT_PEM && key_type(k) == KEY_ED25519)
		return err_set(e, ERR_USAGE, "invalid format: %s keys have no PEM form, only PKCS8", key_type_name(k));
	return pkey_pem_write(key_pkey(k), o->format == KEY_FORMAT_PKCS8, o->passphrase, out, e);
}
