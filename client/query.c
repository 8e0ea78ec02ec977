/* client/query.c: what this build can do, by name. Layer: client. */
#include "client/query.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cipher.h"
#include "client/query_speed.h"
#include "keys/key.h"
#include "mac.h"
#include "proposal.h"

enum list { LIST_CIPHER, LIST_AEAD, LIST_MAC, LIST_KEX, LIST_KEY, LIST_CERT, LIST_SIG, LIST_CA, LIST_VERSION,
	LIST_COMPRESSION, LIST_SPEED, LIST_SPEED_JSON, LIST_HELP };

static const struct { const char *name; enum list list; bool shown; } queries[] = {
	{ "cipher", LIST_CIPHER, true }, { "Ciphers", LIST_CIPHER, false }, { "cipher-auth", LIST_AEAD, true },
	{ "compression", LIST_COMPRESSION, true }, { "kex", LIST_KEX, true }, { "KexAlgorithms", LIST_KEX, false },
	{ "key", LIST_KEY, true }, { "key-cert", LIST_CERT, true }, { "key-plain", LIST_KEY, true },
	{ "key-ca-sign", LIST_CA, false }, { "CASignatureAlgorithms", LIST_CA, false }, { "key-sig", LIST_SIG, true },
	{ "mac", LIST_MAC, true }, { "MACs", LIST_MAC, false }, { "protocol-version", LIST_VERSION, true },
	{ "sig", LIST_SIG, true }, { "speed", LIST_SPEED, true },
	{ "speed=json", LIST_SPEED_JSON, true }, { "PubkeyAcceptedAlgorithms", LIST_SIG, false },
	{ "PubkeyAcceptedKeyTypes", LIST_SIG, false }, { "HostKeyAlgorithms", LIST_SIG, false },
	{ "HostbasedKeyTypes", LIST_SIG, false }, { "HostbasedAcceptedKeyTypes", LIST_SIG, false },
	{ "HostbasedAcceptedAlgorithms", LIST_SIG, false }, { "help", LIST_HELP, false },
};

static void print_ciphers(bool aead_only)
{
	const struct cipher_alg *c;

	cipher_prepare_all();
	for (size_t i = 0; (c = cipher_at(i)) != NULL; i++)
		if (!aead_only || cipher_is_aead(c))
			puts(c->name);
}

static void print_macs(void)
{
	const struct mac_alg *m;

	for (size_t i = 0; (m = mac_at(i)) != NULL; i++)
		puts(m->name);
}

/* Key types are the names inside public blobs: each once. */
static void print_sigs(bool key_names, bool legacy)
{
	struct str_list seen = { 0 };
	const struct sig_alg *a;

	for (size_t i = 0; (a = sig_alg_at(i)) != NULL; i++) {
		const char *name = key_names ? a->key_name : a->name;

		if (str_list_has(&seen, name) || (a->legacy && !legacy))
			continue;
		str_list_add(&seen, name);
		puts(name);
	}
	str_list_clear(&seen);
}

static void print_kex(void)
{
	const char *k;

	for (size_t i = 0; (k = proposal_kex_at(i)) != NULL; i++)
		puts(k);
}

static void print_help(void)
{
	for (size_t i = 0; i < MEM_COUNT(queries); i++)
		if (queries[i].shown)
			puts(queries[i].name);
}

static void print_list(enum list list)
{
	switch (list) {
	case LIST_CIPHER: print_ciphers(false); break;
	case LIST_AEAD: print_ciphers(true); break;
	case LIST_MAC: print_macs(); break;
	case LIST_KEX: print_kex(); break;
	case LIST_KEY: print_sigs(true, true); break;
	case LIST_CERT: break;
	case LIST_SIG: print_sigs(false, true); break;
	case LIST_CA: print_sigs(false, false); break;
	case LIST_VERSION: puts("2"); break;
	case LIST_COMPRESSION: puts("none\nzlib@openssh.com"); break;
	case LIST_HELP: print_help(); break;
	case LIST_SPEED: case LIST_SPEED_JSON: break;
	}
}

int client_query_print(const char *what, const char *argument, struct err *e)
{
	for (size_t i = 0; i < MEM_COUNT(queries); i++) {
		if (strcmp(queries[i].name, what) != 0)
			continue;
		if (queries[i].list == LIST_SPEED || queries[i].list == LIST_SPEED_JSON)
			return client_query_speed(argument, queries[i].list == LIST_SPEED_JSON, e);
		print_list(queries[i].list);
		return 0;
	}
	return err_set(e, ERR_USAGE, "Unsupported query \"%s\"", what);
}
