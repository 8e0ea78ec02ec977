/* regress/unit/keys/test_key_file.c: private key files of every format, made by others and by us; files on disk. */
#include "keys/key_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "key_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct { const char *file, *pub, *comment; bool encrypted; } files[] = {
	{ "ed25519", "ed25519", "test ed25519", false }, { "ecdsa256", "ecdsa256", "test ecdsa256", false },
	{ "ecdsa384", "ecdsa384", "test ecdsa384", false }, { "ecdsa521", "ecdsa521", "test ecdsa521", false },
	{ "rsa", "rsa", "test rsa", false }, { "rsa_pem", "rsa", "", false }, { "rsa_pem_enc", "rsa", "", true },
	{ "ecdsa384_pem", "ecdsa384", "", false }, { "ecdsa256_pkcs8", "ecdsa256", "", false },
	{ "rsa_pkcs8_enc", "rsa", "", true }, { "ed25519_pkcs8", NULL, "", false },
	{ "enc_aes128-ctr", "ed25519", "test ed25519", true }, { "enc_aes192-ctr", "ed25519", "test ed25519", true },
	{ "enc_aes256-ctr", "ed25519", "test ed25519", true }, { "enc_aes128-cbc", "ed25519", "test ed25519", true },
	{ "enc_aes192-cbc", "ed25519", "test ed25519", true }, { "enc_aes256-cbc", "ed25519", "test ed25519", true },
	{ "enc_aes128-gcm", "ed25519", "test ed25519", true }, { "enc_aes256-gcm", "ed25519", "test ed25519", true },
	{ "enc_chacha20-poly1305", "ed25519", "test ed25519", true }, { "enc_3des-cbc", "ed25519", "test ed25519", true }
};

static int parse(const char *text, size_t n, const char *passphrase, struct key **k, char **comment)
{
	struct err e = { 0 };
	int rc = key_private_parse(text, n, passphrase, k, comment, &e);

	assert_int_equal(e.code, rc);
	assert_true((rc == 0) == (*k != NULL));
	return rc;
}

static void test_read_others(void **state)
{
	for (size_t i = 0; i < MEM_COUNT(files); i++) {
		struct key *k, *pub;
		char *text, *comment;
		size_t n;

		text = data_read(files[i].file, &n);
		if (files[i].encrypted) {
			assert_int_equal(parse(text, n, NULL, &k, NULL), ERR_DENIED);
			assert_int_equal(parse(text, n, "", &k, NULL), ERR_DENIED);
			assert_int_equal(parse(text, n, "open sesamE", &k, &comment), ERR_DENIED);
		}
		assert_int_equal(parse(text, n, files[i].encrypted ? DATA_PASSPHRASE : NULL, &k, &comment), 0);
		assert_true(key_is_private(k));
		assert_string_equal(comment, files[i].comment);
		if (files[i].pub != NULL) {
			pub = data_public(files[i].pub);
			assert_true(key_equal_public(k, pub));
			key_free(pub);
		}
		free(comment);
		key_free(k);
		free(text);
	}
}

/* A passphrase that is not needed does no harm. */
static void test_needless_passphrase(void **state)
{
	size_t n;
	char *text = data_read("ed25519", &n);
	struct key *k;

	assert_int_equal(parse(text, n, "whatever", &k, NULL), 0);
	key_free(k);
	free(text);
}

static const char *const ciphers[] = {
	NULL, "aes128-ctr", "aes192-ctr", "aes256-ctr", "aes128-cbc", "aes192-cbc", "aes256-cbc", "aes128-gcm@openssh.com",
	"aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com", "3des-cbc"
};

static void test_write_read(void **state)
{
	static const char *const kinds[] = { "ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa" };

	for (size_t i = 0; i < MEM_COUNT(kinds) * MEM_COUNT(ciphers); i++) {
		struct key_write_options o = { .passphrase = "p", .comment = kinds[i % MEM_COUNT(kinds)], .rounds = 1,
			.cipher = ciphers[i / MEM_COUNT(kinds)] };
		struct key *k = data_private(kinds[i % MEM_COUNT(kinds)]), *again;
		struct buf out = BUF_INIT(1 << 20);
		struct err e = { 0 };
		char *comment;

		if (i < MEM_COUNT(kinds))
			o.passphrase = i % 2 == 0 ? NULL : "";
		assert_int_equal(key_private_write(k, &o, &out, &e), 0);
		assert_true(str_starts(buf_cstr(&out), "-----BEGIN OPENSSH PRIVATE KEY-----\n"));
		assert_true(str_ends(buf_cstr(&out), "\n-----END OPENSSH PRIVATE KEY-----\n"));
		assert_int_equal(parse((char *)out.data, out.size, o.passphrase, &again, &comment), 0);
		assert_true(key_equal_public(k, again) && key_is_private(again));
		assert_string_equal(comment, o.comment);
		key_free(again);
		free(comment);
		if (i >= MEM_COUNT(kinds))
			assert_int_equal(parse((char *)out.data, out.size, "q", &again, NULL), ERR_DENIED);
		buf_free(&out);
		key_free(k);
	}
}

static void test_write_pem(void **state)
{
	static const struct { const char *file; int format; const char *begin; } cases[] = {
		{ "rsa", KEY_FORMAT_PEM, "-----BEGIN RSA PRIVATE KEY-----\n" },
		{ "ecdsa521", KEY_FORMAT_PEM, "-----BEGIN EC PRIVATE KEY-----\n" },
		{ "rsa", KEY_FORMAT_PKCS8, "-----BEGIN PRIVATE KEY-----\n" },
		{ "ed25519", KEY_FORMAT_PKCS8, "-----BEGIN PRIVATE KEY-----\n" }
	};

	for (size_t i = 0; i < 2 * MEM_COUNT(cases); i++) {
		bool encrypt = i >= MEM_COUNT(cases);
		struct key_write_options o = { .passphrase = encrypt ? "12345" : NULL, .comment = "lost",
			.format = cases[i % MEM_COUNT(cases)].format };
		struct key *k = data_private(cases[i % MEM_COUNT(cases)].file), *again;
		struct buf out = BUF_INIT(1 << 20);

		assert_int_equal(key_private_write(k, &o, &out, NULL), 0);
		if (!encrypt)
			assert_true(str_starts(buf_cstr(&out), cases[i].begin));
		else
			assert_int_equal(parse((char *)out.data, out.size, NULL, &again, NULL), ERR_DENIED);
		assert_int_equal(parse((char *)out.data, out.size, o.passphrase, &again, NULL), 0);
		assert_true(key_equal_public(k, again));
		key_free(again);
		key_free(k);
		buf_free(&out);
	}
}

static void test_write_refused(void **state)
{
	struct key *k = data_private("ed25519"), *pub = data_public("rsa"), *rsa = data_private("rsa");
	struct key_write_options o = { .format = KEY_FORMAT_PEM };
	struct buf out = BUF_INIT(1 << 20);
	struct err e = { 0 };

	assert_int_equal(key_private_write(k, &o, &out, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "invalid format"));
	assert_int_equal(key_private_write(pub, &o, &out, NULL), ERR_USAGE);
	/* Too short for these formats. */
	o.passphrase = "1234";
	assert_true(key_private_write(rsa, &o, &out, NULL) != 0);
	o = (struct key_write_options){ .passphrase = "p", .cipher = "aes128" };
	assert_int_equal(key_private_write(k, &o, &out, NULL), ERR_USAGE);
	o.cipher = "none";
	assert_int_equal(key_private_write(k, &o, &out, NULL), ERR_USAGE);
	o = (struct key_write_options){ .passphrase = "p", .rounds = 0x7fffffff };
	assert_int_equal(key_private_write(k, &o, &out, NULL), ERR_USAGE);
	assert_int_equal(out.size, 0);
	buf_free(&out);
	key_free(k);
	key_free(pub);
	key_free(rsa);
}

/* The armour: what is tolerated and what not. */
static void test_armour(void **state)
{
	static const char begin[] = "-----BEGIN OPENSSH PRIVATE KEY-----\n", end[] = "-----END OPENSSH PRIVATE KEY-----\n";
	size_t n;
	char *text = data_read("ed25519", &n), *body, *s;
	struct key *k;
	int rc;

	body = mem_strndup(text + strlen(begin), n - strlen(begin) - strlen(end) - 1);
	const struct { const char *before, *between, *after; bool good; } cases[] = {
		{ begin, "\n", end, true }, { begin, "\r\n", end, true }, { begin, "\n\n\r\n", end, true },
		{ begin, "\n", "-----END OPENSSH PRIVATE KEY-----\nmore\n", true },
		{ begin, "\n", "-----END OPENSSH PRIVATE KEY-----", false },
		{ begin, "\n", "-----END OPENSSH PRIVATE KEY-----\r\n", false },
		{ "-----BEGIN OPENSSH PRIVATE KEY-----\r\n", "\n", end, false },
		{ "\n-----BEGIN OPENSSH PRIVATE KEY-----\n", "\n", end, false },
		{ begin, "", end, false }, { begin, " \n", end, false }, { begin, "AAAA\n", end, false }, { begin, "=\n", end, false }
	};
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		s = str_printf("%s%s%s%s", cases[i].before, body, cases[i].between, cases[i].after);
		rc = parse(s, strlen(s), NULL, &k, NULL);
		assert_int_equal(rc, cases[i].good ? 0 : ERR_PEER);
		key_free(k);
		free(s);
	}
	free(body);
	free(text);
}

/* A file with each byte of its blob damaged in turn never gives a key that is another. */
static void damaged(const char *file, const char *passphrase, size_t step)
{
	static const char begin[] = "-----BEGIN OPENSSH PRIVATE KEY-----\n", end[] = "-----END OPENSSH PRIVATE KEY-----\n";
	size_t n, used = 0;
	char *text = data_read(file, &n), *flat = mem_alloc(n), *s;
	uint8_t *bytes = mem_alloc(n);
	struct key *k, *pub = data_public("ed25519");
	const uint8_t *kdf;
	long size, rounds = -4;

	for (const char *p = text + strlen(begin); p < text + n - strlen(end); p++)
		if (*p != '\n')
			flat[used++] = *p;
	size = str_base64_decode(flat, used, bytes);
	assert_true(size > 0);
	/* More rounds would only take longer. They stand behind "bcrypt", the length of the options and a salt of 16. */
	kdf = memmem(bytes, (size_t)size, "bcrypt", 6);
	if (kdf != NULL)
		rounds = kdf + 6 + 4 + 4 + 16 - bytes;
	for (long i = 0; i < size; i += (long)step) {
		if (i >= rounds && i < rounds + 4)
			continue;
		bytes[i] ^= 0x21;
		s = str_base64_encode(bytes, (size_t)size);
		bytes[i] ^= 0x21;
		free(flat);
		flat = str_printf("%s%s\n%s", begin, s, end);
		free(s);
		/* The comment and, without a tag, parts that nothing covers may change; the key may not. */
		if (parse(flat, strlen(flat), passphrase, &k, NULL) == 0) {
			assert_true(key_equal_public(k, pub));
			key_free(k);
		}
	}
	for (long i = 0; i < size; i += 3) {
		s = str_base64_encode(bytes, (size_t)i);
		free(flat);
		flat = str_printf("%s%s\n%s", begin, s, end);
		free(s);
		assert_true(parse(flat, strlen(flat), passphrase, &k, NULL) != 0);
	}
	key_free(pub);
	free(bytes);
	free(flat);
	free(text);
}

/* Parts that agree with themselves, but not with each other. */
static void test_inconsistent(void **state)
{
	static const char begin[] = "-----BEGIN OPENSSH PRIVATE KEY-----\n", end[] = "\n-----END OPENSSH PRIVATE KEY-----\n";
	struct key *k, *own = data_private("ed25519"), *other = key_generate(KEY_ED25519, 0, NULL);
	struct buf b = BUF_INIT(4096);
	size_t n, pub, used = 0;
	char *text = data_read("ed25519", &n), *s;
	uint8_t *at;

	assert_int_equal(key_blob(own).n, key_blob(other).n);
	for (int i = 0; i < 5; i++) {
		char *flat = mem_alloc(n);

		used = 0;
		for (const char *p = text + strlen(begin); p < text + n - strlen(end); p++)
			if (*p != '\n')
				flat[used++] = *p;
		buf_reset(&b);
		at = buf_reserve(&b, used / 4 * 3);
		b.size = (size_t)str_base64_decode(flat, used, at);
		free(flat);
		at = memmem(b.data, b.size, key_blob(own).p, key_blob(own).n);
		pub = (size_t)(at - b.data);
		switch (i) {
		case 1: b.data[b.size - 1]++; break;                             /* padding */
		case 2: memcpy(b.data + pub, key_blob(other).p, key_blob(other).n); break;
		case 3: b.data[pub - 5] = 2; break;                              /* number of keys */
		case 4: b.data[pub + key_blob(own).n + 4] ^= 1; break;           /* first check number */
		default: break;
		}
		s = str_base64_encode(b.data, b.size);
		flat = str_printf("%s%s%s", begin, s, end);
		free(s);
		assert_int_equal(parse(flat, strlen(flat), NULL, &k, NULL), i == 0 ? 0 : ERR_PEER);
		key_free(k);
		free(flat);
	}
	buf_free(&b);
	free(text);
	key_free(own);
	key_free(other);
}

static void test_damaged(void **state)
{
	damaged("ed25519", NULL, 1);
	damaged("enc_aes256-gcm", DATA_PASSPHRASE, 3);
	damaged("enc_aes128-cbc", DATA_PASSPHRASE, 3);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & (S_IFMT | 0777);
}

static void test_save(void **state)
{
	char *dir = data_temp_dir(), *path = str_printf("%s/key", dir), *link = str_printf("%s/link", dir), *line, *text, *comment;
	struct key_write_options o = { .comment = "saved" };
	struct key *k = data_private("ecdsa521"), *again;
	struct buf b = BUF_INIT(4096);
	size_t n;

	umask(077);
	assert_int_equal(key_public_save(path, k, "a comment", NULL), 0);
	assert_int_equal(mode_of(path), S_IFREG | 0600);
	umask(0);
	assert_int_equal(key_public_save(path, k, NULL, NULL), 0);
	assert_int_equal(mode_of(path), S_IFREG | 0644);
	line = key_public_line(k);
	assert_int_equal(path_read_file(path, 4096, &text, &n, NULL), 0);
	assert_memory_equal(text, line, strlen(line));
	assert_string_equal(text + strlen(line), "\n");
	free(text);
	/* Over the public one, through a symbolic link, which stays one. */
	assert_int_equal(symlink("key", link), 0);
	assert_int_equal(key_private_save(link, k, &o, NULL), 0);
	umask(022);
	assert_int_equal(mode_of(link) & S_IFMT, S_IFLNK);
	assert_int_equal(mode_of(path), S_IFREG | 0600);
	assert_int_equal(key_private_load(path, NULL, &again, &comment, NULL), 0);
	assert_true(key_equal_public(k, again));
	assert_string_equal(comment, "saved");
	free(comment);
	key_free(again);
	/* A failure leaves the file as it was. */
	o.format = KEY_FORMAT_PEM;
	o.passphrase = "1234";
	assert_true(key_private_save(path, k, &o, NULL) != 0);
	assert_int_equal(key_private_load(path, NULL, &again, NULL, NULL), 0);
	key_free(again);
	assert_int_equal(key_private_save("/no/such/folder/key", k, &(struct key_write_options){ 0 }, NULL), ERR_IO);
	assert_int_equal(key_public_save("/dev/full", k, "", NULL), ERR_IO);
	assert_int_equal(key_public_save("/dev/null", k, "", NULL), 0);
	assert_int_equal(mode_of("/dev/null") & S_IFMT, S_IFCHR);
	buf_free(&b);
	free(line);
	free(link);
	free(path);
	key_free(k);
	data_remove_dir(dir);
}

static void test_not_keys(void **state)
{
	static const char *const bad[] = {
		"", "\n", "-----BEGIN OPENSSH PRIVATE KEY-----\n", "-----BEGIN RSA PRIVATE KEY-----\n", "garbage",
		"-----BEGIN OPENSSH PRIVATE KEY-----\n\n-----END OPENSSH PRIVATE KEY-----\n"
	};
	struct key *k;
	char *text;
	size_t n;

	for (size_t i = 0; i < MEM_COUNT(bad); i++)
		assert_int_equal(parse(bad[i], strlen(bad[i]), NULL, &k, NULL), ERR_PEER);
	text = data_read("ed25519.pub", &n);
	assert_int_equal(parse(text, n, NULL, &k, NULL), ERR_PEER);
	free(text);
	/* A curve that SSH has no name for. */
	text = data_read("other_pkcs8", &n);
	assert_int_equal(parse(text, n, NULL, &k, NULL), ERR_PEER);
	free(text);
}

static void write_file(const char *path, const char *text, size_t n, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void count_line(void *ctx, enum log_level level, const char *text)
{
	assert_int_equal(level, LOG_LEVEL_ERROR);
	(*(int *)ctx)++;
}

static void test_load(void **state)
{
	char *dir = data_temp_dir(), *path = str_printf("%s/key", dir), *text, *comment;
	struct err e = { 0 };
	struct key *k;
	int logged = 0;
	size_t n;

	log_to_sink(count_line, &logged);

	text = data_read("enc_aes256-ctr", &n);
	assert_int_equal(key_private_load(path, NULL, &k, &comment, &e), ERR_IO);
	assert_non_null(strstr(e.text, "No such file"));
	write_file(path, text, n, 0600);
	assert_int_equal(key_private_load(path, NULL, &k, NULL, NULL), ERR_DENIED);
	assert_int_equal(key_private_load(path, DATA_PASSPHRASE, &k, &comment, NULL), 0);
	assert_string_equal(comment, "test ed25519");
	free(comment);
	key_free(k);
	chmod(path, 0640);
	err_clear(&e);
	assert_int_equal(key_private_load(path, DATA_PASSPHRASE, &k, NULL, &e), ERR_USAGE);
	assert_string_equal(e.text, "bad permissions");
	assert_int_equal(logged, 5);
	assert_null(k);
	chmod(dir, 0700);
	err_clear(&e);
	assert_int_equal(key_private_load(dir, NULL, &k, NULL, &e), ERR_IO);
	log_to_stderr();
	free(text);
	free(path);
	data_remove_dir(dir);
}

static void load_public(const char *path, int rc, const char *pub, const char *comment)
{
	struct err e = { 0 };
	struct key *k, *want;
	char *have;

	assert_int_equal(key_public_load(path, &k, &have, &e), rc);
	assert_int_equal(e.code, rc);
	if (rc != 0) {
		assert_null(k);
		return;
	}
	want = data_public(pub);
	assert_true(key_equal_public(k, want) && !key_is_private(k));
	assert_string_equal(have, comment);
	free(have);
	key_free(want);
	key_free(k);
}

static void test_public_load(void **state)
{
	char *dir = data_temp_dir(), *path = str_printf("%s/key", dir), *beside = str_printf("%s/key.pub", dir), *text, *two;
	size_t n;

	load_public(path, ERR_IO, NULL, NULL);
	/* Only FILE.pub. */
	text = data_read("rsa.pub", &n);
	write_file(beside, text, n, 0644);
	load_public(path, 0, "rsa", "test rsa");
	/* FILE is a private key: FILE.pub still comes first; then the public part inside. */
	free(text);
	text = data_read("enc_aes256-ctr", &n);
	write_file(path, text, n, 0600);
	load_public(path, 0, "rsa", "test rsa");
	unlink(beside);
	load_public(path, 0, "ed25519", "");
	free(text);
	text = data_read("ed25519", &n);
	write_file(path, text, n, 0600);
	load_public(path, 0, "ed25519", "test ed25519");
	free(text);
	/* PEM tells nothing. */
	text = data_read("rsa_pem", &n);
	write_file(path, text, n, 0600);
	load_public(path, ERR_PEER, NULL, NULL);
	free(text);
	/* FILE is a public key file: the first line that is one; no comment becomes the name. */
	text = data_read("ecdsa256.pub", &n);
	text[strcspn(text, "=") + 1] = '\0';
	two = str_printf("# a comment\n\nnonsense\n%s\n%s", text, text);
	write_file(path, two, strlen(two), 0644);
	load_public(path, 0, "ecdsa256", path);
	assert_int_equal(rename(path, beside), 0);
	load_public(path, 0, "ecdsa256", beside);
	unlink(beside);
	free(two);
	two = str_printf("-----BEGIN\n%s\n", text);
	write_file(path, two, strlen(two), 0644);
	load_public(path, ERR_PEER, NULL, NULL);
	free(two);
	free(text);
	free(path);
	free(beside);
	data_remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_others), cmocka_unit_test(test_needless_passphrase), cmocka_unit_test(test_write_read),
		cmocka_unit_test(test_write_pem), cmocka_unit_test(test_write_refused), cmocka_unit_test(test_armour),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_inconsistent), cmocka_unit_test(test_not_keys), cmocka_unit_test(test_load), cmocka_unit_test(test_save),
		cmocka_unit_test(test_public_load)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
