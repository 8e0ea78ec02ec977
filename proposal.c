/* proposal.c: KEXINIT (RFC 4253 §7.1): its lists, and the choice between two of them. */
#include "proposal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cipher.h"
#include "crypto/crypto.h"
#include "crypto/rand.h"
#include "kex/kex.h"
#include "mac.h"

enum {
	COOKIE_SIZE = 16,
	/* Of a server's list only so many names count, as in OpenSSH. */
	SERVER_NAMES_MAX = 40
};

void proposal_set(struct proposal *p, enum proposal_list which, const char *names)
{
	char *copy = mem_strdup(names);

	free(p->list[which]);
	p->list[which] = copy;
}

static const char *list_of(const struct proposal *p, enum proposal_list which)
{
	return p->list[which] != NULL ? p->list[which] : "";
}

void proposal_copy(struct proposal *dst, const struct proposal *src)
{
	struct proposal copy = { .guess_follows = src->guess_follows };
	int i;

	for (i = 0; i < PROPOSAL_COUNT; i++)
		copy.list[i] = mem_strdup(list_of(src, (enum proposal_list)i));
	proposal_clear(dst);
	*dst = copy;
}

void proposal_clear(struct proposal *p)
{
	int i;

	for (i = 0; i < PROPOSAL_COUNT; i++)
		free(p->list[i]);
	*p = (struct proposal){ 0 };
}

void proposal_put(const struct proposal *p, struct buf *out)
{
	uint8_t cookie[COOKIE_SIZE];
	int i;

	rand_bytes(cookie, sizeof(cookie));
	buf_put(out, cookie, sizeof(cookie));
	for (i = 0; i < PROPOSAL_COUNT; i++)
		buf_put_cstring(out, list_of(p, (enum proposal_list)i));
	buf_put_bool(out, p->guess_follows);
	buf_put_u32(out, 0);     /* reserved */
}

/* Names that are empty or too long (RFC 4251 §6) match nothing and do no harm; other bytes have no place in a log. */
static bool printable(struct view v)
{
	size_t i;

	for (i = 0; i < v.n; i++)
		if (v.p[i] <= ' ' || v.p[i] >= 0x7f)
			return false;
	return true;
}

int proposal_get(struct reader *r, struct proposal *out, struct err *e)
{
	struct proposal p = { .guess_follows = false };
	struct view v;
	int i;

	reader_bytes(r, COOKIE_SIZE);
	for (i = 0; i < PROPOSAL_COUNT; i++) {
		v = reader_string(r);
		if (!printable(v))
			reader_fail(r);
		if (!reader_ok(r))
			break;
		p.list[i] = view_strdup(v);
	}
	p.guess_follows = reader_bool(r);
	reader_u32(r);
	if (reader_end(r, e, "KEXINIT") < 0) {
		proposal_clear(&p);
		return ERR_PEER;
	}
	proposal_clear(out);
	*out = p;
	return 0;
}

/* ---- the choice ---- */

/* Names in the list of methods that are signals and no methods (RFC 8308 §2.1, strict KEX, kexguess2). */
static const char *const signals[] = {
	"ext-info-c", "ext-info-s", "kex-strict-c-v00@openssh.com", "kex-strict-s-v00@openssh.com",
	"kexguess2@matt.ucc.asn.au"
};

static bool is_signal(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < MEM_COUNT(signals); i++)
		if (str_is(name, n, signals[i]))
			return true;
	return false;
}

/* The first `max` names of a list, without the signals. Allocated. */
static char *real_names(const char *names, size_t max)
{
	const char *cursor = names, *name;
	char *out = mem_alloc(strlen(names) + 2), *w = out;
	size_t n;

	while (max-- > 0 && str_next_name(&cursor, &name, &n)) {
		if (is_signal(name, n))
			continue;
		memcpy(w, name, n);
		w += n;
		*w++ = ',';
	}
	if (w != out)
		w--;
	*w = '\0';
	return out;
}

/* RFC 4253 §7.1: the first name of the client's list that the server's has too. */
static char *choose(const char *client, const char *server)
{
	char *c = real_names(client, SIZE_MAX), *s = real_names(server, SERVER_NAMES_MAX);
	char *chosen = namelist_first_common(c, s);

	free(c);
	free(s);
	return chosen;
}

/* Length of the first name of a list, which has no signals in it. */
static size_t first_length(const char *names)
{
	return strcspn(names, ",");
}

/* Whether what the client guesses from its own list, or both sides from theirs, is what was chosen for one list. */
static bool first_is_right(const char *client, const char *server, const char *chosen, bool by_result)
{
	char *c = real_names(client, SIZE_MAX), *s = real_names(server, SERVER_NAMES_MAX);
	size_t n = first_length(c);
	bool right;

	if (by_result)
		right = str_is(c, n, chosen);
	else
		right = first_length(s) == n && memcmp(c, s, n) == 0;
	free(c);
	free(s);
	return right;
}

static const char guess_by_result[] = "kexguess2@matt.ucc.asn.au";

static bool lists_name(const char *names, const char *name)
{
	return str_names_has(names, name, strlen(name));
}

/* RFC 4253 §7: a guess is right if both first methods and both first host key algorithms are the same. Where both sides say
 * kexguess2 it is enough that the client's first ones are those chosen. */
static bool guess_is_right(const struct proposal *client, const struct proposal *server, const struct agreement *a)
{
	const char *ck = list_of(client, PROPOSAL_KEX), *sk = list_of(server, PROPOSAL_KEX);
	bool by_result = lists_name(ck, guess_by_result) && lists_name(sk, guess_by_result);

	return first_is_right(ck, sk, a->kex, by_result) &&
		first_is_right(list_of(client, PROPOSAL_HOST_KEY), list_of(server, PROPOSAL_HOST_KEY), a->host_key,
			by_result);
}

static struct view name_view(const char *name)
{
	return (struct view){ (const uint8_t *)name, strlen(name) };
}

static bool is_aead(const char *name)
{
	const struct cipher_alg *c = cipher_find(name_view(name));

	return c != NULL && cipher_is_aead(c);
}

static bool is_none(const char *name)
{
	return strcmp(name, "none") == 0;
}

/* The null cipher is for both directions, and the null MAC for the null cipher only (SECURITY.md). */
static int check_none(const struct agreement *a, struct err *e)
{
	if (is_none(a->cipher_c2s) != is_none(a->cipher_s2c))
		return err_set(e, ERR_PEER, "cipher none was agreed for one direction only");
	if (is_none(a->mac_c2s) != is_none(a->mac_s2c))
		return err_set(e, ERR_PEER, "MAC none was agreed for one direction only");
	if (is_none(a->mac_c2s) && !is_none(a->cipher_c2s))
		return err_set(e, ERR_PEER, "MAC none was agreed with cipher %s", a->cipher_c2s);
	return 0;
}

struct choice {
	enum proposal_list list;
	size_t field;            /* of struct agreement */
	size_t cipher_field;     /* lists of MACs: the cipher they are for; otherwise 0 */
	const char *what;        /* OpenSSH's words */
};

#define FIELD(f) offsetof(struct agreement, f)

/* Ciphers stand before their MACs. */
static const struct choice choices[] = {
	{ PROPOSAL_KEX, FIELD(kex), 0, "key exchange method" },
	{ PROPOSAL_HOST_KEY, FIELD(host_key), 0, "host key type" },
	{ PROPOSAL_CIPHER_C2S, FIELD(cipher_c2s), 0, "cipher" },
	{ PROPOSAL_CIPHER_S2C, FIELD(cipher_s2c), 0, "cipher" },
	{ PROPOSAL_MAC_C2S, FIELD(mac_c2s), FIELD(cipher_c2s), "MAC" },
	{ PROPOSAL_MAC_S2C, FIELD(mac_s2c), FIELD(cipher_s2c), "MAC" },
	{ PROPOSAL_COMPRESS_C2S, FIELD(compress_c2s), 0, "compression" },
	{ PROPOSAL_COMPRESS_S2C, FIELD(compress_s2c), 0, "compression" },
};

static char **field_of(struct agreement *a, size_t offset)
{
	return (char **)(void *)((char *)a + offset);
}

int proposal_agree(const struct proposal *client, const struct proposal *server, bool we_are_client,
	struct agreement *out, struct err *e)
{
	const struct proposal *peer = we_are_client ? server : client;
	struct agreement a = { 0 };
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < MEM_COUNT(choices); i++) {
		const struct choice *c = &choices[i];
		char **name = field_of(&a, c->field);

		if (c->cipher_field != 0 && is_aead(*field_of(&a, c->cipher_field)))
			*name = mem_strdup("<implicit>");
		else
			*name = choose(list_of(client, c->list), list_of(server, c->list));
		if (*name == NULL)
			r = err_set(e, ERR_PEER, "no matching %s found. Their offer: %.400s", c->what,
				list_of(peer, c->list));
	}
	if (r == 0)
		r = check_none(&a, e);
	if (r < 0) {
		agreement_clear(&a);
		return r;
	}
	a.first_guess_right = guess_is_right(client, server, &a);
	agreement_clear(out);
	*out = a;
	return 0;
}

void agreement_clear(struct agreement *a)
{
	size_t i;

	for (i = 0; i < MEM_COUNT(choices); i++)
		free(*field_of(a, choices[i].field));
	*a = (struct agreement){ 0 };
}

/* ---- defaults of OpenSSH, as far as built ---- */

#define KEX_NO_FIPS "sntrup761x25519-sha512,sntrup761x25519-sha512@openssh.com,"
#define KEX_BOTH KEX_NO_FIPS "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,ecdh-sha2-nistp521"
#define KEX_CLIENT "diffie-hellman-group-exchange-sha256,diffie-hellman-group16-sha512,diffie-hellman-group18-sha512,diffie-hellman-group14-sha256"

const char *proposal_default_kex(bool server)
{
	const char *all = server ? KEX_BOTH : KEX_BOTH "," KEX_CLIENT;

	return crypto_is_fips() ? all + strlen(KEX_NO_FIPS) : all;
}

const char *proposal_default_ciphers(void)
{
	return "chacha20-poly1305@openssh.com,aes128-gcm@openssh.com,aes256-gcm@openssh.com,"
		"aes128-ctr,aes192-ctr,aes256-ctr";
}

const char *proposal_default_macs(void)
{
	return "umac-64-etm@openssh.com,umac-128-etm@openssh.com,hmac-sha2-256-etm@openssh.com,"
		"hmac-sha2-512-etm@openssh.com,hmac-sha1-etm@openssh.com,umac-64@openssh.com,umac-128@openssh.com,"
		"hmac-sha2-256,hmac-sha2-512,hmac-sha1";
}

const char *proposal_kex_at(size_t i)
{
	const struct kex_method *m = kex_at(i);

	return m != NULL ? m->name : NULL;
}
