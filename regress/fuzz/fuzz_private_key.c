/* Private key files: key_private_parse. First byte 0: the text of a file, taken for an RFC 4716 public key as well; otherwise
 * the bytes inside openssh-key-v1 armour, which mutations of base64 would hardly ever reach. No passphrase: the key derivation is slow and is not the parser. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "keys/key_file.h"
#include "keys/key_rfc4716.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_text(const char *text, size_t n)
{
	struct key *k, *pub = NULL;
	char *comment;

	if (key_private_parse(text, n, NULL, &k, &comment, NULL) != 0)
		return;
	if (!key_is_private(k) || (pub = key_from_blob(key_blob(k), NULL)) == NULL || !key_equal_public(k, pub))
		abort();
	key_free(pub);
	key_free(k);
	free(comment);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *base64, *text;
	struct key *k;

	if (size == 0)
		return 0;
	if (data[0] == 0) {
		fuzz_text((const char *)data + 1, size - 1);
		if (key_rfc4716_parse((const char *)data + 1, size - 1, &k, NULL) == 0)
			key_free(k);
		return 0;
	}
	base64 = str_base64_encode(data + 1, size - 1);
	text = str_printf("-----BEGIN OPENSSH PRIVATE KEY-----\n%s\n-----END OPENSSH PRIVATE KEY-----\n", base64);
	fuzz_text(text, strlen(text));
	free(text);
	free(base64);
	return 0;
}
