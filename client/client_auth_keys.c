/* client/client_auth_keys.c: which keys are tried in which order (ssh(1), AUTHENTICATION), their private halves with the
 * questions for passphrases, and signing by the agent or by a file. */
#include "client/client_auth_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/hostkey_private.h"
#include "keys/key_file.h"
#include "platform/prompt.h"

/* ---- the list */

static void key_clear(struct auth_key *k)
{
	free(k->path);
	free(k->label);
	key_free(k->public);
	key_free(k->private);
	memset(k, 0, sizeof(*k));
}

void auth_keys_clear(struct auth_keys *k)
{
	for (size_t i = 0; i < k->count; i++)
		key_clear(&k->v[i]);
	free(k->v);
	agent_close(k->agent);
	memset(k, 0, sizeof(*k));
}

static void keys_add(struct auth_keys *k, const struct auth_key *one)
{
	k->v = mem_resize(k->v, k->count + 1, sizeof(*k->v));
	k->v[k->count++] = *one;
}

static struct auth_key *keys_find(const struct auth_keys *k, const struct key *public)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->v[i].public != NULL && key_equal_public(k->v[i].public, public))
			return &k->v[i];
	return NULL;
}

static struct auth_key *keys_find_path(const struct auth_keys *k, const char *path)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->v[i].path != NULL && strcmp(k->v[i].path, path) == 0)
			return &k->v[i];
	return NULL;
}

/* Who names the public half means the key: the private half is beside it, or in the agent alone. */
static void find_private_half(struct auth_key *k)
{
	size_t n = strlen(k->path);

	if (k->public == NULL || n <= 4 || !str_ends(k->path, ".pub"))
		return;
	k->path[n - 4] = '\0';
	if (access(k->path, F_OK) == 0)
		return;
	free(k->path);
	k->path = NULL;
}

/* One IdentityFile. A key that is there already is not offered twice. */
static void add_file(struct client_auth *a, struct auth_keys *files, const struct client_file *file)
{
	struct auth_key k = { .given = client_options_was_set(file->origin) };
	struct err e = { 0 };
	struct stat st;

	if (str_equal_nocase(file->path, "none"))
		return;
	k.path = client_tokens_path(a->s.tokens, file->path, &e);
	if (k.path == NULL) {
		log_error("IdentityFile %s: %s", file->path, err_text(&e));
		return;
	}
	k.label = mem_strdup(k.path);
	if (keys_find_path(files, k.path) != NULL) {
		key_clear(&k);
		return;
	}
	if (stat(k.path, &st) != 0) {
		log_at(k.given ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG3, "no such identity: %s: %s", k.path, strerror(errno));
		key_clear(&k);
		return;
	}
	if (key_public_load(k.path, &k.public, NULL, &e) != 0)
		log_debug2("identity %s: the public half is not known yet: %s", k.path, err_text(&e));
	if (k.public != NULL && keys_find(files, k.public) != NULL) {
		key_clear(&k);
		return;
	}
	find_private_half(&k);
	log_debug("identity file %s: %s", k.label, k.public != NULL ? key_type_name(k.public) : "private half only");
	keys_add(files, &k);
}

/* ---- the agent */

/* The socket by IdentityAgent and SSH_AUTH_SOCK; NULL: no agent. Borrowed. */
static const char *agent_path(const struct client_options *o)
{
	const char *path = o->identity_agent;

	if (path == NULL || strcmp(path, "SSH_AUTH_SOCK") == 0)
		path = getenv("SSH_AUTH_SOCK");
	else if (strcmp(path, "none") == 0)
		return NULL;
	else if (path[0] == '$' && path[1] != '{')
		path = getenv(path + 1);
	return path != NULL && *path != '\0' ? path : NULL;
}

/* Tells the agent which server this is, so that keys with destination constraints can be used and are not elsewhere. */
static void agent_bind(const struct client_auth *a, struct agent *agent)
{
	struct err e = { 0 };
	struct key *host_key = key_from_blob(transport_host_key_blob(a->transport), &e);

	if (host_key == NULL || agent_bind_session(agent, host_key, transport_session_id(a->transport),
	    transport_host_key_signature(a->transport), 0, &e) != 0)
		log_debug("the agent was not told of this session: %s", err_text(&e));
	key_free(host_key);
}

static struct agent *agent_connect(const struct client_auth *a)
{
	const char *path = agent_path(a->s.options);
	struct agent *agent = NULL;
	struct err e = { 0 };

	if (path == NULL) {
		log_debug("no agent");
		return NULL;
	}
	if (agent_open(path, &agent, &e) != 0) {
		log_debug("no agent: %s", err_text(&e));
		return NULL;
	}
	agent_bind(a, agent);
	return agent;
}

/* Keys of the agent that are files too come first, in the agent's order, then (unless IdentitiesOnly) its others. */
static void sort_agent(struct client_auth *a, const struct agent_identity *v, size_t count, struct auth_keys *files)
{
	struct auth_keys *keys = &a->keys;

	for (size_t i = 0; i < count; i++) {
		struct auth_key *f = keys_find(files, v[i].key);

		if (f == NULL || f->tried)
			continue;
		f->in_agent = true;
		keys_add(keys, f);
		f->tried = true; /* here: moved */
	}
	for (size_t i = 0; i < count && !a->s.options->identities_only; i++) {
		struct auth_key k = { .in_agent = true };

		if (keys_find(keys, v[i].key) != NULL)
			continue;
		k.public = key_ref(v[i].key);
		k.label = str_escape_log(v[i].comment, strlen(v[i].comment), 256);
		keys_add(keys, &k);
	}
}

static void add_agent(struct client_auth *a, struct auth_keys *files)
{
	struct agent_identity *v = NULL;
	struct err e = { 0 };
	size_t count = 0;

	a->keys.agent = agent_connect(a);
	if (a->keys.agent == NULL)
		return;
	if (agent_list(a->keys.agent, &v, &count, &e) != 0) {
		log_debug("the agent does not list its keys: %s", err_text(&e));
		agent_close(a->keys.agent);
		a->keys.agent = NULL;
		return;
	}
	log_debug2("the agent has %zu keys", count);
	sort_agent(a, v, count, files);
	agent_identities_free(v, count);
}

void auth_keys_prepare(struct client_auth *a)
{
	const struct client_files *list = &a->s.options->identity_file;
	struct auth_keys files = { 0 }, *keys = &a->keys;

	if (keys->prepared)
		return;
	keys->prepared = true;
	for (size_t i = 0; i < list->count; i++)
		add_file(a, &files, &list->v[i]);
	add_agent(a, &files);
	for (size_t i = 0; i < files.count; i++) {
		struct auth_key *f = &files.v[i];

		if (f->tried)
			continue;
		if (f->path != NULL) {
			keys_add(keys, f);
			continue;
		}
		log_debug("key %s is skipped: its private half is neither beside it nor in the agent", f->label);
		key_clear(f);
	}
	free(files.v);
	for (size_t i = 0; i < keys->count; i++) {
		char *what = auth_key_describe(a, &keys->v[i]);

		keys->v[i].tried = false;
		log_debug("Will attempt key: %s", what);
		free(what);
	}
}

struct auth_key *auth_keys_next(struct auth_keys *k)
{
	for (size_t i = 0; i < k->count; i++)
		if (!k->v[i].tried && !k->v[i].used)
			return &k->v[i];
	return NULL;
}

void auth_keys_try_again(struct auth_keys *k)
{
	for (size_t i = 0; i < k->count; i++)
		k->v[i].tried = false;
}

char *auth_key_describe(const struct client_auth *a, const struct auth_key *key)
{
	char *print = key->public != NULL ? key_fingerprint(key->public, hostkey_digest(a->s.options)) : NULL;
	char *s = str_printf("%s%s%s%s%s%s%s", key->label, key->public != NULL ? " " : "",
		key->public != NULL ? key_display_name(key->public) : "", print != NULL ? " " : "", print != NULL ? print : "",
		key->given ? " explicit" : "", key->in_agent ? " agent" : "");

	free(print);
	return s;
}

/* ---- what is remembered of keys */

/* Of everything that is tried before v[end], in order; hex, 32 characters. */
static void digest_before(const struct auth_keys *k, size_t end, char out[33])
{
	struct digest *d = digest_new(DIGEST_SHA256);
	uint8_t hash[DIGEST_MAX], size[4];
	char *hex;

	out[0] = '\0';
	if (d == NULL)
		return;
	for (size_t i = 0; i < end; i++) {
		struct view v = k->v[i].public != NULL ? key_blob(k->v[i].public) :
			(struct view){ (const uint8_t *)k->v[i].label, strlen(k->v[i].label) };

		wire_store_u32(size, (uint32_t)v.n);
		digest_update(d, size, sizeof(size));
		digest_update(d, v.p, v.n);
	}
	if (digest_final(d, hash) == 0) {
		hex = str_hex(hash, 16);
		str_copy(out, 33, hex);
		free(hex);
	}
	digest_free(d);
}

struct auth_key *auth_keys_first(struct client_auth *a, const struct auth_login *remembered)
{
	struct auth_keys *k = &a->keys;
	char before[33];

	for (size_t i = 0; remembered != NULL && remembered->key[0] != '\0' && i < k->count; i++) {
		char *print = k->v[i].public != NULL ? key_fingerprint(k->v[i].public, DIGEST_SHA256) : NULL;
		bool same = print != NULL && strcmp(print, remembered->key) == 0;

		free(print);
		if (!same)
			continue;
		/* A key that was put in front since then comes first, as it would without memory. */
		digest_before(k, i, before);
		if (before[0] != '\0' && strcmp(before, remembered->before) == 0)
			return &k->v[i];
	}
	return k->count > 0 ? &k->v[0] : NULL;
}

void auth_keys_remember(const struct client_auth *a, const struct auth_key *key, struct auth_login *login)
{
	char *print = key_fingerprint(key->public, DIGEST_SHA256);

	str_copy(login->key, sizeof(login->key), print != NULL ? print : "");
	str_copy(login->alg, sizeof(login->alg), a->keys.alg != NULL ? a->keys.alg->name : "");
	digest_before(&a->keys, (size_t)(key - a->keys.v), login->before);
	free(print);
}

/* ---- algorithms */

/* OpenSSH 7.4 knows SHA-2 signatures but leaves them out of what it sends. */
static bool server_takes(const struct client_auth *a, const struct sig_alg *alg)
{
	const char *algs = transport_server_sig_algs(a->transport);

	if (alg->type != KEY_RSA)
		return true;
	/* RFC 8332 §3.3: without server-sig-algs nothing but ssh-rsa is sure. */
	if (algs == NULL)
		return alg->legacy;
	if (str_starts(transport_peer_software(a->transport), "OpenSSH_7.4") && !alg->legacy)
		return true;
	return str_names_has(algs, alg->name, strlen(alg->name));
}

bool auth_key_permits(const struct client_auth *a, const struct auth_key *key, const struct sig_alg *alg)
{
	const char *names = a->s.options->pubkey_accepted_algorithms.names;

	return sig_alg_fits(alg, key->public) && names != NULL && str_names_has(names, alg->name, strlen(alg->name)) &&
		(alg->type != KEY_RSA || key_bits(key->public) >= a->s.options->required_rsa_size);
}

const struct sig_alg *auth_key_algorithm(const struct client_auth *a, const struct auth_key *key)
{
	const char *cursor = a->s.options->pubkey_accepted_algorithms.names, *name;
	bool accepted = false;
	size_t n;

	if (key_type(key->public) == KEY_RSA && key_bits(key->public) < a->s.options->required_rsa_size) {
		log_debug("key %s is skipped: it has %u bits, RequiredRSASize asks for %u", key->label, key_bits(key->public),
			a->s.options->required_rsa_size);
		return NULL;
	}
	while (cursor != NULL && str_next_name(&cursor, &name, &n)) {
		const struct sig_alg *alg = sig_alg_find((struct view){ (const uint8_t *)name, n });

		if (alg == NULL || !sig_alg_fits(alg, key->public))
			continue;
		accepted = true;
		if (server_takes(a, alg))
			return alg;
	}
	if (accepted)
		log_debug("key %s is skipped: the server takes no signature algorithm that %s keys have and "
			"PubkeyAcceptedAlgorithms permits", key->label, key_type_name(key->public));
	else
		log_debug("key %s is skipped: PubkeyAcceptedAlgorithms has no algorithm for %s keys", key->label,
			key_type_name(key->public));
	return NULL;
}

/* ---- private halves */

/* Asks for the passphrase until it fits. ERR_DENIED: given up. */
static int load_with_passphrase(struct client_auth *a, struct auth_key *key, char **comment, struct err *e)
{
	const struct client_options *o = a->s.options;
	char *prompt = str_printf("Enter passphrase for key '%s': ", key->path);
	int rc = ERR_DENIED;

	if (o->batch_mode)
		log_debug("key %s is skipped: it needs a passphrase, and BatchMode does not let us ask", key->path);
	for (unsigned i = 0; i < o->number_of_password_prompts && rc == ERR_DENIED && !o->batch_mode; i++) {
		struct err inner = { 0 };
		char *passphrase = prompt_read_secret(prompt, 0, &inner);

		if (passphrase == NULL || *passphrase == '\0') {
			log_debug("key %s is skipped: no passphrase%s%s", key->path, passphrase == NULL ? ": " : "",
				passphrase == NULL ? err_text(&inner) : "");
			mem_free_string(passphrase);
			break;
		}
		err_clear(e);
		rc = key_private_load(key->path, passphrase, &key->private, comment, e);
		mem_free_string(passphrase);
		if (rc == ERR_DENIED)
			log_debug("that is not the passphrase of %s", key->path);
	}
	free(prompt);
	return rc;
}

static void add_to_agent(struct client_auth *a, const struct auth_key *key, const char *comment)
{
	const struct client_add_keys *how = &a->s.options->add_keys_to_agent;
	char *shown = str_escape_log(comment, strlen(comment), 256), *question;
	struct err e = { 0 };
	bool add = how->mode != CLIENT_NO && a->keys.agent != NULL && !key->in_agent;

	if (add && how->mode == CLIENT_ASK) {
		question = str_printf("Add key %s (%s) to agent?", key->path, shown);
		add = !a->s.options->batch_mode && prompt_confirm(question, NULL);
		free(question);
		if (!add)
			log_debug("key %s is not added to the agent", key->path);
	}
	free(shown);
	if (!add)
		return;
	if (agent_add(a->keys.agent, key->private, comment, how->lifetime_s, how->mode == CLIENT_CONFIRM, &e) == 0)
		log_debug("key %s was added to the agent", key->path);
	else
		log_debug("key %s was not added to the agent: %s", key->path, err_text(&e));
}

/* A .pub beside the private half may be that of another key; the server was asked about it. */
static int settle_public(struct auth_key *key)
{
	if (key->public == NULL) {
		key->public = key_ref(key->private);
		return 0;
	}
	if (key_equal_public(key->public, key->private))
		return 0;
	log_error("the private key in %s is not that of the public key beside it", key->path);
	key_free(key->private);
	key->private = NULL;
	return ERR_DENIED;
}

int auth_key_load(struct client_auth *a, struct auth_key *key)
{
	char *comment = NULL;
	struct err e = { 0 };
	int rc;

	if (key->private != NULL)
		return 0;
	if (key->path == NULL)
		return ERR_NONE_FOUND;
	rc = key_private_load(key->path, NULL, &key->private, &comment, &e);
	if (rc == ERR_DENIED) {
		rc = load_with_passphrase(a, key, &comment, &e);
		if (rc == ERR_DENIED)
			return rc;
	}
	if (rc != 0)
		log_error("key %s cannot be used: %s", key->path, err_text(&e));
	if (rc == 0)
		rc = settle_public(key);
	if (rc == 0)
		add_to_agent(a, key, comment != NULL && *comment != '\0' ? comment : key->path);
	free(comment);
	return rc;
}

/* Owner and modes as key_private_load wants them, which would complain aloud. */
static bool file_is_private(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid != getuid() || (st.st_mode & 077) == 0);
}

int auth_key_load_quietly(struct client_auth *a, struct auth_key *key)
{
	char *comment = NULL;
	struct err e = { 0 };
	int rc;

	if (key->private != NULL)
		return 0;
	if (key->path == NULL || !file_is_private(key->path))
		return ERR_NONE_FOUND;
	if (a->s.options->add_keys_to_agent.mode == CLIENT_ASK && a->keys.agent != NULL && !key->in_agent)
		return ERR_DENIED;
	rc = key_private_load(key->path, NULL, &key->private, &comment, &e);
	if (rc == 0 && key->public != NULL && !key_equal_public(key->public, key->private)) {
		key_free(key->private);
		key->private = NULL;
		rc = ERR_DENIED;
	}
	if (rc == 0 && key->public == NULL)
		key->public = key_ref(key->private);
	if (rc == 0)
		add_to_agent(a, key, comment != NULL && *comment != '\0' ? comment : key->path);
	else
		log_debug2("key %s cannot be used without a question: %s", key->path, err_text(&e));
	free(comment);
	return rc;
}

int auth_key_sign(struct client_auth *a, struct auth_key *key, const struct sig_alg *alg, struct view data, struct buf *out)
{
	struct err e = { 0 };
	size_t before = out->size;
	int rc;

	if (key->in_agent && key->private == NULL) {
		rc = agent_sign(a->keys.agent, key->public, alg, data, out, &e);
		if (rc == 0)
			return 0;
		log_error("signing with %s \"%s\" failed: %s", key_display_name(key->public), key->label, err_text(&e));
		if (key->path == NULL || out->size != before)
			return rc;
		/* The file may be of use where the agent is not. */
		err_clear(&e);
	}
	rc = auth_key_load(a, key);
	if (rc != 0)
		return rc;
	rc = key_sign(key->private, alg, data, out, &e);
	if (rc != 0)
		log_error("signing with %s failed: %s", key->label, err_text(&e));
	return rc;
}
