/* Private keys in PEM: pkey_pem_read. First byte 0: the text of a file; 1 to 4: DER, put into armour with that label, since
 * mutations of base64 would hardly ever reach what is inside. A passphrase is given only to the traditional encryption:
 * the iteration count of PKCS#8 is the file's, and counting is not parsing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "crypto/pkey.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_text(const char *text, size_t n)
{
	bool traditional = memmem(text, n, "DEK-Info", 8) != NULL && memmem(text, n, "ENCRYPTED PRIVATE", 17) == NULL;
	struct err e = { 0 };
	struct pkey *k = pkey_pem_read(text, n, traditional ? "passphrase" : NULL, &e), *again;
	struct pkey_export x;

	if (k == NULL) {
		if (e.code == 0)
			abort();
		return;
	}
	/* Whatever is accepted is a private key whose parts are accepted too. */
	if (!pkey_is_private(k) || pkey_export(k, true, &x, NULL) < 0)
		abort();
	again = pkey_import(pkey_kind(k), &x.parts, NULL);
	if (again == NULL)
		abort();
	pkey_free(again);
	pkey_export_free(&x);
	pkey_free(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const labels[] = { "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY" };
	char *base64, *text;
	const char *label;

	if (size == 0)
		return 0;
	if (data[0] == 0) {
		fuzz_text((const char *)data + 1, size - 1);
		return 0;
	}
	label = labels[(data[0] - 1) % 4];
	base64 = str_base64_encode(data + 1, size - 1);
	/* one long line: libcrypto takes at most 254 characters, so it is broken here */
	text = str_printf("-----BEGIN %s-----\n", label);
	for (size_t at = 0, n = strlen(base64); at < n; at += 64) {
		char *longer = str_printf("%s%.64s\n", text, base64 + at);

		free(text);
		text = longer;
	}
	free(base64);
	base64 = str_printf("%s-----END %s-----\n", text, label);
	fuzz_text(base64, strlen(base64));
	free(text);
	free(base64);
	return 0;
}
