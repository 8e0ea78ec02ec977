/* The file of what ciphers cost: speed_memory_parse, speed_memory_text, speed_memory_get, preference_ciphers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "client/speed_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the file says, nothing comes into the lists that was not there, and nothing is lost. */
static void use(const struct preference *p)
{
	static const char ciphers[] = "aes128-ctr,aes256-ctr,chacha20-poly1305@openssh.com", macs[] = "hmac-sha1,umac-64@openssh.com";
	char *c = preference_ciphers(p, ciphers, macs), *m = preference_macs(p, macs);

	if (strlen(c) != strlen(ciphers) || strlen(m) != strlen(macs) || strstr(c, "aes256-ctr") == NULL ||
	    strstr(c, "aes128-ctr") == NULL || strstr(m, "hmac-sha1") == NULL)
		abort();
	free(c);
	free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t machine[SPEED_MEMORY_MACHINE] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa,
		0xbb, 0xcc, 0xdd, 0xee, 0xff };
	struct preference p = { .count = 0 };
	struct speed_memory m, again;
	char *text, *second;

	log_set_level(LOG_LEVEL_QUIET);
	if (speed_memory_parse(&m, (const char *)data, size, NULL) != 0) {
		if (m.count != 0 || m.v != NULL)
			abort();
		return 0;
	}
	speed_memory_get(&m, machine, &p);
	use(&p);
	/* What was read is written so that it reads the same. */
	text = speed_memory_text(&m);
	if (speed_memory_parse(&again, text, strlen(text), NULL) != 0)
		abort();
	second = speed_memory_text(&again);
	if (strcmp(text, second) != 0)
		abort();
	speed_memory_put(&m, machine, &p);
	if (m.count > SPEED_MEMORY_LINES_MAX)
		abort();
	free(text);
	free(second);
	speed_memory_clear(&m);
	speed_memory_clear(&again);
	return 0;
}
