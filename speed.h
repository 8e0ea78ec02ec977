/* speed.h: how fast one core seals and opens packets, measured in memory. Part of the engine; the only I/O is the clock. */
#ifndef SPEED_H
#define SPEED_H

#include <stdint.h>
#include "base/err.h"
#include "seal.h"

enum { SPEED_PAYLOAD = 32 * 1024 };      /* bytes in a packet */

/* Of one packet with SPEED_PAYLOAD bytes: three in four took as long or longer, so that what else the machine does matters
 * little. */
struct speed { uint64_t seal_ns, open_ns; };

/* Measures for about budget_us, but three packets at least. */
int speed_measure(const struct packet_suite *suite, unsigned budget_us, struct speed *out, struct err *e) MUST_USE;
/* Bits of crypto/cpu.h: instructions of this processor that were made for what the suite does. */
uint32_t speed_hardware(const struct packet_suite *suite);

#endif
