/* keys/openssh_key.c: the openssh-key-v1 file (OpenSSH's PROTOCOL.key). */
#include "keys/openssh_key.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "crypto/bcrypt_pbkdf.h"
#include "crypto/rand.h"
#include "keys/key_cipher.h"

#define BEGIN_LINE "-----BEGIN OPENSSH PRIVATE KEY-----\n"
#define END_LINE "-----END OPENSSH PRIVATE KEY-----\n"
#define MAGIC "openssh-key-v1"   /* with its NUL */
#define DEFAULT_CIPHER "aes256-ctr"

/* MAX_ROUNDS: a file that asks for more would keep a process busy for hours; nobody makes such files in earnest. */
enum { LINE_WIDTH = 70, SALT_SIZE = 16, DEFAULT_ROUNDS = 24, MAX_ROUNDS = 1 << 20, COMMENT_MAX = 64 * 1024 };

/* The outer blob, not decrypted. Views into the decoded bytes. */
struct container {
	struct view cipher_name, kdf_name, kdf_options, public_blob, sealed, tag;
	const struct key_cipher *cipher;
	bool encrypted;
	struct view salt;
	uint32_t rounds;
};

bool openssh_key_is(const char *text, size_t n)
{
	return n >= strlen(BEGIN_LINE) && strncmp(text, BEGIN_LINE, strlen(BEGIN_LINE)) == 0;
}

static int bad_format(struct err *e, const char *why)
{
	return err_set(e, ERR_PEER, "invalid format: %s", why);
}

/* The bytes between the lines. *data is allocated with room *size, of which *n are used. */
static int armour_decode(const char *text, size_t n, uint8_t **data, size_t *size, size_t *used, struct err *e)
{
	const char *body, *end;
	char *packed;
	size_t k = 0, body_size;
	long got;

	if (!openssh_key_is(text, n))
		return bad_format(e, "no OpenSSH private key");
	body = text + strlen(BEGIN_LINE);
	end = memmem(body, n - strlen(BEGIN_LINE), "\n" END_LINE, strlen("\n" END_LINE));
	if (end == NULL)
		return bad_format(e, "the END line is missing");
	body_size = (size_t)(end - body);
	packed = mem_try(body_size + 1);
	*size = body_size / 4 * 3 + 3;
	*data = mem_try(*size);
	if (packed == NULL || *data == NULL) {
		free(packed);
		free(*data);
		return err_set(e, ERR_MEMORY, "no memory for a private key");
	}
	for (size_t i = 0; i < body_size; i++)
		if (body[i] != '\n' && body[i] != '\r')
			packed[k++] = body[i];
	got = str_base64_decode(packed, k, *data);
	mem_free_secret(packed, body_size + 1);
	if (got < 0) {
		mem_free_secret(*data, *size);
		return bad_format(e, "bad base64");
	}
	*used = (size_t)got;
	return 0;
}

static int container_get_kdf(struct container *c, struct err *e)
{
	struct reader r;

	if (view_is(c->kdf_name, "none")) {
		if (c->kdf_options.n != 0 || c->cipher->mode != KEY_CIPHER_NONE)
			return bad_format(e, "a cipher without a key derivation");
		return 0;
	}
	if (!view_is(c->kdf_name, "bcrypt"))
		return bad_format(e, "unknown key derivation");
	if (c->cipher->mode == KEY_CIPHER_NONE)
		return bad_format(e, "a key derivation without a cipher");
	reader_init(&r, c->kdf_options.p, c->kdf_options.n);
	c->salt = reader_string(&r);
	c->rounds = reader_u32(&r);
	if (reader_end(&r, NULL, "kdf options") != 0 || c->salt.n == 0 || c->rounds == 0 || c->rounds > MAX_ROUNDS)
		return bad_format(e, "bad options of the key derivation");
	c->encrypted = true;
	return 0;
}

static int container_get(struct view bytes, struct container *c, struct err *e)
{
	struct reader r;
	uint32_t count;
	struct view magic;

	memset(c, 0, sizeof(*c));
	reader_init(&r, bytes.p, bytes.n);
	magic = reader_bytes(&r, sizeof(MAGIC));
	if (!reader_ok(&r) || !str_is(magic.p, magic.n - 1, MAGIC) || magic.p[magic.n - 1] != 0)
		return bad_format(e, "bad magic bytes");
	c->cipher_name = reader_string(&r);
	c->kdf_name = reader_string(&r);
	c->kdf_options = reader_string(&r);
	count = reader_u32(&r);
	c->public_blob = reader_string(&r);
	c->sealed = reader_string(&r);
	if (!reader_ok(&r))
		return bad_format(e, "cut short");
	if (count != 1)
		return bad_format(e, "not exactly one key");
	c->cipher = key_cipher_find(c->cipher_name);
	if (c->cipher == NULL)
		return bad_format(e, "unknown cipher");
	c->tag = reader_bytes(&r, c->cipher->tag_size);
	if (reader_end(&r, NULL, "private key file") != 0)
		return bad_format(e, "bytes after the end, or the tag is missing");
	if (c->sealed.n == 0 || c->sealed.n % c->cipher->block_size != 0)
		return bad_format(e, "the encrypted part is not whole blocks");
	return container_get_kdf(c, e);
}

static int derive(const struct key_cipher *c, const char *passphrase, struct view salt, uint32_t rounds,
	uint8_t secret[KEY_CIPHER_SECRET_MAX], struct err *e)
{
	struct view pass = { (const uint8_t *)passphrase, strlen(passphrase) };

	return bcrypt_pbkdf(pass, salt, rounds, secret, (size_t)c->key_size + c->iv_size, e);
}

/* sealed and tag lie side by side in bytes that are ours: decrypted where they are. */
static int container_decrypt(const struct container *c, const char *passphrase, struct err *e)
{
	uint8_t secret[KEY_CIPHER_SECRET_MAX];
	int rc;

	if (!c->encrypted)
		return 0;
	if (passphrase == NULL || *passphrase == '\0')
		return err_set(e, ERR_DENIED, "a passphrase is needed");
	rc = derive(c->cipher, passphrase, c->salt, c->rounds, secret, e);
	if (rc == 0)
		rc = key_cipher_open(c->cipher, secret, (uint8_t *)(uintptr_t)c->sealed.p, c->sealed.n, NULL);
	mem_wipe(secret, sizeof(secret));
	if (rc == ERR_CRYPTO && c->cipher->tag_size != 0)
		return err_set(e, ERR_DENIED, "incorrect passphrase supplied to decrypt private key");
	return rc == 0 ? 0 : err_set(e, rc, "the private key cannot be decrypted");
}

static bool padding_is_good(struct view pad, size_t block_size)
{
	if (pad.n >= block_size)
		return false;
	for (size_t i = 0; i < pad.n; i++)
		if (pad.p[i] != (uint8_t)(i + 1))
			return false;
	return true;
}

/* What was encrypted: the check pair, the key, its comment, padding. */
static int plain_get(const struct container *c, struct key **out, char **comment, struct err *e)
{
	uint32_t check1, check2;
	struct reader r;
	struct key *k;
	char *text;

	reader_init(&r, c->sealed.p, c->sealed.n);
	check1 = reader_u32(&r);
	check2 = reader_u32(&r);
	if (!reader_ok(&r) || check1 != check2)
		return c->encrypted ? err_set(e, ERR_DENIED, "incorrect passphrase supplied to decrypt private key") :
			bad_format(e, "the check numbers differ");
	k = key_get_private(&r, e);
	if (k == NULL)
		return ERR_PEER;
	text = reader_cstring(&r, COMMENT_MAX);
	if (text == NULL || !padding_is_good(reader_rest(&r), c->cipher->block_size)) {
		free(text);
		key_free(k);
		return bad_format(e, "bad comment or padding");
	}
	if (!view_equal(key_blob(k), c->public_blob)) {
		free(text);
		key_free(k);
		return bad_format(e, "the private key is not that of the public key");
	}
	*out = k;
	if (comment != NULL)
		*comment = text;
	else
		free(text);
	return 0;
}

int openssh_key_parse(const char *text, size_t n, const char *passphrase, struct key **out, char **comment, struct err *e)
{
	struct err inner = { 0 };
	struct container c;
	uint8_t *data;
	size_t size, used;
	int rc = armour_decode(text, n, &data, &size, &used, e);

	if (rc != 0)
		return rc;
	rc = container_get((struct view){ data, used }, &c, &inner);
	if (rc == 0)
		rc = container_decrypt(&c, passphrase, &inner);
	if (rc == 0)
		rc = plain_get(&c, out, comment, &inner);
	mem_free_secret(data, size);
	/* key_get_private tells a type that is not known to us from a broken key by the code it left. */
	return rc == 0 ? 0 : err_set(e, inner.code != 0 ? inner.code : rc, "%s", err_text(&inner));
}

int openssh_key_parse_public(const char *text, size_t n, struct key **out, struct err *e)
{
	struct err inner = { 0 };
	struct container c;
	uint8_t *data;
	size_t size, used;
	int rc = armour_decode(text, n, &data, &size, &used, e);

	if (rc != 0)
		return rc;
	rc = container_get((struct view){ data, used }, &c, &inner);
	if (rc == 0)
		*out = key_from_blob(c.public_blob, &inner);
	mem_free_secret(data, size);
	return inner.code == 0 ? 0 : err_set(e, inner.code, "%s", err_text(&inner));
}

static void armour_encode(const struct buf *bytes, struct buf *out)
{
	char *base64 = str_base64_encode(bytes->data, bytes->size);
	size_t n = strlen(base64);

	buf_put(out, BEGIN_LINE, strlen(BEGIN_LINE));
	for (size_t i = 0; i < n; i += LINE_WIDTH) {
		buf_put(out, base64 + i, n - i < LINE_WIDTH ? n - i : LINE_WIDTH);
		buf_put_u8(out, '\n');
	}
	buf_put(out, END_LINE, strlen(END_LINE));
	mem_free_string(base64);
}

static void plain_put(const struct key *k, const char *comment, size_t block_size, struct buf *out)
{
	uint32_t check = rand_u32();

	buf_put_u32(out, check);
	buf_put_u32(out, check);
	key_put_private(k, out);
	buf_put_cstring(out, comment != NULL ? comment : "");
	for (uint8_t pad = 1; buf_ok(out) && out->size % block_size != 0; pad++)
		buf_put_u8(out, pad);
}

/* Everything before the encrypted section. */
static void header_put(const struct key_cipher *cipher, struct view salt, uint32_t rounds, struct view blob, struct buf *out)
{
	size_t mark;

	buf_put(out, MAGIC, sizeof(MAGIC));
	buf_put_cstring(out, cipher->name);
	buf_put_cstring(out, cipher->mode == KEY_CIPHER_NONE ? "none" : "bcrypt");
	mark = buf_begin_string(out);
	if (cipher->mode != KEY_CIPHER_NONE) {
		buf_put_string(out, salt.p, salt.n);
		buf_put_u32(out, rounds);
	}
	buf_end_string(out, mark);
	buf_put_u32(out, 1);
	buf_put_string(out, blob.p, blob.n);
}

static int choose_cipher(const struct key_write_options *o, const struct key_cipher **out, struct err *e)
{
	const char *name = o->cipher != NULL ? o->cipher : DEFAULT_CIPHER;
	bool encrypt = o->passphrase != NULL && *o->passphrase != '\0';

	if (!encrypt)
		name = "none";
	*out = key_cipher_find((struct view){ (const uint8_t *)name, strlen(name) });
	if (*out == NULL || (encrypt && (*out)->mode == KEY_CIPHER_NONE))
		return err_set(e, ERR_USAGE, "a private key cannot be encrypted with cipher %s", name);
	if (encrypt && o->rounds > MAX_ROUNDS)
		return err_set(e, ERR_USAGE, "at most %d rounds", MAX_ROUNDS);
	return 0;
}

int openssh_key_write(const struct key *k, const struct key_write_options *o, struct buf *out, struct err *e)
{
	uint8_t salt[SALT_SIZE], secret[KEY_CIPHER_SECRET_MAX], *tag;
	struct buf plain = BUF_INIT(BUF_LIMIT_DEFAULT), bytes = BUF_INIT(BUF_LIMIT_DEFAULT);
	struct view salt_view = { salt, sizeof(salt) };
	uint32_t rounds = o->rounds != 0 ? o->rounds : DEFAULT_ROUNDS;
	const struct key_cipher *cipher;
	int rc = choose_cipher(o, &cipher, e);

	if (rc != 0)
		return rc;
	rand_bytes(salt, sizeof(salt));
	header_put(cipher, salt_view, rounds, key_blob(k), &bytes);
	plain_put(k, o->comment, cipher->block_size, &plain);
	buf_put_u32(&bytes, (uint32_t)plain.size);
	tag = buf_reserve(&plain, cipher->tag_size);
	if (!buf_ok(&plain) || tag == NULL) {
		rc = err_set(e, ERR_USAGE, "this key cannot be written to a private key file");
	} else if (cipher->mode != KEY_CIPHER_NONE) {
		rc = derive(cipher, o->passphrase, salt_view, rounds, secret, e);
		if (rc == 0)
			rc = key_cipher_seal(cipher, secret, plain.data, plain.size - cipher->tag_size, e);
	}
	buf_put(&bytes, plain.data, plain.size);
	if (rc == 0)
		armour_encode(&bytes, out);
	if (rc == 0 && (!buf_ok(&bytes) || !buf_ok(out)))
		rc = err_set(e, ERR_MEMORY, "no memory for a private key file");
	mem_wipe(secret, sizeof(secret));
	buf_free(&plain);
	buf_free(&bytes);
	return rc;
}
