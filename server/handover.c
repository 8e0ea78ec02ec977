/* server/handover.c: configuration and keys on their way from the listener to monitors. */
#include "server/handover.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"

enum { HANDOVER_MAX = 64 * 1024 * 1024, HANDOVER_FORMAT = 1 };

void handover_clear(struct handover *h)
{
	server_config_free(h->config);
	host_keys_clear(&h->keys);
	mem_wipe(h->secret, sizeof(h->secret));
	h->config = NULL;
}

void handover_put(const struct handover *h, struct buf *out)
{
	buf_put_u8(out, HANDOVER_FORMAT);
	buf_put_bool(out, h->debug);
	buf_put_bool(out, h->log_stderr);
	buf_put_bool(out, h->quiet);
	buf_put_u32(out, (uint32_t)h->debug_level);
	buf_put_u32(out, h->host_length);
	buf_put(out, h->secret, sizeof(h->secret));
	host_keys_put(&h->keys, out);
	server_config_put(h->config, out);
}

int handover_get(struct reader *r, struct handover *out, struct err *e)
{
	struct view secret;

	memset(out, 0, sizeof(*out));
	if (reader_u8(r) != HANDOVER_FORMAT)
		return err_set(e, ERR_PEER, "hand-over of another version");
	out->debug = reader_bool(r);
	out->log_stderr = reader_bool(r);
	out->quiet = reader_bool(r);
	out->debug_level = (int)reader_u32(r);
	out->host_length = reader_u32(r);
	secret = reader_bytes(r, sizeof(out->secret));
	if (!reader_ok(r))
		return err_set(e, ERR_PEER, "hand-over is cut short");
	memcpy(out->secret, secret.p, sizeof(out->secret));
	if (host_keys_get(r, &out->keys, e) < 0)
		return ERR_PEER;
	out->config = server_config_get(r, e);
	if (out->config == NULL || reader_end(r, e, "hand-over") < 0) {
		handover_clear(out);
		return ERR_PEER;
	}
	return 0;
}

static int memory_file(struct err *e)
{
#ifdef HAVE_MEMFD_CREATE
	int fd = memfd_create("sshd", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0)
		return fd;
#endif
	char path[] = "/tmp/.sshd.XXXXXXXXXX";
	int tmp = mkostemp(path, O_CLOEXEC);     /* mode 0600 */

	if (tmp < 0)
		return err_set_errno(e, "file for the hand-over");
	(void)unlink(path);
	return tmp;
}

int handover_write(const struct handover *h, struct err *e)
{
	struct buf b = BUF_INIT(HANDOVER_MAX);
	size_t done = 0;
	int fd;

	handover_put(h, &b);
	fd = buf_ok(&b) ? memory_file(e) : err_set(e, ERR_MEMORY, "the configuration is too large");
	while (fd >= 0 && done < b.size) {
		ssize_t n = write(fd, b.data + done, b.size - done);
		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		err_set_errno(e, "writing the hand-over");
		close(fd);
		fd = ERR_IO;
	}
	buf_free(&b);
#ifdef F_ADD_SEALS
	/* From here on nobody can change it, this process included. */
	if (fd >= 0)
		(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
#endif
	return fd;
}

int handover_read(int fd, struct handover *out, struct err *e)
{
	struct stat st;
	struct reader r;
	uint8_t *p;
	size_t n, done = 0;
	int rc;

	if (fstat(fd, &st) < 0)
		return err_set_errno(e, "hand-over");
	if (st.st_size <= 0 || st.st_size > HANDOVER_MAX)
		return err_set(e, ERR_PEER, "hand-over of %lld bytes", (long long)st.st_size);
	n = (size_t)st.st_size;
	p = mem_alloc(n);
	while (done < n) {
		/* All monitors share one file offset: only pread. */
		ssize_t got = pread(fd, p + done, n - done, (off_t)done);
		if (got <= 0) {
			mem_free_secret(p, n);
			return err_set_errno(e, "reading the hand-over");
		}
		done += (size_t)got;
	}
	reader_init(&r, p, n);
	rc = handover_get(&r, out, e);
	mem_free_secret(p, n);
	return rc;
}
