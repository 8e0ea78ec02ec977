/* client/speed_memory.h: what ciphers and MACs cost on the machines where this user was, so that CipherPreference fastest
 * measures once and not for every connection. Layer: client.
 *
 * $XDG_CACHE_HOME/wirespeed/speeds, or ~/.cache/wirespeed/speeds, mode 0600: a head line, then lines of machine, name and
 * nanoseconds. A machine is a hash of what decides the figures: processor, libcrypto and this program's version; home
 * folders are shared between machines. A cache: it decides about order only, and without it all works as well. */
#ifndef CLIENT_SPEED_MEMORY_H
#define CLIENT_SPEED_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "preference.h"

enum {
	SPEED_MEMORY_MACHINE = 16,       /* bytes */
	SPEED_MEMORY_LINES_MAX = 512,
	SPEED_MEMORY_FILE_MAX = 64 * 1024
};

struct speed_line { uint8_t machine[SPEED_MEMORY_MACHINE]; struct preference_cost cost; };
/* The file as it was read; embedded, zero-initialised is empty. */
struct speed_memory { struct speed_line *v; size_t count; };

void speed_memory_clear(struct speed_memory *m);
/* Text of a file; ERR_PEER and empty if there is anything wrong with it. */
int speed_memory_parse(struct speed_memory *m, const char *text, size_t n, struct err *e) MUST_USE;
/* The same as text; allocated. */
char *speed_memory_text(const struct speed_memory *m);
/* Adds to p what m knows of this machine. */
void speed_memory_get(const struct speed_memory *m, const uint8_t machine[SPEED_MEMORY_MACHINE], struct preference *p);
/* Puts p first, in place of what was known of this machine; the oldest lines are dropped. */
void speed_memory_put(struct speed_memory *m, const uint8_t machine[SPEED_MEMORY_MACHINE], const struct preference *p);
/* This machine with its libcrypto and this program. */
void speed_memory_machine(uint8_t out[SPEED_MEMORY_MACHINE]);

/* Both lists by speed, allocated: from the file, or measured now and put into the file. home: for the cache's path, NULL:
 * nothing is kept. What goes wrong is a debug line. */
void speed_memory_order(const char *home, const char *ciphers, const char *macs, char **cipher_order, char **mac_order);

#endif
