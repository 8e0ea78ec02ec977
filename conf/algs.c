/* conf/algs.c: algorithm lists with +, -, ^ and wildcards (ssh_config(5), Values).
 *
 * Names that a configuration may hold but that this build does not offer are accepted and left out: files are shared
 * with other implementations. What this build offers is asked through the callbacks of struct conf_alg_kind. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/match.h"
#include "base/mem.h"
#include "conf/types.h"

const char *const conf_unbuilt_kex[] = {
	"mlkem768x25519-sha256", "mlkem768nistp256-sha256", "sntrup761x25519-sha512",
	"sntrup761x25519-sha512@openssh.com", "sntrup4591761x25519-sha512@tinyssh.org",
	"diffie-hellman-group-exchange-sha256", "diffie-hellman-group-exchange-sha1",
	"diffie-hellman-group14-sha1", "diffie-hellman-group14-sha256",
	"diffie-hellman-group16-sha512", "diffie-hellman-group18-sha512", "diffie-hellman-group1-sha1",
	"curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256", "ecdh-sha2-nistp384",
	"ecdh-sha2-nistp521", NULL
};
const char *const conf_unbuilt_ciphers[] = {
	"3des-cbc", "aes128-cbc", "aes192-cbc", "aes256-cbc", "rijndael-cbc@lysator.liu.se", "blowfish-cbc",
	"cast128-cbc", "arcfour", "arcfour128", "arcfour256", "aes128-ctr", "aes192-ctr", "aes256-ctr",
	"aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com", NULL
};
const char *const conf_unbuilt_macs[] = {
	"hmac-sha1", "hmac-sha1-96", "hmac-sha2-256", "hmac-sha2-512", "hmac-md5", "hmac-md5-96", "hmac-ripemd160",
	"hmac-ripemd160@openssh.com", "umac-64@openssh.com", "umac-128@openssh.com", "hmac-sha1-etm@openssh.com",
	"hmac-sha1-96-etm@openssh.com", "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com",
	"hmac-md5-etm@openssh.com", "hmac-md5-96-etm@openssh.com", "hmac-ripemd160-etm@openssh.com",
	"umac-64-etm@openssh.com", "umac-128-etm@openssh.com",
	/* HPN lets a MAC list hold it. Here it is offered by NoneMacEnabled alone. */
	"none", NULL
};

#define PLAIN_KEYS "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", \
	"sk-ssh-ed25519@openssh.com", "ssh-mldsa44-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com", \
	"webauthn-sk-ecdsa-sha2-nistp256@openssh.com", "ssh-rsa", "ssh-dss", "rsa-sha2-256", "rsa-sha2-512"

const char *const conf_unbuilt_ca_keys[] = { PLAIN_KEYS, NULL };
const char *const conf_unbuilt_keys[] = {
	PLAIN_KEYS, "ssh-ed25519-cert-v01@openssh.com", "ecdsa-sha2-nistp256-cert-v01@openssh.com",
	"ecdsa-sha2-nistp384-cert-v01@openssh.com", "ecdsa-sha2-nistp521-cert-v01@openssh.com",
	"sk-ssh-ed25519-cert-v01@openssh.com", "ssh-mldsa44-ed25519-cert-v01@openssh.com",
	"sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", "webauthn-sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
	"ssh-rsa-cert-v01@openssh.com", "ssh-dss-cert-v01@openssh.com", "rsa-sha2-256-cert-v01@openssh.com",
	"rsa-sha2-512-cert-v01@openssh.com", NULL
};

#define DEFAULT_PLAIN "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521," \
	"sk-ssh-ed25519@openssh.com,sk-ecdsa-sha2-nistp256@openssh.com,webauthn-sk-ecdsa-sha2-nistp256@openssh.com," \
	"rsa-sha2-512,rsa-sha2-256"

const char conf_default_ca_keys[] = DEFAULT_PLAIN;
const char conf_default_keys[] = "ssh-ed25519-cert-v01@openssh.com,ecdsa-sha2-nistp256-cert-v01@openssh.com,"
	"ecdsa-sha2-nistp384-cert-v01@openssh.com,ecdsa-sha2-nistp521-cert-v01@openssh.com,"
	"sk-ssh-ed25519-cert-v01@openssh.com,sk-ecdsa-sha2-nistp256-cert-v01@openssh.com,"
	"webauthn-sk-ecdsa-sha2-nistp256-cert-v01@openssh.com,rsa-sha2-512-cert-v01@openssh.com,"
	"rsa-sha2-256-cert-v01@openssh.com," DEFAULT_PLAIN;

/* Names with another spelling for the same thing on the wire. */
static const struct { const char *name, *same; } alg_synonyms[] = {
	{ "chacha20-poly1305-mt@hpnssh.org", "chacha20-poly1305@openssh.com" },
};

static const char *alg_plain_name(const char *name)
{
	size_t i;

	for (i = 0; i < MEM_COUNT(alg_synonyms); i++)
		if (strcmp(alg_synonyms[i].name, name) == 0)
			return alg_synonyms[i].same;
	return name;
}

static bool alg_is_built(const struct conf_alg_kind *k, const char *name)
{
	const char *known;
	size_t i;

	for (i = 0; (known = k->built_at(i)) != NULL; i++)
		if (strcmp(known, name) == 0)
			return true;
	return false;
}

static bool alg_is_unbuilt(const struct conf_alg_kind *k, const char *name)
{
	size_t i;

	for (i = 0; k->unbuilt[i] != NULL; i++)
		if (strcmp(k->unbuilt[i], name) == 0)
			return true;
	return false;
}

static void alg_add(struct str_list *list, const char *name)
{
	if (!str_list_has(list, name))
		str_list_add(list, name);
}

/* A pattern adds every built name that matches, in the order of -Q. false if it matches nothing that is known. What is only
 * there for old peers is not meant by whoever writes one. */
static bool alg_add_pattern(const struct conf_alg_kind *k, const char *pattern, struct str_list *out)
{
	const char *known;
	bool found = false;
	size_t i;

	for (i = 0; (known = k->built_at(i)) != NULL; i++) {
		if (!match_pattern(known, pattern))
			continue;
		found = true;
		if (k->legacy != NULL && k->legacy(known))
			log_debug("%s %s is not taken for \"%s\": it has to be named", k->what, known, pattern);
		else
			alg_add(out, known);
	}
	for (i = 0; !found && k->unbuilt[i] != NULL; i++)
		found = match_pattern(k->unbuilt[i], pattern);
	return found;
}

static int alg_add_word(const struct conf_alg_kind *k, const char *word, struct str_list *out, struct err *e)
{
	const char *name = alg_plain_name(word);
	struct err why = { 0 };

	if (k->none_hint != NULL && strcmp(name, "none") == 0)
		return err_set(e, ERR_USAGE, "%s", k->none_hint);
	if (k->prepare != NULL && k->prepare(name, &why) < 0 && !k->quiet)
		log_info("%s %s is not offered: %s", k->what, name, err_text(&why));
	if (alg_is_built(k, name)) {
		alg_add(out, name);
		return 0;
	}
	if (alg_is_unbuilt(k, name)) {
		log_debug2("%s %s is not built in and is left out", k->what, name);
		return 0;
	}
	if (strpbrk(name, "*?") != NULL && k->wildcards && alg_add_pattern(k, name, out))
		return 0;
	return err_set(e, ERR_USAGE, "unknown %s \"%s\"", k->what, word);
}

static void alg_add_names(const struct conf_alg_kind *k, const char *names, struct str_list *out)
{
	const char *cursor = names, *name;
	char *word;
	size_t n;

	while (str_next_name(&cursor, &name, &n)) {
		word = mem_strndup(name, n);
		if (alg_is_built(k, word))
			alg_add(out, word);
		free(word);
	}
}

char *conf_algs_filter(const struct conf_alg_kind *k, const char *list)
{
	struct str_list names = { 0 };
	char *text;

	alg_add_names(k, list, &names);
	text = names.count != 0 ? str_list_join(&names, ",") : mem_strdup("");
	str_list_clear(&names);
	return text;
}

/* The default list without what the patterns match; names that are not known do no harm. */
static void alg_remove(const struct conf_alg_kind *k, const char *patterns, struct str_list *out)
{
	struct str_list all = { 0 };
	size_t i;

	alg_add_names(k, k->defaults(), &all);
	for (i = 0; i < all.count; i++)
		if (match_list(all.v[i], patterns, false) != 1)
			str_list_add(out, all.v[i]);
	str_list_clear(&all);
}

char *conf_algs_apply(const struct conf_alg_kind *k, const char *text, struct err *e)
{
	char prefix = strchr("+-^", text[0]) != NULL ? text[0] : '\0';
	const char *list = prefix != '\0' ? text + 1 : text, *cursor = list, *name;
	struct str_list named = { 0 }, out = { 0 };
	char *word, *result = NULL;
	size_t n;
	int r = 0;

	if (*list == '\0') {
		err_set(e, ERR_USAGE, "no %s is named in \"%s\"", k->what, text);
		return NULL;
	}
	if (prefix == '-')
		alg_remove(k, list, &out);
	while (prefix != '-' && r == 0 && str_next_name(&cursor, &name, &n)) {
		word = mem_strndup(name, n);
		r = alg_add_word(k, word, &named, e);
		free(word);
	}
	if (r == 0) {
		size_t i;

		if (prefix == '+')
			alg_add_names(k, k->defaults(), &out);
		for (i = 0; i < named.count; i++)
			alg_add(&out, named.v[i]);
		if (prefix == '^')
			alg_add_names(k, k->defaults(), &out);
		result = out.count != 0 ? str_list_join(&out, ",") : mem_strdup("");
	}
	str_list_clear(&named);
	str_list_clear(&out);
	return result;
}

static int algs_parse(struct conf_line *l, void *field)
{
	const struct conf_alg_kind *k = l->row->arg;
	struct conf_alg_kind checked = *k;
	struct conf_algs *a = field;
	const char *word = conf_line_need(l);
	struct err e = { 0 };

	if (word == NULL)
		return ERR_USAGE;
	/* Lines for others are only checked: nothing is made ready for them. */
	if (!l->active)
		checked.prepare = NULL;
	checked.quiet = l->reader->quiet;
	a->names = conf_algs_apply(&checked, word, &e);
	if (a->names == NULL)
		return conf_line_bad(l, "%s: %s", l->keyword, err_text(&e));
	a->prefix = strchr("+-^", word[0]) != NULL ? word[0] : '\0';
	if (a->names[0] == '\0' && l->active && a->prefix != '-')
		log_info("%s line %u: %s: this program has no %s of \"%s\", so none is offered", l->file, l->number,
			l->keyword, k->what, word);
	return 0;
}

static void algs_clear(void *field)
{
	free(((struct conf_algs *)field)->names);
}

static void algs_copy(void *dst, const void *src)
{
	const struct conf_algs *from = src;
	struct conf_algs *to = dst;

	to->prefix = from->prefix;
	to->names = from->names == NULL ? NULL : mem_strdup(from->names);
}

static void algs_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct conf_algs *a = field;

	conf_dump_value(d, row, "%s", a->names != NULL ? a->names : "");
}

const struct conf_type conf_algs_type = { sizeof(struct conf_algs), algs_parse, algs_clear, algs_copy, algs_show };
