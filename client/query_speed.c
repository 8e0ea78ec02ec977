/* client/query_speed.c: ciphers and MACs by their speed, for people and for programs. Layer: client. */
#include "client/query_speed.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cipher.h"
#include "crypto/cpu.h"
#include "crypto/crypto.h"
#include "mac.h"
#include "seal.h"
#include "speed.h"
#include "version.h"

enum { TOTAL_US = 3000000, EACH_US_MAX = 100000 };

struct row {
	struct packet_suite suite;
	struct speed speed;
	bool measured;                   /* false: none with none, where nothing is done to the bytes */
};
struct table { struct row *v; size_t count; };

static const struct view none_name = { (const uint8_t *)"none", 4 };

/* ---- what is measured ---- */

static void table_add(struct table *t, const struct cipher_alg *c, const struct mac_alg *m)
{
	t->v = mem_resize(t->v, t->count + 1, sizeof(*t->v));
	t->v[t->count++] = (struct row){ .suite = { .cipher = c, .mac = m } };
}

static void add_cipher(struct table *t, const struct cipher_alg *c)
{
	const struct mac_alg *m;

	if (cipher_is_aead(c)) {
		table_add(t, c, NULL);
		return;
	}
	for (size_t i = 0; (m = mac_at(i)) != NULL; i++)
		table_add(t, c, m);
	if (c->mode == CIPHER_NONE)
		table_add(t, c, mac_find(none_name));
}

static void add_all(struct table *t)
{
	const struct cipher_alg *c;

	for (size_t i = 0; (c = cipher_at(i)) != NULL; i++)
		add_cipher(t, c);
	add_cipher(t, cipher_find(none_name));
}

static int measure(struct table *t, struct err *e)
{
	size_t each = TOTAL_US / t->count;

	for (size_t i = 0; i < t->count; i++) {
		struct row *r = &t->v[i];
		const struct packet_suite *s = &r->suite;

		r->measured = s->cipher->mode != CIPHER_NONE || s->mac->tag_size != 0;
		if (r->measured && speed_measure(s, (unsigned)(each < EACH_US_MAX ? each : EACH_US_MAX), &r->speed, e) < 0) {
			err_prefix(e, "%s: ", s->cipher->name);
			return ERR_CRYPTO;
		}
	}
	return 0;
}

/* The slower direction is what a copy is bounded by. */
static uint64_t slower_ns(const struct row *r)
{
	return r->speed.seal_ns > r->speed.open_ns ? r->speed.seal_ns : r->speed.open_ns;
}

static int compare_rows(const void *a, const void *b)
{
	uint64_t x = slower_ns(a), y = slower_ns(b);

	return x < y ? -1 : x > y;
}

/* ---- how it is shown ---- */

static double mb_per_s(uint64_t ns)
{
	return (double)SPEED_PAYLOAD * 1000 / (double)ns;
}

/* Names of features, each with `quote` around it. Allocated. */
static char *feature_names(uint32_t bits, const char *separator, const char *quote)
{
	struct str_list l = { 0 };
	char *joined;

	for (int f = 0; f < CPU_FEATURES; f++)
		if ((bits & CPU_BIT(f)) != 0)
			str_list_add_take(&l, str_printf("%s%s%s", quote, cpu_feature_name((enum cpu_feature)f), quote));
	joined = l.count > 0 ? str_list_join(&l, separator) : mem_strdup("");
	str_list_clear(&l);
	return joined;
}

static bool is_legacy(const struct packet_suite *s)
{
	return s->cipher->legacy || (s->mac != NULL && s->mac->legacy);
}

static const char *warning(const struct row *r)
{
	if (r->suite.cipher->mode == CIPHER_NONE)
		return r->measured ? "NOT ENCRYPTED" : "NOT ENCRYPTED, NOT AUTHENTICATED: nothing to do";
	return is_legacy(&r->suite) ? "legacy" : "";
}

static void print_text_row(const struct row *r)
{
	const struct packet_suite *s = &r->suite;
	char *hardware = feature_names(speed_hardware(s), "+", ""), *line;

	if (r->measured)
		line = str_printf("%8.0f %8.0f", mb_per_s(r->speed.seal_ns), mb_per_s(r->speed.open_ns));
	else
		line = str_printf("%8s %8s", "-", "-");
	printf("%s  %-29s  %-29s  ", line, s->cipher->name, s->mac != NULL ? s->mac->name : "-");
	printf(*warning(r) != '\0' ? "%-9s  %s\n" : "%s%s\n", *hardware != '\0' ? hardware : "-", warning(r));
	free(line);
	free(hardware);
}

static void print_text(const struct table *t)
{
	char *features = feature_names(cpu_features(), " ", "");

	printf("# MB/s (10^6 bytes) of one core, packets of %d KiB in memory; by the slower of sealing and opening\n"
		"# %s; processor: %s\n"
		"# hardware: instructions made for that purpose are used; MAC -: the cipher authenticates\n"
		"#   seal     open  %-29s  %-29s  hardware\n", SPEED_PAYLOAD / 1024, crypto_version(),
		*features != '\0' ? features : "no such instructions known", "cipher", "MAC");
	for (size_t i = 0; i < t->count; i++)
		print_text_row(&t->v[i]);
	free(features);
}

static const char *json_bool(bool b)
{
	return b ? "true" : "false";
}

/* Names of algorithms need no escapes. */
static void print_json_row(const struct row *r, const char *end)
{
	const struct packet_suite *s = &r->suite;
	char *hardware = feature_names(speed_hardware(s), ", ", "\"");

	printf("    {\"cipher\": \"%s\", \"mac\": ", s->cipher->name);
	printf(s->mac != NULL ? "\"%s\"" : "null", s->mac != NULL ? s->mac->name : "");
	if (r->measured)
		printf(", \"seal\": %.1f, \"open\": %.1f", mb_per_s(r->speed.seal_ns), mb_per_s(r->speed.open_ns));
	else
		printf(", \"seal\": null, \"open\": null");
	printf(", \"hardware\": [%s], \"encrypted\": %s, \"authenticated\": %s, \"legacy\": %s}%s\n", hardware,
		json_bool(s->cipher->mode != CIPHER_NONE), json_bool(r->measured), json_bool(is_legacy(s)), end);
	free(hardware);
}

static void print_json(const struct table *t)
{
	char *features = feature_names(cpu_features(), ", ", "\"");

	printf("{\n  \"program\": \"%s\",\n  \"libcrypto\": \"%s\",\n  \"processor\": [%s],\n  \"packet_bytes\": %d,\n"
		"  \"unit\": \"MB/s\",\n  \"results\": [\n", WS_IDENT, crypto_version(), features, SPEED_PAYLOAD);
	for (size_t i = 0; i < t->count; i++)
		print_json_row(&t->v[i], i + 1 < t->count ? "," : "");
	printf("  ]\n}\n");
	free(features);
}

int client_query_speed(const char *cipher, bool json, struct err *e)
{
	struct table t = { 0 };
	const struct cipher_alg *c = NULL;
	int rc;

	cipher_prepare_all();
	if (cipher != NULL) {
		c = cipher_find((struct view){ (const uint8_t *)cipher, strlen(cipher) });
		if (c == NULL)
			return err_set(e, ERR_USAGE, "no cipher \"%s\" is built in: ssh -Q cipher lists them", cipher);
		add_cipher(&t, c);
	} else {
		add_all(&t);
	}
	rc = measure(&t, e);
	if (rc == 0) {
		/* What needs no measure has 0 ns and comes first. */
		qsort(t.v, t.count, sizeof(*t.v), compare_rows);
		if (json)
			print_json(&t);
		else
			print_text(&t);
	}
	free(t.v);
	return rc;
}
