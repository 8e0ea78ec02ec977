/* Target: moduli_choose, the parser of the file of groups. First byte: what is asked for; the rest is the file. What is chosen is of
 * the size that was asked for. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/log.h"
#include "crypto/dh_group.h"
#include "kex/moduli.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct kex_group_size sizes[4] = { { 2048, 2048, 8192 }, { 2048, 3072, 8192 }, { 2048, 8192, 8192 }, { 16, 32, 64 } };
	const struct kex_group_size *want;
	struct buf p = BUF_INIT(1024), g = BUF_INIT(1024);
	struct moduli *m;
	unsigned bits;

	if (size == 0)
		return 0;
	log_init("fuzz", LOG_LEVEL_QUIET);
	want = &sizes[data[0] & 3];
	m = moduli_of_text("file", (struct view){ data + 1, size - 1 });
	if (moduli_choose(m, want, &p, &g, NULL) == 0) {
		bits = dh_group_bits((struct view){ p.data, p.size });
		if (bits < want->min || bits > want->max || g.size == 0)
			abort();
	}
	moduli_free(m);
	buf_free(&p);
	buf_free(&g);
	return 0;
}
