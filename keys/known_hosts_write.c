/* keys/known_hosts_write.c: adding a line to a file of host keys. */
#include "keys/known_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/path.h"
#include "wire/buf.h"

/* A name that came from outside must not turn into a pattern, a marker, a comment, a second name or a second line. */
static bool name_is_plain(const char *name, size_t n)
{
	const char *host = name, *close;
	size_t host_size = n;

	if (n > 0 && name[0] == '[') {
		close = memchr(name, ']', n);
		if (close == NULL || n - (size_t)(close - name) < 3 || close[1] != ':')
			return false;
		for (const char *p = close + 2; p < name + n; p++)
			if (*p < '0' || *p > '9')
				return false;
		host = name + 1;
		host_size = (size_t)(close - host);
	}
	for (size_t i = 0; i < host_size; i++)
		if ((unsigned char)host[i] <= ' ' || host[i] == 0x7f || strchr("@?*#[]|'\"\\!", host[i]) != NULL)
			return false;
	return host_size > 0;
}

static int put_line(struct buf *out, const char *name, const char *key_line, bool hash)
{
	char *hashed = NULL;

	if (hash && (hashed = known_hosts_hash_name(name)) == NULL)
		return ERR_CRYPTO;
	buf_printf(out, "%s %s\n", hash ? hashed : name, key_line);
	free(hashed);
	return 0;
}

/* Several names (`host,ip`) share a line in clear; hashed, each needs its own. */
static int put_lines(struct buf *out, const char *names, const struct key *key, bool hash, struct err *e)
{
	char *key_line = key_public_line(key), *lower = mem_strdup(names);
	const char *cursor = lower, *name;
	size_t n, count = 0;
	int rc = 0;

	str_lower(lower);
	while (rc == 0 && str_next_name(&cursor, &name, &n)) {
		char *one = mem_strndup(name, n);

		if (!name_is_plain(name, n))
			rc = err_set(e, ERR_USAGE, "the host name %s cannot be written to a known hosts file", one);
		else if (hash && put_line(out, one, key_line, true) != 0)
			rc = err_set(e, ERR_CRYPTO, "the host name cannot be hashed");
		free(one);
		count++;
	}
	if (rc == 0 && count == 0)
		rc = err_set(e, ERR_USAGE, "an empty host name cannot be written to a known hosts file");
	if (rc == 0 && !hash)
		rc = put_line(out, lower, key_line, false);
	free(lower);
	free(key_line);
	return rc;
}

/* The folder, which is ~/.ssh if it has to be made. */
static int make_folder(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	int rc;

	if (slash == NULL || slash == path)
		return 0;
	folder = mem_strndup(path, (size_t)(slash - path));
	rc = path_make_dir(folder, 0700, e);
	free(folder);
	return rc;
}

/* 1 if the file ends in the middle of a line, 0 if not, negative on error. */
static int ends_in_line(int fd, const char *path, struct err *e)
{
	struct stat st;
	char last;

	if (fstat(fd, &st) != 0)
		return err_set_errno(e, "%s", path);
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return 0;
	if (pread(fd, &last, 1, st.st_size - 1) != 1)
		return err_set_errno(e, "%s", path);
	return last != '\n';
}

/* One write with O_APPEND, so that two clients do not mix their lines. */
static int append_text(const char *path, struct buf *text, struct err *e)
{
	int fd, rc;

	/* 0644 at most, whatever the umask: it names the hosts that the user trusts, others need not change it. */
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
	if (fd < 0)
		return err_set_errno(e, "%s", path);
	rc = ends_in_line(fd, path, e);
	if (rc == 1) {
		struct buf whole = BUF_INIT(BUF_LIMIT_DEFAULT);

		buf_put_u8(&whole, '\n');
		buf_put(&whole, text->data, text->size);
		buf_free(text);
		*text = whole;
		rc = 0;
	}
	if (rc == 0 && !buf_ok(text))
		rc = err_set(e, ERR_MEMORY, "%s: the line is too long", path);
	if (rc == 0) {
		ssize_t put = write(fd, text->data, text->size);

		if (put >= 0 && (size_t)put != text->size)
			errno = ENOSPC;
		if (put < 0 || (size_t)put != text->size)
			rc = err_set_errno(e, "%s", path);
	}
	if (close(fd) != 0 && rc == 0)
		rc = err_set_errno(e, "%s", path);
	return rc;
}

int known_hosts_append(const char *path, const char *name, const struct key *key, bool hash, struct err *e)
{
	struct buf text = BUF_INIT(BUF_LIMIT_DEFAULT);
	int rc = put_lines(&text, name, key, hash, e);

	if (rc == 0)
		rc = make_folder(path, e);
	if (rc == 0)
		rc = append_text(path, &text, e);
	buf_free(&text);
	return rc;
}
