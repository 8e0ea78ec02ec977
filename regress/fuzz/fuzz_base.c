/* base/match.c, base/str*.c, base/base64.c, base/path.c (expansions), platform/ttymodes.c: the first byte chooses; text is cut
 * in two at its first newline where two are needed. */
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>

#include "base/match.h"
#include "base/path.h"
#include "base/str.h"
#include "platform/ttymodes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}

static void need(bool ok)
{
	if (!ok)
		abort();
}

static void fuzz_match(const char *a, const char *b)
{
	int r = match_address(a, b), checked = match_address(NULL, b);

	/* Whether a list is well formed does not depend on whom it is asked about. */
	need((r == -2) == (checked == -2));
	need(match_user_host(a, a, a, b) >= -2);
	need(match_host_or_address(a, a, b) >= -2);
	need(match_list(a, b, true) >= -1);
	(void)match_pattern(a, b);
}

static void fuzz_numbers(const char *s)
{
	uint64_t v;
	char text[32];

	if (str_to_seconds(s, &v) == 0) {
		need(v <= UINT32_MAX);
		str_from_seconds(text, sizeof(text), v);
	}
	if (str_to_bytes(s, &v) == 0)
		need(s[0] >= '0' && s[0] <= '9');
	if (str_to_u64(s, 5, 5000, &v) == 0)
		need(v >= 5 && v <= 5000);
}

static void fuzz_base64(const uint8_t *p, size_t n)
{
	uint8_t *out = malloc(3 * (n / 4) + 1);
	long r = str_base64_decode((const char *)p, n, out);
	char *s;

	if (r >= 0) {
		/* There is one way to write it. */
		s = str_base64_encode(out, (size_t)r);
		need(strlen(s) == n && memcmp(s, p, n) == 0);
		free(s);
	}
	free(out);
}

static void fuzz_escape(const uint8_t *p, size_t n)
{
	char *s = str_escape_log(p, n, 1000), *q;

	for (q = s; *q != '\0'; q++)
		need(*q >= ' ' && *q <= '~');
	free(s);
	s = str_escape_terminal(p, n);
	for (q = s; *q != '\0'; q++)
		need((uint8_t)*q >= ' ' ? *q != 0x7f : *q == '\n' || *q == '\t');
	free(s);
}

static void fuzz_path(const char *s)
{
	const struct path_token tokens[] = { { 'h', "host" }, { 'u', NULL }, { 'p', "%h" }, { 0, NULL } };

	free(path_expand_tokens(s, tokens, NULL));
	free(path_expand_env(s, NULL));
}

static void fuzz_modes(const uint8_t *p, size_t n)
{
	struct termios t, u;
	uint8_t a[TTYMODES_MAX], b[TTYMODES_MAX];
	size_t size;

	memset(&t, 0, sizeof(t));
	memset(&u, 0, sizeof(u));
	if (ttymodes_decode(p, n, &t, NULL) != 0)
		return;
	size = ttymodes_encode(&t, a);
	need(ttymodes_decode(a, size, &u, NULL) == 0);
	need(ttymodes_encode(&u, b) == size);
	/* The input speed is the output speed on some systems, the last one told wins: compare what follows. */
	need(memcmp(a + 10, b + 10, size - 10) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *second;

	if (size == 0 || size > 20000)
		return 0;
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	second = text + strcspn(text, "\n");
	if (*second == '\n')
		*second++ = '\0';
	switch (data[0] % 6) {
	case 0: fuzz_match(text, second); break;
	case 1: fuzz_numbers(text); break;
	case 2: fuzz_base64(data + 1, size - 1); break;
	case 3: fuzz_escape(data + 1, size - 1); break;
	case 4: fuzz_path(text); break;
	case 5: fuzz_modes(data + 1, size - 1); break;
	}
	free(text);
	return 0;
}
