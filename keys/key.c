/* keys/key.c: SSH keys over crypto/pkey: types, wire form, reference counting. */
#include "keys/key.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "keys/key_impl.h"

enum { RSA_DEFAULT_BITS = 3072, RSA_MIN_BITS = 1024, RSA_MAX_BITS = 16384, ECDSA_DEFAULT_BITS = 256 };

struct key {
	unsigned refs;
	const struct key_impl *impl;
	struct pkey *pkey;
	struct buf blob;
};

static const struct key_impl impls[] = {
	{ "ssh-ed25519", "ED25519", NULL, KEY_ED25519, PKEY_ED25519, 256, &key_shape_ed25519 },
	{ "ecdsa-sha2-nistp256", "ECDSA", "nistp256", KEY_ECDSA, PKEY_ECDSA_P256, 256, &key_shape_ecdsa },
	{ "ecdsa-sha2-nistp384", "ECDSA", "nistp384", KEY_ECDSA, PKEY_ECDSA_P384, 384, &key_shape_ecdsa },
	{ "ecdsa-sha2-nistp521", "ECDSA", "nistp521", KEY_ECDSA, PKEY_ECDSA_P521, 521, &key_shape_ecdsa },
	{ "ssh-rsa", "RSA", NULL, KEY_RSA, PKEY_RSA, 0, &key_shape_rsa }
};

const struct key_impl *key_impl_find(struct view name)
{
	for (size_t i = 0; i < MEM_COUNT(impls); i++)
		if (view_is(name, impls[i].name))
			return &impls[i];
	return NULL;
}

static const struct key_impl *impl_of_kind(enum pkey_kind kind)
{
	for (size_t i = 0; i < MEM_COUNT(impls); i++)
		if (impls[i].kind == kind)
			return &impls[i];
	return NULL;
}

struct key *key_ref(struct key *k)
{
	k->refs++;
	return k;
}

void key_free(struct key *k)
{
	if (k == NULL || --k->refs > 0)
		return;
	pkey_free(k->pkey);
	buf_free(&k->blob);
	free(k);
}

struct key *key_from_pkey(struct pkey *pkey, struct err *e)
{
	const struct key_impl *impl = impl_of_kind(pkey_kind(pkey));
	struct pkey_export x;
	struct key *k;

	if (impl == NULL) {
		pkey_free(pkey);
		err_set(e, ERR_NONE_FOUND, "a key of a kind that has no SSH name");
		return NULL;
	}
	if (pkey_export(pkey, false, &x, e) != 0) {
		pkey_free(pkey);
		return NULL;
	}
	k = mem_zalloc(sizeof(*k));
	k->refs = 1;
	k->impl = impl;
	k->pkey = pkey;
	buf_init(&k->blob, BUF_LIMIT_DEFAULT);
	buf_put_cstring(&k->blob, impl->name);
	impl->shape->put_public(impl, &x.parts, &k->blob);
	pkey_export_free(&x);
	if (!buf_ok(&k->blob)) {
		err_set(e, ERR_MEMORY, "no memory for a public key");
		key_free(k);
		return NULL;
	}
	return k;
}

const struct pkey *key_pkey(const struct key *k)
{
	return k->pkey;
}

enum key_type key_type(const struct key *k)
{
	return k->impl->type;
}

const char *key_type_name(const struct key *k)
{
	return k->impl->name;
}

const char *key_display_name(const struct key *k)
{
	return k->impl->display;
}

unsigned key_bits(const struct key *k)
{
	return k->impl->bits != 0 ? k->impl->bits : pkey_bits(k->pkey);
}

bool key_is_private(const struct key *k)
{
	return pkey_is_private(k->pkey);
}

/* Ed25519 has one size: any number is fine, as elsewhere. */
static const struct key_impl *impl_of_bits(enum key_type type, unsigned *bits, struct err *e)
{
	if (*bits == 0)
		*bits = type == KEY_RSA ? RSA_DEFAULT_BITS : ECDSA_DEFAULT_BITS;
	if (type == KEY_RSA && (*bits < RSA_MIN_BITS || *bits > RSA_MAX_BITS)) {
		err_set(e, ERR_USAGE, "Invalid RSA key length: valid lengths are %d to %d bits", RSA_MIN_BITS, RSA_MAX_BITS);
		return NULL;
	}
	for (size_t i = 0; i < MEM_COUNT(impls); i++)
		if (impls[i].type == type && (type != KEY_ECDSA || impls[i].bits == *bits))
			return &impls[i];
	err_set(e, ERR_USAGE, "Invalid ECDSA key length: valid lengths are 256, 384 or 521 bits");
	return NULL;
}

int key_check_bits(enum key_type type, unsigned bits, struct err *e)
{
	return impl_of_bits(type, &bits, e) != NULL ? 0 : ERR_USAGE;
}

struct key *key_generate(enum key_type type, unsigned bits, struct err *e)
{
	const struct key_impl *impl = impl_of_bits(type, &bits, e);
	struct pkey *pkey = impl != NULL ? pkey_generate(impl->kind, bits, e) : NULL;

	return pkey != NULL ? key_from_pkey(pkey, e) : NULL;
}

struct view key_blob(const struct key *k)
{
	return (struct view){ k->blob.data, k->blob.size };
}

/* By the name in a blob; NULL and the reason. */
static const struct key_impl *impl_wanted(struct view name, struct err *e)
{
	const struct key_impl *impl = key_impl_find(name);
	char *shown;

	if (impl != NULL)
		return impl;
	shown = str_escape_log(name.p, name.n, 64);
	err_set(e, ERR_NONE_FOUND, "key type %s is not known", shown);
	free(shown);
	return NULL;
}

struct key *key_from_blob(struct view blob, struct err *e)
{
	struct pkey_parts parts = { 0 };
	const struct key_impl *impl;
	struct pkey *pkey;
	struct reader r;
	struct view name;

	reader_init(&r, blob.p, blob.n);
	name = reader_string(&r);
	if (!reader_ok(&r)) {
		err_set(e, ERR_PEER, "a key blob without a type name");
		return NULL;
	}
	impl = impl_wanted(name, e);
	if (impl == NULL)
		return NULL;
	if (impl->shape->get_public(impl, &r, &parts, e) != 0 || reader_end(&r, e, "public key") != 0)
		return NULL;
	pkey = pkey_import(impl->kind, &parts, e);
	return pkey != NULL ? key_from_pkey(pkey, e) : NULL;
}

bool key_equal_public(const struct key *a, const struct key *b)
{
	return view_equal(key_blob(a), key_blob(b));
}

void key_put_private(const struct key *k, struct buf *out)
{
	struct pkey_export x;

	if (!key_is_private(k) || pkey_export(k->pkey, true, &x, NULL) != 0) {
		out->failed = true;
		return;
	}
	buf_put_cstring(out, k->impl->name);
	k->impl->shape->put_private(k->impl, &x.parts, out);
	pkey_export_free(&x);
}

struct key *key_get_private(struct reader *r, struct err *e)
{
	struct pkey_parts parts = { 0 };
	const struct key_impl *impl;
	struct view name = reader_string(r);
	struct pkey *pkey;

	if (!reader_ok(r)) {
		err_set(e, ERR_PEER, "a private key without a type name");
		return NULL;
	}
	impl = impl_wanted(name, e);
	if (impl == NULL)
		return NULL;
	if (impl->shape->get_private(impl, r, &parts, e) != 0)
		return NULL;
	pkey = pkey_import(impl->kind, &parts, e);
	return pkey != NULL ? key_from_pkey(pkey, e) : NULL;
}

char *key_public_line(const struct key *k)
{
	char *base64 = str_base64_encode(k->blob.data, k->blob.size);
	char *line = str_printf("%s %s", k->impl->name, base64);

	free(base64);
	return line;
}
