/* platform/ttymodes.h: terminal modes on the wire (RFC 4254 section 8) and in a struct termios. */
#ifndef PLATFORM_TTYMODES_H
#define PLATFORM_TTYMODES_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

struct termios;

enum { TTYMODES_MAX = 512 };     /* bytes that ttymodes_encode needs at most */

/* The modes of t as an opcode list, TTY_OP_END included. Returns its size. Disabled characters are 255. */
size_t ttymodes_encode(const struct termios *t, uint8_t out[TTYMODES_MAX]);
/* The modes of the terminal fd; only TTY_OP_END when it is none. */
size_t ttymodes_encode_fd(int fd, uint8_t out[TTYMODES_MAX]);
/* Puts an opcode list into *t. Opcodes which this system lacks are skipped; 160 to 255 end the list (RFC 4254 section 8).
 * ERR_PEER if it is cut short; *t then holds what came before. */
int ttymodes_decode(const uint8_t *p, size_t n, struct termios *t, struct err *e) MUST_USE;
/* The same to the terminal fd. */
int ttymodes_apply_fd(int fd, const uint8_t *p, size_t n, struct err *e) MUST_USE;

#endif
