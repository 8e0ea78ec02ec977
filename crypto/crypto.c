/* crypto/crypto.c: what is fetched from libcrypto, once a process. */
#include "crypto/crypto.h"

#include <stddef.h>
#include <string.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include "base/err.h"
#include "base/mem.h"
#include "crypto/digest.h"
#include "crypto/libcrypto.h"
#include "crypto/rand.h"

struct md_row { enum digest_alg alg; const char *name; EVP_MD *md; };
struct cipher_row { const char *name; EVP_CIPHER *cipher; };
struct mac_row { const char *name; EVP_MAC *mac; };

/* Fetched objects are never freed: they live as long as the process. Written by crypto_init and crypto_load_legacy only
 * (libcrypto.h). */
static struct md_row md_rows[] = {
	{ DIGEST_MD5, "MD5", NULL },
	{ DIGEST_SHA1, "SHA1", NULL },
	{ DIGEST_SHA256, "SHA256", NULL },
	{ DIGEST_SHA384, "SHA384", NULL },
	{ DIGEST_SHA512, "SHA512", NULL },
};

static struct cipher_row cipher_rows[] = {
	{ "AES-128-GCM", NULL }, { "AES-256-GCM", NULL },
	{ "AES-128-CTR", NULL }, { "AES-192-CTR", NULL }, { "AES-256-CTR", NULL },
	{ "AES-128-CBC", NULL }, { "AES-192-CBC", NULL }, { "AES-256-CBC", NULL },
	{ "AES-128-ECB", NULL },
	{ "DES-EDE3-CBC", NULL },
	{ "ChaCha20", NULL },
};

/* Of the legacy provider. */
static struct cipher_row legacy_rows[] = {
	{ "BF-CBC", NULL }, { "CAST5-CBC", NULL }, { "RC4", NULL },
};

static struct mac_row mac_rows[] = {
	{ "HMAC", NULL },
	{ "POLY1305", NULL },
};

static bool started, have_digests, have_ciphers;
static enum { LEGACY_NOT_ASKED, LEGACY_LOADED, LEGACY_MISSING } legacy;
static struct err legacy_why;            /* LEGACY_MISSING */

/* Encrypted PEM files name their cipher and hash in ways that libcrypto looks up in its old tables: those that programs write,
 * and have written. What is fetched later knows its identifiers only when they are there before it. */
static void register_names(void)
{
	const EVP_CIPHER *const ciphers[] = { EVP_aes_128_cbc(), EVP_aes_192_cbc(), EVP_aes_256_cbc(), EVP_des_ede3_cbc(),
		EVP_des_cbc(),
#ifndef OPENSSL_NO_CAMELLIA
		EVP_camellia_128_cbc(), EVP_camellia_192_cbc(), EVP_camellia_256_cbc(),
#endif
	};
	const EVP_MD *const hashes[] = { EVP_md5(), EVP_sha1(), EVP_sha224(), EVP_sha256(), EVP_sha384(), EVP_sha512() };

	for (size_t i = 0; i < MEM_COUNT(ciphers); i++)
		(void)EVP_add_cipher(ciphers[i]);
	for (size_t i = 0; i < MEM_COUNT(hashes); i++)
		(void)EVP_add_digest(hashes[i]);
}

/* libcrypto fills two tables at its first use that cost every process of a connection more than a millisecond and some 80 KB: the
 * texts of all its reasons, and all names for lookups other than fetches. The configuration file (FIPS) is read as ever. */
static void start(void)
{
	if (started)
		return;
	started = true;
	(void)OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS | OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
		OPENSSL_INIT_NO_ADD_ALL_DIGESTS, NULL);
	register_names();
}

static void fetch_digests(void)
{
	if (have_digests)
		return;
	start();
	for (size_t i = 0; i < MEM_COUNT(md_rows); i++)
		md_rows[i].md = EVP_MD_fetch(NULL, md_rows[i].name, NULL);
	/* What is missing left its reasons in the queue; they would be blamed on the next failure. */
	ERR_clear_error();
	have_digests = true;
}

/* The first of them makes libcrypto build objects for all the ciphers it has. */
static void fetch_ciphers(void)
{
	if (have_ciphers)
		return;
	start();
	for (size_t i = 0; i < MEM_COUNT(cipher_rows); i++)
		cipher_rows[i].cipher = EVP_CIPHER_fetch(NULL, cipher_rows[i].name, NULL);
	for (size_t i = 0; i < MEM_COUNT(mac_rows); i++)
		mac_rows[i].mac = EVP_MAC_fetch(NULL, mac_rows[i].name, NULL);
	ERR_clear_error();
	have_ciphers = true;
}

void crypto_init(void)
{
	if (have_digests && have_ciphers)
		return;
	fetch_digests();
	fetch_ciphers();
	rand_prepare();
}

void crypto_init_signing(void)
{
	if (have_digests)
		return;
	fetch_digests();
	rand_prepare();
}

bool crypto_is_fips(void)
{
	start();
	return EVP_default_properties_is_fips_enabled(NULL) == 1;
}

static int load_providers(struct err *e)
{
	/* A system that asks for FIPS, or that switched the default provider off, is not talked out of it. */
	if (crypto_is_fips())
		return err_set(e, ERR_CRYPTO, "libcrypto runs in FIPS mode");
	if (OSSL_PROVIDER_available(NULL, "default") != 1)
		return err_set(e, ERR_CRYPTO, "libcrypto's default provider is not in use here");
	/* Never unloaded: what is fetched from them lives as long as the process. */
	if (OSSL_PROVIDER_load(NULL, "default") == NULL)
		return libcrypto_error(e, "libcrypto's default provider cannot be loaded");
	if (OSSL_PROVIDER_load(NULL, "legacy") == NULL)
		return libcrypto_error(e, "libcrypto's legacy provider cannot be loaded");
	return 0;
}

int crypto_load_legacy(struct err *e)
{
	crypto_init();
	if (legacy == LEGACY_NOT_ASKED) {
		legacy = load_providers(&legacy_why) < 0 ? LEGACY_MISSING : LEGACY_LOADED;
		for (size_t i = 0; legacy == LEGACY_LOADED && i < MEM_COUNT(legacy_rows); i++)
			legacy_rows[i].cipher = EVP_CIPHER_fetch(NULL, legacy_rows[i].name, NULL);
		ERR_clear_error();
	}
	return legacy == LEGACY_LOADED ? 0 : err_set(e, ERR_CRYPTO, "%s", legacy_why.text);
}

void crypto_load_no_more(void)
{
	if (legacy != LEGACY_NOT_ASKED)
		return;
	legacy = LEGACY_MISSING;
	(void)err_set(&legacy_why, ERR_CRYPTO, "libcrypto's legacy provider was not loaded at the start");
}

bool crypto_is_legacy(const char *cipher_name)
{
	for (size_t i = 0; i < MEM_COUNT(legacy_rows); i++)
		if (strcmp(legacy_rows[i].name, cipher_name) == 0)
			return true;
	return false;
}

const EVP_MD *libcrypto_md(enum digest_alg alg)
{
	crypto_init_signing();
	for (size_t i = 0; i < MEM_COUNT(md_rows); i++)
		if (md_rows[i].alg == alg)
			return md_rows[i].md;
	return NULL;
}

const EVP_CIPHER *libcrypto_cipher(const char *name)
{
	crypto_init();
	for (size_t i = 0; i < MEM_COUNT(cipher_rows); i++)
		if (strcmp(cipher_rows[i].name, name) == 0)
			return cipher_rows[i].cipher;
	for (size_t i = 0; i < MEM_COUNT(legacy_rows); i++)
		if (strcmp(legacy_rows[i].name, name) == 0)
			return legacy_rows[i].cipher;
	return NULL;
}

EVP_MAC *libcrypto_mac(const char *name)
{
	crypto_init();
	for (size_t i = 0; i < MEM_COUNT(mac_rows); i++)
		if (strcmp(mac_rows[i].name, name) == 0)
			return mac_rows[i].mac;
	return NULL;
}

bool crypto_has_digest(enum digest_alg alg)
{
	return libcrypto_md(alg) != NULL;
}

bool crypto_has_cipher(const char *name)
{
	return libcrypto_cipher(name) != NULL;
}

bool crypto_has_mac(const char *name)
{
	return libcrypto_mac(name) != NULL;
}

const char *crypto_version(void)
{
	return OpenSSL_version(OPENSSL_VERSION);
}

int libcrypto_error(struct err *e, const char *what)
{
	/* The first entry is the cause, later ones say who passed it on. */
	unsigned long code = ERR_get_error();
	const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;

	ERR_clear_error();
	if (code == 0)
		return err_set(e, ERR_CRYPTO, "%s", what);
	if (reason == NULL)      /* "openssl errstr" puts it into words */
		return err_set(e, ERR_CRYPTO, "%s: libcrypto error %lX", what, code);
	return err_set(e, ERR_CRYPTO, "%s: %s", what, reason);
}
