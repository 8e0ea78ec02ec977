/* The SFTP server engine: the input is what a client sends, in pieces whose sizes the first byte decides. Direct and read
 * only by turns. Target: xfer/sftp_server*.c, xfer/fileops.c, xfer/realpath.c. */
#include "jail.h"

#include <stdint.h>
#include <string.h>

#include "base/log.h"
#include "io/link.h"
#include "io/loop.h"
#include "xfer/sftp_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct session { struct link *here; bool done, deaf; };

static void on_readable(void *ctx)
{
	struct session *s = ctx;
	const uint8_t *p;
	size_t n;

	while (!s->deaf && (n = link_peek(s->here, &p)) > 0)
		link_consume(s->here, n);
}

static void on_done(void *ctx, int status)
{
	struct session *s = ctx;

	(void)status;
	s->done = true;
}

static void make_files(void)
{
	int fd = open("f", O_CREAT | O_WRONLY | O_TRUNC, 0644);

	if (fd >= 0) {
		if (write(fd, "0123456789", 10) != 10)
			abort();
		close(fd);
	}
	(void)mkdir("d", 0755);
	(void)symlink("d", "l");
	(void)symlink("loop", "loop");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned runs;
	bool jailed = jail_enter();
	struct sftp_server_options o = { .umask = -1, .log_level = LOG_LEVEL_QUIET, .user = "me", .home = "/d" };
	struct session s = { 0 };
	struct link *there;
	struct loop *l;
	struct sftp_server *server;
	size_t piece;

	if (size < 1)
		return 0;
	log_init("fuzz", LOG_LEVEL_QUIET);
	if (jailed && runs++ % 32 == 0) {
		jail_clean();
		make_files();
	}
	o.read_only = !jailed || data[0] & 1;
	s.deaf = (data[0] & 6) == 6;
	piece = data[0] & 8 ? 1 + (size_t)(data[0] >> 4) : 1 << 20;
	l = loop_new(NULL);
	if (l == NULL || link_pair_new(l, 4096, &s.here, &there, NULL) != 0)
		abort();
	s.here->user = (struct link_user){ .readable = on_readable, .ctx = &s };
	server = sftp_server_new(l, there, NULL, &o, on_done, &s);
	for (size_t at = 1; at < size && !s.done; ) {
		size_t room = link_room(s.here), n = size - at;

		n = n < piece ? n : piece;
		n = n < room ? n : room;
		while (n > 0 && !link_write(s.here, data + at, n))
			n /= 2;
		at += n;
		if (loop_turn(l, 0, NULL) != 0)
			abort();
		if (n == 0 && s.deaf)
			break;
	}
	link_finish(s.here);
	for (int i = 0; i < 2000 && !s.done && !s.deaf; i++)
		if (loop_turn(l, 0, NULL) != 0)
			abort();
	if (!s.done && !s.deaf)
		abort();                         /* input has ended: so must it */
	sftp_server_free(server);
	link_close(there);
	link_close(s.here);
	for (int i = 0; i < 3; i++)
		if (loop_turn(l, 0, NULL) != 0)
			abort();
	loop_free(l);
	return 0;
}
