/* Lines of authorized_keys: authorized_line_parse, key_options_check and the hand-over of options. First byte 0: text of a
 * file; otherwise bytes of another process for key_options_get. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "keys/authorized_keys.h"
#include "keys/key_file.h"
#include "keys/key_line.h"
#include "keys/revoked.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was understood must survive the way to another process. */
static void there_and_back(const struct key_options *o)
{
	struct buf a = BUF_INIT(1 << 22), b = BUF_INIT(1 << 22);
	struct key_options again;
	struct reader r;

	key_options_put(o, &a);
	if (!buf_ok(&a))
		abort();
	reader_init(&r, a.data, a.size);
	if (key_options_get(&r, &again) == 0) {
		key_options_put(&again, &b);
		if (reader_left(&r) != 0 || a.size != b.size || memcmp(a.data, b.data, a.size) != 0)
			abort();
		key_options_clear(&again);
	}
	buf_free(&a);
	buf_free(&b);
}

/* The same bytes as a list of revoked keys. With a zero byte in them it never says that a key is not listed. */
static void fuzz_revoked(const char *text, size_t n)
{
	static struct key *k;
	struct err e = { 0 };
	int rc;

	if (k == NULL && key_public_parse("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBQaaXkyH1uVzOTZpVhDrXwRUCLTOWXaFRNbyImsVxxq", &k, NULL, &e) != 0)
		abort();
	rc = key_revoked_by_text("list", text, n, k, &e);
	if (rc == 0 ? memchr(text, 0, n) != NULL : e.code == 0)
		abort();
}

static void fuzz_text(const char *text, size_t n)
{
	struct authorized_line l;
	struct err e = { 0 };
	size_t cursor = 0;
	char *line;

	while (key_line_next(text, n, &cursor, &line)) {
		if (line == NULL)
			continue;
		if (authorized_line_parse(line, &l, &e) == 0) {
			if (key_options_check(&l.options, "host.example", "10.0.0.1", 1700000000, NULL) > 0)
				abort();
			there_and_back(&l.options);
			authorized_line_clear(&l);
		}
		free(line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct key_options o;
	struct reader r;

	if (size > 0 && data[0] == 0) {
		fuzz_text((const char *)data + 1, size - 1);
		fuzz_revoked((const char *)data + 1, size - 1);
	} else if (size > 0) {
		reader_init(&r, data + 1, size - 1);
		if (key_options_get(&r, &o) == 0) {
			there_and_back(&o);
			key_options_clear(&o);
		}
	}
	return 0;
}
