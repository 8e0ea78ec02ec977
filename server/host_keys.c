/* server/host_keys.c: loading, handing over and using host keys. */
#include "server/host_keys.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "keys/key_file.h"

enum { SECRET_MAX = 64 * 1024 };

int host_keys_add(struct host_keys *k, struct key *private_key)
{
	struct host_key *h = &k->v[k->count];

	if (k->count == HOST_KEYS_MAX)
		return ERR_MEMORY;
	*h = (struct host_key){ .secret = BUF_INIT(SECRET_MAX) };
	h->public_key = key_from_blob(key_blob(private_key), NULL);
	key_put_private(private_key, &h->secret);
	if (h->public_key == NULL || !buf_ok(&h->secret)) {
		key_free(h->public_key);
		buf_free(&h->secret);
		return ERR_USAGE;
	}
	h->private_key = key_ref(private_key);
	k->count++;
	return 0;
}

static bool same_kind_there(const struct host_keys *k, const struct key *key)
{
	for (size_t i = 0; i < k->count; i++)
		if (strcmp(key_type_name(k->v[i].public_key), key_type_name(key)) == 0)
			return true;
	return false;
}

static void load_one(struct host_keys *k, const char *path, bool is_default)
{
	struct err e = { 0 };
	struct key *key = NULL;
	int rc = key_private_load(path, NULL, &key, NULL, &e);

	if (rc < 0) {
		if (is_default && rc == ERR_IO)
			log_debug("no host key %s: %s", path, err_text(&e));
		else if (rc == ERR_DENIED)
			log_error("host key %s is ignored: %s", path, err_text(&e));
		else
			log_error("Unable to load host key \"%s\": %s", path, err_text(&e));
		return;
	}
	if (same_kind_there(k, key))
		log_debug("host key %s is ignored: there is one of type %s already", path, key_type_name(key));
	else if (host_keys_add(k, key) < 0)
		log_error("host key %s cannot be used", path);
	key_free(key);
}

size_t host_keys_load(struct host_keys *k, const struct str_list *paths, bool are_defaults)
{
	for (size_t i = 0; i < paths->count; i++)
		load_one(k, paths->v[i], are_defaults);
	return k->count;
}

void host_keys_clear(struct host_keys *k)
{
	for (size_t i = 0; i < k->count; i++) {
		key_free(k->v[i].public_key);
		key_free(k->v[i].private_key);
		buf_free(&k->v[i].secret);
	}
	k->count = 0;
}

void host_keys_put(const struct host_keys *k, struct buf *out)
{
	buf_put_u32(out, (uint32_t)k->count);
	for (size_t i = 0; i < k->count; i++) {
		struct view blob = key_blob(k->v[i].public_key);

		buf_put_string(out, blob.p, blob.n);
		buf_put_buf_string(out, &k->v[i].secret);
	}
}

int host_keys_get(struct reader *r, struct host_keys *out, struct err *e)
{
	uint32_t n = reader_u32(r);

	memset(out, 0, sizeof(*out));
	if (!reader_ok(r) || n > HOST_KEYS_MAX)
		return err_set(e, ERR_PEER, "malformed host keys");
	for (uint32_t i = 0; i < n; i++) {
		struct host_key *h = &out->v[i];
		struct view blob = reader_string(r), secret = reader_string(r);

		if (!reader_ok(r) || (h->public_key = key_from_blob(blob, e)) == NULL) {
			host_keys_clear(out);
			return err_set(e, ERR_PEER, "malformed host key");
		}
		h->secret = BUF_INIT(SECRET_MAX);
		buf_put(&h->secret, secret.p, secret.n);
		out->count = i + 1;
	}
	return 0;
}

static void add_algs_of(const struct key *key, const char *allowed, struct str_list *names)
{
	const struct sig_alg *alg;

	/* -Q order has the weaker RSA hashes first; the KEXINIT wants them last. */
	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; (alg = sig_alg_at(i)) != NULL; i++)
			if (sig_alg_fits(alg, key) && (alg->hash == DIGEST_SHA512 || pass > 0) && (!alg->legacy || pass > 1) &&
			    str_names_has(allowed, alg->name, strlen(alg->name)) && !str_list_has(names, alg->name))
				str_list_add(names, alg->name);
}

char *host_keys_algorithms(const struct host_keys *k, const char *allowed)
{
	struct str_list names = { 0 };
	char *joined;

	for (int first = 1; first >= 0; first--)
		for (size_t i = 0; i < k->count; i++)
			if ((key_type(k->v[i].public_key) == KEY_ED25519) == (first == 1))
				add_algs_of(k->v[i].public_key, allowed, &names);
	joined = names.count > 0 ? str_list_join(&names, ",") : mem_strdup("");
	str_list_clear(&names);
	return joined;
}

int host_keys_find_blob(const struct host_keys *k, struct view blob)
{
	for (size_t i = 0; i < k->count; i++)
		if (view_equal(key_blob(k->v[i].public_key), blob))
			return (int)i;
	return -1;
}

int host_keys_sign(struct host_keys *k, int at, const struct sig_alg *alg, struct view message, struct buf *out,
	struct err *e)
{
	struct host_key *h = &k->v[at];

	if (h->private_key == NULL) {
		struct reader r;

		reader_init(&r, h->secret.data, h->secret.size);
		h->private_key = key_get_private(&r, e);
		if (h->private_key == NULL)
			return ERR_CRYPTO;
	}
	if (!sig_alg_fits(alg, h->private_key))
		return err_set(e, ERR_USAGE, "the host key does not make %s signatures", alg->name);
	return key_sign(h->private_key, alg, message, out, e);
}
