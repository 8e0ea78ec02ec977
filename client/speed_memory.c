/* client/speed_memory.c: the file of what ciphers and MACs cost. Layer: client. */
#include "client/speed_memory.h"

#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/own_file.h"
#include "base/str.h"
#include "crypto/cpu.h"
#include "crypto/crypto.h"
#include "crypto/digest.h"
#include "version.h"
#include "wire/buf.h"

#define HEAD "wirespeed-speeds 1"

enum {
	HEX = 2 * SPEED_MEMORY_MACHINE,
	LINE_MAX_BYTES = HEX + 1 + PREFERENCE_NAME_MAX + 1 + 10
};

void speed_memory_clear(struct speed_memory *m)
{
	free(m->v);
	*m = (struct speed_memory){ .count = 0 };
}

/* ---- the file ---- */

/* "machine name nanoseconds", cut up in place. */
static bool take_line(struct speed_line *out, char *line)
{
	char *machine = strsep(&line, " "), *name = strsep(&line, " "), *ns = line;
	struct preference one = { .count = 0 };
	uint64_t cost;

	if (name == NULL || ns == NULL || !str_unhex(machine, out->machine, SPEED_MEMORY_MACHINE) ||
	    str_to_u64(ns, 1, UINT32_MAX, &cost) < 0 || !preference_put(&one, name, cost))
		return false;
	out->cost = one.v[0];
	return true;
}

static bool add_line(void *ctx, char *line)
{
	struct speed_memory *m = ctx;

	if (m->count == SPEED_MEMORY_LINES_MAX || !take_line(&m->v[m->count], line))
		return false;
	m->count++;
	return true;
}

int speed_memory_parse(struct speed_memory *m, const char *text, size_t n, struct err *e)
{
	char line[LINE_MAX_BYTES];
	size_t bad;

	*m = (struct speed_memory){ .count = 0 };
	if (str_next_line(&text, &n, line, sizeof(line)) != 1 || strcmp(line, HEAD) != 0)
		return err_set(e, ERR_PEER, "not a file of this kind and version");
	m->v = mem_array(SPEED_MEMORY_LINES_MAX, sizeof(*m->v));
	bad = str_each_line(text, n, (struct str_line_room){ line, sizeof(line) }, add_line, m);
	if (bad == 0)
		return 0;
	err_set(e, ERR_PEER, "line %zu is not understood", bad + 1);
	speed_memory_clear(m);
	return ERR_PEER;
}

char *speed_memory_text(const struct speed_memory *m)
{
	struct buf b = BUF_INIT(SPEED_MEMORY_FILE_MAX * 2);
	char *text;

	buf_printf(&b, HEAD "\n");
	for (size_t i = 0; i < m->count; i++) {
		char *hex = str_hex(m->v[i].machine, SPEED_MEMORY_MACHINE);

		buf_printf(&b, "%s %s %lu\n", hex, m->v[i].cost.name, (unsigned long)m->v[i].cost.ns);
		free(hex);
	}
	text = mem_strndup((const char *)b.data, b.size);
	buf_free(&b);
	return text;
}

/* ---- what is in it ---- */

static bool is_of(const struct speed_line *l, const uint8_t machine[SPEED_MEMORY_MACHINE])
{
	return memcmp(l->machine, machine, SPEED_MEMORY_MACHINE) == 0;
}

void speed_memory_get(const struct speed_memory *m, const uint8_t machine[SPEED_MEMORY_MACHINE], struct preference *p)
{
	for (size_t i = 0; i < m->count; i++)
		if (is_of(&m->v[i], machine))
			(void)preference_put(p, m->v[i].cost.name, m->v[i].cost.ns);
}

void speed_memory_put(struct speed_memory *m, const uint8_t machine[SPEED_MEMORY_MACHINE], const struct preference *p)
{
	struct speed_line *new = mem_array(SPEED_MEMORY_LINES_MAX, sizeof(*new));
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++) {
		memcpy(new[count].machine, machine, SPEED_MEMORY_MACHINE);
		new[count++].cost = p->v[i];
	}
	for (size_t i = 0; i < m->count && count < SPEED_MEMORY_LINES_MAX; i++)
		if (!is_of(&m->v[i], machine))
			new[count++] = m->v[i];
	free(m->v);
	*m = (struct speed_memory){ .v = new, .count = count };
}
_Static_assert((int)PREFERENCE_COSTS_MAX <= (int)SPEED_MEMORY_LINES_MAX, "one machine fits");

void speed_memory_machine(uint8_t out[SPEED_MEMORY_MACHINE])
{
	char *text = str_printf("%s\n%s\n%s", WS_IDENT, crypto_version(), cpu_settings());
	uint8_t hash[DIGEST_MAX] = { 0 };

	if (digest_bytes(DIGEST_SHA256, text, strlen(text), hash) < 0)
		memset(hash, 0, sizeof(hash));
	memcpy(out, hash, SPEED_MEMORY_MACHINE);
	free(text);
}

/* ---- in use ---- */

static void load(struct speed_memory *m, const char *path)
{
	struct err e = { 0 };
	char *text = NULL;
	size_t n = 0;

	*m = (struct speed_memory){ .count = 0 };
	if (own_file_read(path, SPEED_MEMORY_FILE_MAX, &text, &n, &e) < 0 || speed_memory_parse(m, text, n, &e) < 0)
		log_debug2("speeds of ciphers %s: %s", path, err_text(&e));
	free(text);
}

static void store(struct speed_memory *m, const uint8_t machine[SPEED_MEMORY_MACHINE], const struct preference *p,
	const char *path)
{
	struct err e = { 0 };
	char *text;

	speed_memory_put(m, machine, p);
	text = speed_memory_text(m);
	if (own_file_replace(path, text, &e) < 0)
		log_debug2("speeds of ciphers %s are not kept: %s", path, err_text(&e));
	free(text);
}

void speed_memory_order(const char *home, const char *ciphers, const char *macs, char **cipher_order, char **mac_order)
{
	char *path = own_file_cache_path(home, "speeds");
	struct speed_memory m = { .count = 0 };
	struct preference p = { .count = 0 };
	uint8_t machine[SPEED_MEMORY_MACHINE];
	uint64_t start = clock_mono_us();

	speed_memory_machine(machine);
	if (path != NULL) {
		load(&m, path);
		speed_memory_get(&m, machine, &p);
	}
	if (preference_measure(&p, ciphers, macs)) {
		log_debug("CipherPreference fastest: measured in %.1f ms", (double)(clock_mono_us() - start) / 1000);
		if (path != NULL)
			store(&m, machine, &p, path);
	}
	*cipher_order = preference_ciphers(&p, ciphers, macs);
	*mac_order = preference_macs(&p, macs);
	log_debug("CipherPreference fastest: %s; %s", *cipher_order, *mac_order);
	speed_memory_clear(&m);
	free(path);
}
