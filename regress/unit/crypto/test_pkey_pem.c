/* PEM both ways, and keys and signatures of the stock ssh-keygen (skipped when it is not there). */
#include "crypto/pkey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#define TEXT(s) ((struct view){ (const uint8_t *)(s), sizeof(s) - 1 })
#define PASS "correct horse"

static char dir[] = "/tmp/test_pkey_pem.XXXXXX";

/* Exit status of a line for sh; the working folder is the private one. */
static int shell(const char *line)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) == NULL || chdir(dir) != 0 ? -1 : 0;
}

static int remove_dir(void **state)
{
	(void)state;
	return shell("rm -f k* o* s*") != 0 || chdir("/") != 0 ? -1 : rmdir(dir);
}

static void run(const char *fmt, ...) PRINTF_LIKE(1, 2);
static void run(const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (shell(line) != 0)
		fail_msg("%s", line);
}

static bool have_ssh_keygen(void)
{
	return shell("command -v ssh-keygen >/dev/null 2>&1") == 0;
}

static struct pkey *read_pem(const char *text, const char *pass, int *code)
{
	struct err e = { 0 };
	struct pkey *k = pkey_pem_read(text, strlen(text), pass, &e);

	*code = e.code;
	assert_true((k == NULL) == (e.code != 0));
	return k;
}

static void assert_same_key(const struct pkey *a, const struct pkey *b)
{
	struct buf sig = BUF_INIT(8192);
	struct err e = { 0 };

	assert_int_equal(pkey_kind(a), pkey_kind(b));
	assert_true(pkey_is_private(a) && pkey_is_private(b));
	assert_int_equal(pkey_sign(a, DIGEST_SHA256, TEXT("x"), &sig, &e), 0);
	assert_int_equal(pkey_verify(b, DIGEST_SHA256, TEXT("x"), (struct view){ sig.data, sig.size }), 0);
	buf_free(&sig);
}

static void write_and_read(void **state)
{
	(void)state;
	for (enum pkey_kind kind = PKEY_RSA; kind <= PKEY_ED25519; kind++) {
		struct err e = { 0 };
		struct pkey *k = pkey_generate(kind, 1024, &e), *back;
		int code;

		for (int pkcs8 = 0; pkcs8 < 2; pkcs8++) {
			struct buf open = BUF_INIT(65536), closed = BUF_INIT(65536);

			err_clear(&e);
			if (kind == PKEY_ED25519 && !pkcs8) {
				assert_int_equal(pkey_pem_write(k, false, NULL, &open, &e), ERR_USAGE);
				continue;
			}
			assert_int_equal(pkey_pem_write(k, pkcs8, NULL, &open, &e), 0);
			assert_non_null(strstr(buf_cstr(&open), pkcs8 ? "BEGIN PRIVATE KEY" :
				kind == PKEY_RSA ? "BEGIN RSA PRIVATE KEY" : "BEGIN EC PRIVATE KEY"));
			back = read_pem(buf_cstr(&open), NULL, &code);
			assert_non_null(back);
			assert_same_key(k, back);
			pkey_free(back);

			assert_int_equal(pkey_pem_write(k, pkcs8, PASS, &closed, &e), 0);
			assert_non_null(strstr(buf_cstr(&closed), pkcs8 ? "BEGIN ENCRYPTED PRIVATE KEY" :
				"DEK-Info: AES-128-CBC,"));
			back = read_pem(buf_cstr(&closed), PASS, &code);
			assert_non_null(back);
			assert_same_key(k, back);
			pkey_free(back);
			assert_null(read_pem(buf_cstr(&closed), NULL, &code));
			assert_int_equal(code, ERR_DENIED);
			assert_null(read_pem(buf_cstr(&closed), "wrong horse", &code));
			assert_int_equal(code, ERR_DENIED);
			assert_null(read_pem(buf_cstr(&closed), "", &code));
			assert_int_equal(code, ERR_DENIED);
			buf_free(&open);
			buf_free(&closed);
		}
		pkey_free(k);
	}
}

static void passphrases(void **state)
{
	struct err e = { 0 };
	struct pkey *k = pkey_generate(PKEY_ECDSA_P256, 0, &e), *back;
	struct buf out = BUF_INIT(65536), tiny = BUF_INIT(20);
	char longest[1025];
	int code;

	(void)state;
	assert_int_equal(pkey_pem_write(k, true, "1234", &out, &e), ERR_USAGE);
	assert_int_equal(pkey_pem_write(k, false, "1", &out, NULL), ERR_USAGE);
	assert_int_equal(out.size, 0);
	assert_int_equal(pkey_pem_write(k, true, "", &out, NULL), 0);            /* empty: not encrypted */
	back = read_pem(buf_cstr(&out), "unneeded", &code);
	assert_non_null(back);
	pkey_free(back);
	assert_int_equal(pkey_pem_write(k, true, NULL, &tiny, NULL), ERR_MEMORY);
	/* longer than libcrypto's buffer: a refusal, no overflow */
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	buf_reset(&out);
	assert_int_equal(pkey_pem_write(k, true, PASS, &out, NULL), 0);
	assert_null(read_pem(buf_cstr(&out), longest, &code));
	assert_int_equal(code, ERR_DENIED);
	pkey_free(k);
	buf_free(&out);
	buf_free(&tiny);
}

static void damaged(void **state)
{
	struct err e = { 0 };
	struct pkey *k = pkey_generate(PKEY_ECDSA_P256, 0, &e);
	struct buf out = BUF_INIT(65536);
	int code;

	(void)state;
	assert_int_equal(pkey_pem_write(k, false, NULL, &out, &e), 0);
	for (size_t n = 0; n + 2 < out.size; n++) {
		char *cut = mem_strndup((const char *)out.data, n);

		assert_null(read_pem(cut, NULL, &code));
		assert_int_equal(code, ERR_PEER);
		free(cut);
	}
	assert_null(read_pem("", NULL, &code));
	assert_null(read_pem("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", NULL, &code));
	assert_int_equal(code, ERR_PEER);
	/* a passphrase was at hand, so it is said to be wrong */
	assert_null(read_pem("rubbish", PASS, &code));
	assert_int_equal(code, ERR_DENIED);
	pkey_free(k);
	buf_free(&out);
}

static char *slurp(const char *name)
{
	char *path = str_printf("%s/%s", dir, name), *data;
	struct err e = { 0 };
	size_t n;

	if (path_read_file(path, 65536, &data, &n, &e) != 0)
		fail_msg("%s", err_text(&e));
	free(path);
	return data;
}

static const struct { const char *type, *bits; enum pkey_kind kind; } stock[] = {
	{ "rsa", "2048", PKEY_RSA }, { "ecdsa", "256", PKEY_ECDSA_P256 }, { "ecdsa", "384", PKEY_ECDSA_P384 },
	{ "ecdsa", "521", PKEY_ECDSA_P521 }, { "ed25519", "256", PKEY_ED25519 },
};

static void stock_pem_files(void **state)
{
	(void)state;
	if (!have_ssh_keygen())
		skip();
	for (size_t i = 0; i < MEM_COUNT(stock); i++) {
		for (int form = 0; form < 4; form++) {
			const char *m = form & 1 ? "PKCS8" : "PEM", *pass = form & 2 ? PASS : "";
			char *text, *name;
			struct pkey *k;
			int code;

			if (stock[i].kind == PKEY_ED25519 && !(form & 1))
				continue;
			name = str_printf("k%zu%d", i, form);
			run("ssh-keygen -q -t %s -b %s -m %s -N '%s' -f %s/%s", stock[i].type, stock[i].bits, m, pass, dir, name);
			text = slurp(name);
			/* before 9.6 ssh-keygen wrote ed25519 in its own format whatever was asked for */
			if (strstr(text, "OPENSSH") == NULL) {
				k = read_pem(text, form & 2 ? PASS : NULL, &code);
				assert_non_null(k);
				assert_int_equal(pkey_kind(k), stock[i].kind);
				pkey_free(k);
			} else {
				assert_null(read_pem(text, NULL, &code));
				assert_int_equal(code, ERR_PEER);
			}
			free(text);
			free(name);
		}
	}
}

/* Ours through ssh-keygen -y: it must print a public key. */
static void stock_reads_ours(void **state)
{
	(void)state;
	if (!have_ssh_keygen())
		skip();
	for (size_t i = 0; i < MEM_COUNT(stock); i++) {
		struct err e = { 0 };
		struct pkey *k = pkey_generate(stock[i].kind, 2048, &e);

		for (int form = 0; form < 4; form++) {
			struct buf out = BUF_INIT(65536);
			char *path = str_printf("%s/ours%zu%d", dir, i, form);
			FILE *f;

			if (stock[i].kind == PKEY_ED25519 && form != 1) {
				free(path);
				continue;
			}
			assert_int_equal(pkey_pem_write(k, form & 1, form & 2 ? PASS : NULL, &out, &e), 0);
			f = fopen(path, "w");
			assert_non_null(f);
			fwrite(out.data, 1, out.size, f);
			fclose(f);
			run("chmod 600 %s", path);
			if (stock[i].kind != PKEY_ED25519)       /* read from 9.6 on */
				run("ssh-keygen -y -P '%s' -f %s >/dev/null", form & 2 ? PASS : "", path);
			free(path);
			buf_free(&out);
		}
		pkey_free(k);
	}
}

static struct view next_string(struct reader *r)
{
	struct view v = reader_string(r);

	assert_true(reader_ok(r));
	return v;
}

static uint8_t *decode(const char *text, size_t *n)
{
	uint8_t *out = mem_alloc(strlen(text));
	long r = str_base64_decode(text, strlen(text), out);

	assert_true(r > 0);
	*n = (size_t)r;
	return out;
}

/* The key in a line "type base64 comment". */
static struct pkey *import_line(char *line, enum pkey_kind kind)
{
	struct pkey_parts parts = { .n = { NULL, 0 } };
	struct err e = { 0 };
	struct reader r;
	struct pkey *k;
	uint8_t *blob;
	size_t n;

	strsep(&line, " ");
	blob = decode(strsep(&line, " \n"), &n);
	reader_init(&r, blob, n);
	next_string(&r);
	if (kind == PKEY_RSA) {
		parts.e = reader_mpint(&r, 2048);
		parts.n = reader_mpint(&r, 2048);
	} else {
		if (kind != PKEY_ED25519)
			next_string(&r);
		parts.q = next_string(&r);
	}
	assert_int_equal(reader_end(&r, &e, "blob"), 0);
	k = pkey_import(kind, &parts, &e);
	if (k == NULL)
		fail_msg("%s", err_text(&e));
	free(blob);
	return k;
}

/* A file signature: what was signed is made of the message's hash (OpenSSH's PROTOCOL.sshsig). */
static void verify_sshsig(char *armour, const struct pkey *k)
{
	char *body = strchr(armour, '\n') + 1, *end = strstr(body, "-----END"), *to = body;
	struct buf signed_data = BUF_INIT(4096);
	uint8_t *blob, hash[DIGEST_MAX];
	struct view sig, raw;
	struct reader r, rs;
	size_t n;

	assert_non_null(end);
	for (char *c = body; c < end; c++)
		if (*c != '\n')
			*to++ = *c;
	*to = '\0';
	blob = decode(body, &n);
	reader_init(&r, blob, n);
	reader_bytes(&r, 6 + 4);
	for (int i = 0; i < 4; i++)
		next_string(&r);
	sig = next_string(&r);
	reader_init(&rs, sig.p, sig.n);
	next_string(&rs);
	raw = next_string(&rs);
	assert_int_equal(digest_bytes(DIGEST_SHA512, "message\n", 8, hash), 0);
	buf_put(&signed_data, "SSHSIG", 6);
	buf_put_cstring(&signed_data, "test");
	buf_put_cstring(&signed_data, "");
	buf_put_cstring(&signed_data, "sha512");
	buf_put_string(&signed_data, hash, 64);
	enum digest_alg alg = pkey_kind(k) == PKEY_ECDSA_P256 ? DIGEST_SHA256 :
		pkey_kind(k) == PKEY_ECDSA_P384 ? DIGEST_SHA384 : DIGEST_SHA512;
	struct view m = { signed_data.data, signed_data.size };
	assert_int_equal(pkey_verify(k, alg, m, raw), 0);
	signed_data.data[6] ^= 1;
	assert_int_equal(pkey_verify(k, alg, m, raw), ERR_CRYPTO);
	buf_free(&signed_data);
	free(blob);
}

static void stock_signatures(void **state)
{
	(void)state;
	if (!have_ssh_keygen())
		skip();
	for (size_t i = 0; i < MEM_COUNT(stock); i++) {
		char *name = str_printf("s%zu", i), *pub = str_printf("s%zu.pub", i), *line, *armour;
		struct pkey *k;

		run("ssh-keygen -q -t %s -b %s -N '' -f %s/%s", stock[i].type, stock[i].bits, dir, name);
		run("echo message | ssh-keygen -q -Y sign -n test -f %s/%s > %s/%s.sig 2>/dev/null", dir, name, dir, name);
		line = slurp(pub);
		k = import_line(line, stock[i].kind);
		free(pub);
		pub = str_printf("s%zu.sig", i);
		armour = slurp(pub);
		verify_sshsig(armour, k);
		pkey_free(k);
		free(line);
		free(armour);
		free(name);
		free(pub);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_and_read),
		cmocka_unit_test(passphrases),
		cmocka_unit_test(damaged),
		cmocka_unit_test(stock_pem_files),
		cmocka_unit_test(stock_reads_ours),
		cmocka_unit_test(stock_signatures),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
