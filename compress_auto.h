/* compress_auto.h: which level suits the line, the data and the processor. Arithmetic without I/O: whoever packs and whoever
 * moves the bytes tell what they measured, clocks included. Engine. */
#ifndef COMPRESS_AUTO_H
#define COMPRESS_AUTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "compress.h"

struct compress_auto;
struct compress_auto *compress_auto_new(const struct compress_prior *prior);
void compress_auto_free(struct compress_auto *a);

/* Level of the next payload; 0: raw. */
int compress_auto_level(const struct compress_auto *a);
/* A payload of `in` bytes left, as `out` bytes, which took ns of the processor. */
void compress_auto_packed(struct compress_auto *a, size_t in, size_t out, uint64_t ns);
void compress_auto_raw(struct compress_auto *a, size_t n);

/* Whether the payload at hand should be packed on the side, to learn what levels would give: at `level`, and at `with` too
 * for comparison unless it is 0. */
struct compress_ask { int level, with; size_t sample; };
bool compress_auto_ask(const struct compress_auto *a, struct compress_ask *ask);
struct compress_answer { size_t in, out, with_out; uint64_t ns, with_ns; };
void compress_auto_answer(struct compress_auto *a, const struct compress_ask *ask, const struct compress_answer *got);

/* What the line did until now_us. drained: bytes that it has taken so far (acknowledged, where that is known). Waiting:
 * pending in this process, unsent and in flight in the system's. rate: the system's measure of the line, bytes a second;
 * queue_us: how long bytes wait on the way for others before them; 0 if unknown. cpu_ns: processor time of this thread so far. */
struct compress_line { uint64_t drained, pending, unsent, inflight, rate, queue_us, cpu_ns, now_us; };
void compress_auto_line(struct compress_auto *a, const struct compress_line *l);
/* When it wants to hear of the line again at the latest, while bytes move. */
uint64_t compress_auto_line_due(const struct compress_auto *a);
/* How much may be pending in this process: little until something is known of the line. SIZE_MAX: no limit. */
size_t compress_auto_pending_max(const struct compress_auto *a);
/* How much shall go raw now, at about: less than SIZE_MAX while it asks the line with a burst. */
size_t compress_auto_raw_max(const struct compress_auto *a);
/* Bytes of payload that become about 16 on the line. */
size_t compress_auto_swell(const struct compress_auto *a);

/* What it would have where a receiver pays for the method even if nothing is packed (zlib@openssh.com): new keys without it, while
 * much flows raw; and with it again as soon as packing pays. It says so; that it is so now, set_without tells. Then no payload
 * is packed whatever the level is, and all that passes is told and asked for as before. */
bool compress_auto_wants_without(const struct compress_auto *a);
void compress_auto_set_without(struct compress_auto *a, bool without);

enum compress_limit { COMPRESS_LIMIT_LINE, COMPRESS_LIMIT_PROCESSOR, COMPRESS_LIMIT_OTHER, COMPRESS_LIMITS };
struct compress_shares {
	uint64_t level_us[COMPRESS_LEVELS + 1];  /* while bytes moved */
	uint64_t without_us;
	uint64_t limit_us[COMPRESS_LIMITS];
};
void compress_auto_shares(const struct compress_auto *a, struct compress_shares *out);

/* What it goes by now, for the log. */
struct compress_view { int level; bool gated; double line, cost_ns, rest, other_ns; };
void compress_auto_look(const struct compress_auto *a, struct compress_view *out);

#endif
