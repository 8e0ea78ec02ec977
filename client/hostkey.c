/* client/hostkey.c: is this the host's key? What known_hosts says, what StrictHostKeyChecking makes of it (spec
 * options-client 6), and adding what was accepted. Texts and questions: hostkey_ask.c. Layer: client. */
#include "client/hostkey.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/hostkey_private.h"

enum { DEFAULT_PORT = 22 };

/* One name looked up. */
struct lookup {
	struct known_hosts known;
	enum known_hosts_verdict verdict;
	const struct known_hosts_entry *entry;   /* in known */
};

struct check {
	const struct hostkey_where *w;
	const struct key *key;
	struct hostkey_files files;
	struct lookup host, plain, address;
	struct hostkey_verdict *out;
	struct err *err;
};

static int refuse(struct check *c)
{
	return err_set(c->err, ERR_DENIED, "Host key verification failed.");
}

static int look(struct check *c, const char *name, const char *reason, struct lookup *l)
{
	int rc = hostkey_files_load(&c->files, name, reason, c->key, &l->known, c->err);

	if (rc != 0)
		return rc;
	l->verdict = known_hosts_check(&l->known, c->key, &l->entry);
	if (l->entry != NULL)
		log_debug2("host key lookup: %s: %s:%u", name, l->entry->path, l->entry->line);
	return 0;
}

static int look_everywhere(struct check *c)
{
	int rc = look(c, c->files.name, HOSTKEY_REASON_HOSTNAME, &c->host);

	if (rc == 0 && c->files.plain_name != NULL && c->host.verdict == KNOWN_HOSTS_NEW)
		rc = look(c, c->files.plain_name, HOSTKEY_REASON_HOSTNAME, &c->plain);
	if (rc == 0 && c->files.address_name != NULL)
		rc = look(c, c->files.address_name, HOSTKEY_REASON_ADDRESS, &c->address);
	return rc;
}

/* ---- adding */

/* names: one, or "host,address". True if it is filed now. */
static bool file_key(struct check *c, const char *names)
{
	const struct client_options *o = c->w->options;
	struct err inner = { 0 };

	if (c->files.user.count == 0) {
		log_debug("the host key is not kept: UserKnownHostsFile is none");
		return false;
	}
	if (known_hosts_append(c->files.user.v[0], names, c->key, o->hash_known_hosts, &inner) == 0)
		return true;
	log_debug("%s", err_text(&inner));
	return false;
}

static void add_host(struct check *c)
{
	bool with_address = c->files.address_name != NULL && c->address.verdict == KNOWN_HOSTS_NEW;
	char *names = with_address ? str_printf("%s,%s", c->files.name, c->files.address_name) : mem_strdup(c->files.name);

	c->out->from_user_file = file_key(c, names);
	if (c->out->from_user_file)
		log_info("Warning: Permanently added '%s' (%s) to the list of known hosts.", names, key_display_name(c->key));
	else if (c->files.user.count > 0)
		log_info("Failed to add the host to the list of known hosts (%s).", c->files.user.v[0]);
	free(names);
}

static void add_address(struct check *c)
{
	if (file_key(c, c->files.address_name))
		log_info("Warning: Permanently added the %s host key of address '%s' to the list of known hosts.",
			key_display_name(c->key), c->files.address_name);
}

/* ---- verdicts */

/* The name is fine; CheckHostIP looks at the address too. */
static int settle_address(struct check *c)
{
	int strict = c->w->options->strict_host_key_checking;

	if (c->files.address_name == NULL || c->address.verdict == KNOWN_HOSTS_OK)
		return 0;
	if (c->address.verdict == KNOWN_HOSTS_NEW) {
		add_address(c);
		return 0;
	}
	hostkey_warn_address(&c->files, c->key, c->address.entry, c->host.entry);
	if (strict == CLIENT_YES)
		return refuse(c);
	if (strict == CLIENT_ASK && !hostkey_ask_address(&c->files, c->key))
		return refuse(c);
	return 0;
}

static int settle_known(struct check *c)
{
	log_debug("host %s is known and its %s key matches %s:%u", c->files.name, key_display_name(c->key),
		c->host.entry->path, c->host.entry->line);
	c->out->from_user_file = hostkey_files_is_user(&c->files, c->host.entry);
	if (c->w->options->visual_host_key)
		hostkey_show(&c->files, c->key);
	return settle_address(c);
}

static int settle_new(struct check *c)
{
	const struct client_options *o = c->w->options;

	/* A key that is filed for the host without its port is the host's key: the server just listens elsewhere. */
	if (c->files.plain_name != NULL && c->plain.verdict == KNOWN_HOSTS_OK) {
		log_debug("nothing is filed under %s, but the same key under %s (%s:%u)", c->files.name, c->files.plain_name,
			c->plain.entry->path, c->plain.entry->line);
		c->out->from_user_file = hostkey_files_is_user(&c->files, c->plain.entry);
		if (o->visual_host_key)
			hostkey_show(&c->files, c->key);
		return 0;
	}
	switch (o->strict_host_key_checking) {
	case CLIENT_YES:
		log_error("No %s host key is known for %s and you have requested strict checking.", key_display_name(c->key),
			c->files.name);
		return refuse(c);
	case CLIENT_NO:
	case CLIENT_ACCEPT_NEW:
		break;
	default:
		if (!hostkey_ask_new(&c->files, c->key,
		    c->plain.verdict == KNOWN_HOSTS_CHANGED ? c->plain.entry : NULL))
			return refuse(c);
	}
	if (o->visual_host_key && o->strict_host_key_checking != CLIENT_ASK)
		hostkey_show(&c->files, c->key);
	add_host(c);
	return 0;
}

/* Going on with a host that is not proven to be the right one: nothing that it could take advantage of. */
static int settle_wrong(struct check *c)
{
	if (c->w->options->strict_host_key_checking != CLIENT_NO)
		return refuse(c);
	log_error("Going on because StrictHostKeyChecking is no. Password and keyboard-interactive authentication and all "
		"forwarding are off for this session, since the server may not be the right one.");
	c->out->weakened = true;
	return 0;
}

static int settle_changed(struct check *c)
{
	struct hostkey_change change = { .entry = c->host.entry };

	if (c->files.address_name != NULL && c->address.verdict == KNOWN_HOSTS_CHANGED)
		change.address_entry = c->address.entry;
	hostkey_warn_changed(&c->files, c->key, &change);
	return settle_wrong(c);
}

static int settle_revoked(struct check *c)
{
	const struct lookup *l = c->host.verdict == KNOWN_HOSTS_REVOKED ? &c->host :
		c->plain.verdict == KNOWN_HOSTS_REVOKED ? &c->plain : &c->address;

	hostkey_warn_revoked(&c->files, c->key, l->entry);
	return settle_wrong(c);
}

static int (*const settle[])(struct check *c) = {
	[KNOWN_HOSTS_NEW] = settle_new,
	[KNOWN_HOSTS_OK] = settle_known,
	[KNOWN_HOSTS_CHANGED] = settle_changed,
	[KNOWN_HOSTS_REVOKED] = settle_revoked,
};

/* A key that is marked as revoked under any of the names is not taken for good under another. */
static bool revoked_somewhere(const struct check *c)
{
	return c->host.verdict == KNOWN_HOSTS_REVOKED || c->plain.verdict == KNOWN_HOSTS_REVOKED ||
		c->address.verdict == KNOWN_HOSTS_REVOKED;
}

/* What needs no known_hosts. 1: accepted, 0: go on, negative: refused. */
static int check_first(struct check *c)
{
	const struct client_options *o = c->w->options;
	struct err inner = { 0 };

	if (key_type(c->key) == KEY_RSA && key_bits(c->key) < o->required_rsa_size) {
		log_error("the RSA host key of %s has %u bits; RequiredRSASize asks for %u", c->w->host, key_bits(c->key),
			o->required_rsa_size);
		return refuse(c);
	}
	if (hostkey_check_revoked(c->w, c->key, &inner) != 0) {
		log_error("%s", err_text(&inner));
		return refuse(c);
	}
	if (o->no_host_authentication_for_localhost && c->w->loopback && o->host_key_alias == NULL) {
		log_debug("the host key is not checked: NoHostAuthenticationForLocalhost, and the host is this machine");
		return 1;
	}
	return 0;
}

int hostkey_check(const struct hostkey_where *w, struct key *k, struct hostkey_verdict *out, struct err *e)
{
	struct check c = { .w = w, .key = k, .out = out, .err = e };
	int rc;

	*out = (struct hostkey_verdict){ 0 };
	rc = check_first(&c);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = hostkey_files_make(w, &c.files, e);
	if (rc == 0)
		rc = look_everywhere(&c);
	if (rc == 0)
		rc = revoked_somewhere(&c) ? settle_revoked(&c) : settle[c.host.verdict](&c);
	known_hosts_free(&c.host.known);
	known_hosts_free(&c.plain.known);
	known_hosts_free(&c.address.known);
	hostkey_files_clear(&c.files);
	return rc;
}

/* ---- the order of algorithms */

static bool type_is_known(const struct known_hosts *k, const char *type)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->v[i].marker == KNOWN_PLAIN && strcmp(k->v[i].key_type, type) == 0)
			return true;
	return false;
}

/* The type of key that a name of the list stands for; NULL if it is none of ours. */
static const char *key_type_of(const char *name, size_t n)
{
	const struct sig_alg *alg = sig_alg_find((struct view){ (const uint8_t *)name, n });

	return alg != NULL ? alg->key_name : NULL;
}

static void collect(const char *names, const struct known_hosts *k, bool known, struct str_list *out)
{
	const char *cursor = names, *name, *type;
	size_t n;

	while (str_next_name(&cursor, &name, &n)) {
		type = key_type_of(name, n);
		if ((type != NULL && type_is_known(k, type)) == known)
			str_list_add_n(out, name, n);
	}
}

static char *order_by(const char *names, const struct known_hosts *k)
{
	const char *cursor = names, *name, *type = NULL;
	struct str_list order = { 0 };
	char *list;
	size_t n;

	if (str_next_name(&cursor, &name, &n))
		type = key_type_of(name, n);
	if (type == NULL || type_is_known(k, type))
		return mem_strdup(names);
	collect(names, k, true, &order);
	collect(names, k, false, &order);
	list = str_list_join(&order, ",");
	str_list_clear(&order);
	log_debug3("host key algorithms in the order of what is known of the host: %s", list);
	return list;
}

/* What is known of the host; under its plain name when nothing is filed for the port. */
static int load_for_order(const struct hostkey_files *f, struct known_hosts *out,
	struct err *e)
{
	int rc = hostkey_files_load(f, f->name, HOSTKEY_REASON_ORDER, NULL, out, e);

	if (rc != 0 || out->count > 0 || f->plain_name == NULL)
		return rc;
	known_hosts_free(out);
	return hostkey_files_load(f, f->plain_name, HOSTKEY_REASON_ORDER, NULL, out, e);
}

bool hostkey_has_type(const struct hostkey_where *w, const struct sig_alg *alg)
{
	struct hostkey_files f;
	struct known_hosts known;
	struct err inner = { 0 };
	bool has = false;

	if (hostkey_files_make(w, &f, &inner) == 0) {
		if (load_for_order(&f, &known, &inner) == 0) {
			has = type_is_known(&known, alg->key_name);
			known_hosts_free(&known);
		}
		hostkey_files_clear(&f);
	}
	return has;
}

char *hostkey_order(const struct hostkey_where *w)
{
	const struct conf_algs *algs = &w->options->host_key_algorithms;
	bool given = client_options_was_set(CLIENT_ORIGIN(w->options, host_key_algorithms));
	struct hostkey_files f;
	struct known_hosts known;
	struct err inner = { 0 };
	char *list = NULL;

	/* A list that was written out, or put first, is meant as it stands. */
	if (given && algs->prefix != '+' && algs->prefix != '-')
		return mem_strdup(algs->names);
	if (hostkey_files_make(w, &f, &inner) == 0) {
		if (load_for_order(&f, &known, &inner) == 0) {
			list = order_by(algs->names, &known);
			known_hosts_free(&known);
		}
		hostkey_files_clear(&f);
	}
	if (list == NULL)
		log_debug("host key algorithms are left in their order: %s", err_text(&inner));
	return list != NULL ? list : mem_strdup(algs->names);
}
