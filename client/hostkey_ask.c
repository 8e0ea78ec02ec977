/* client/hostkey_ask.c: what the user reads about a host key, and what is asked. Other tools read some of these lines: spec
 * options-client 6 has their wording. */
#include "client/hostkey_private.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "platform/prompt.h"
#include "wire/buf.h"

enum { DEFAULT_PORT = 22, OTHER_NAMES_SHOWN = 8, ANSWERS_MAX = 32 };

enum digest_alg hostkey_digest(const struct client_options *o)
{
	static const enum digest_alg digests[] = {
		[CONF_HASH_MD5] = DIGEST_MD5, [CONF_HASH_SHA1] = DIGEST_SHA1, [CONF_HASH_SHA256] = DIGEST_SHA256,
		[CONF_HASH_SHA384] = DIGEST_SHA384, [CONF_HASH_SHA512] = DIGEST_SHA512,
	};

	return (size_t)o->fingerprint_hash < MEM_COUNT(digests) ? digests[o->fingerprint_hash] : DIGEST_SHA256;
}

static char *fingerprint(const struct hostkey_files *f, const struct key *k)
{
	char *print = key_fingerprint(k, hostkey_digest(f->w->options));

	/* MD5 where libcrypto refuses it. */
	return print != NULL ? print : key_fingerprint(k, DIGEST_SHA256);
}

/* ---- questions */

/* Names come from files that others may have written. */
static void put_other_names(struct buf *b, const struct hostkey_files *f, const struct key *k)
{
	struct str_list names = { 0 };

	known_hosts_other_names(&f->all, k, &names);
	if (names.count == 0)
		buf_printf(b, "This key is not known by any other names.\n");
	else
		buf_printf(b, "This host key is known by the following other names or addresses:\n");
	for (size_t i = 0; i < names.count && i < OTHER_NAMES_SHOWN; i++) {
		char *shown = str_escape_terminal(names.v[i], strlen(names.v[i]));

		buf_printf(b, "    %s\n", shown);
		free(shown);
	}
	if (names.count > OTHER_NAMES_SHOWN)
		buf_printf(b, "    (and %zu more)\n", names.count - OTHER_NAMES_SHOWN);
	str_list_clear(&names);
}

static void put_picture(struct buf *b, const struct hostkey_files *f, const struct key *k)
{
	char *art = f->w->options->visual_host_key ? key_randomart(k, hostkey_digest(f->w->options)) : NULL;

	if (art != NULL)
		buf_printf(b, "%s\n", art);
	free(art);
}

static void put_question(struct buf *b, const struct hostkey_files *f, const struct key *k,
	const char *print, const struct known_hosts_entry *plain)
{
	char *address = f->w->address != NULL ? known_hosts_name(f->w->address, f->w->port) : NULL;

	buf_printf(b, "The authenticity of host '%s (%s)' can't be established.\n", f->name,
		address != NULL ? address : "reached through a proxy");
	buf_printf(b, "%s key fingerprint is: %s\n", key_display_name(k), print);
	put_picture(b, f, k);
	if (plain != NULL)
		buf_printf(b, "Host '%s' itself is known by another key (%s:%u). A second ssh server on port %u, beside the one on "
			"port %d, has a key of its own; then this is normal.\n", f->plain_name, plain->path, plain->line,
			(unsigned)f->w->port, DEFAULT_PORT);
	put_other_names(b, f, k);
	free(address);
}

/* An answer without the blanks around it. */
static char *trimmed(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = '\0';
	return s;
}

/* print NULL: only yes or no. */
static bool ask(const char *question, const char *print)
{
	const char *again = print != NULL ? "Please type 'yes', 'no' or the fingerprint: " : "Please type 'yes' or 'no': ";

	for (int i = 0; i < ANSWERS_MAX; i++) {
		struct err e = { 0 };
		char *raw = prompt_read_secret(i == 0 ? question : again, PROMPT_ECHO, &e), *answer;
		bool yes, no;

		if (raw == NULL) {
			log_debug("no answer: %s", err_text(&e));
			if (e.code == ERR_NONE_FOUND)
				log_error("The host key cannot be confirmed: %s.", err_text(&e));
			return false;
		}
		answer = trimmed(raw);
		yes = str_equal_nocase(answer, "yes") || (print != NULL && strcmp(answer, print) == 0);
		no = *answer == '\0' || str_equal_nocase(answer, "no");
		mem_free_string(raw);
		if (yes || no)
			return yes;
	}
	return false;
}

bool hostkey_ask_new(const struct hostkey_files *f, const struct key *k,
	const struct known_hosts_entry *plain)
{
	struct buf text = BUF_INIT(BUF_LIMIT_DEFAULT);
	char *print;
	bool yes;

	if (f->w->options->batch_mode) {
		log_error("No %s host key is known for %s, and BatchMode does not let us ask.", key_display_name(k), f->name);
		return false;
	}
	print = fingerprint(f, k);
	put_question(&text, f, k, print, plain);
	buf_printf(&text, "Are you sure you want to continue connecting (yes/no/[fingerprint])? ");
	yes = buf_ok(&text) && ask(buf_cstr(&text), print);
	free(print);
	buf_free(&text);
	return yes;
}

bool hostkey_ask_address(const struct hostkey_files *f, const struct key *k)
{
	char *print, *question;
	bool yes;

	if (f->w->options->batch_mode)
		return false;
	print = fingerprint(f, k);
	question = str_printf("The %s key of '%s' is %s.\nAre you sure you want to continue connecting (yes/no)? ",
		key_display_name(k), f->name, print);
	yes = ask(question, NULL);
	free(question);
	free(print);
	return yes;
}

/* ---- warnings */

static void box(const char *title)
{
	static const char rule[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";

	log_error("%s", rule);
	log_error("@  %-53s  @", title);
	log_error("%s", rule);
}

static const char *entry_type(const struct known_hosts_entry *entry)
{
	return entry->key != NULL ? key_display_name(entry->key) : entry->key_type;
}

static void show_offending(const struct known_hosts_entry *entry)
{
	log_error("Offending %s key in %s:%u", entry_type(entry), entry->path, entry->line);
}

static void show_remedy(const struct hostkey_files *f, const struct known_hosts_entry *entry)
{
	if (hostkey_files_is_user(f, entry)) {
		log_error("When you are certain of the new key, take the old one out:");
		log_error("  ssh-keygen -f '%s' -R '%s'", entry->path, f->name);
	} else {
		log_error("That line is not in a file of yours: ask whoever keeps it to put the new key there.");
	}
}

void hostkey_warn_changed(const struct hostkey_files *f, const struct key *k,
	const struct hostkey_change *change)
{
	char *print = fingerprint(f, k);

	box("WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!");
	log_error("The key that %s shows is not the one that is on file for it.", f->name);
	log_error("Either the server has got a new key, or somebody has put himself between you and the server and can read and");
	log_error("change everything that you exchange. Ask the server's administrator which of the two it is.");
	log_error("It shows the %s key %s", key_display_name(k), print);
	show_offending(change->entry);
	if (change->address_entry != NULL) {
		log_error("The same goes for its address %s.", f->address_name);
		show_offending(change->address_entry);
	} else if (f->address_name != NULL) {
		log_error("Its address %s is not on file with another key: the name may lead elsewhere now.", f->address_name);
	}
	show_remedy(f, change->entry);
	log_error("If a second ssh server runs on that host, reach it by its own port (-p), or by its own HostKeyAlias: keys are filed "
		"by port.");
	free(print);
}

void hostkey_warn_revoked(const struct hostkey_files *f, const struct key *k,
	const struct known_hosts_entry *entry)
{
	char *print = fingerprint(f, k);

	box("WARNING: REVOKED HOST KEY DETECTED!");
	log_error("The %s key %s of %s is marked as revoked in %s:%u.", key_display_name(k), print, f->name, entry->path,
		entry->line);
	log_error("It may have been stolen: whoever shows it may be somebody else.");
	free(print);
}

void hostkey_warn_address(const struct hostkey_files *f, const struct key *k, const struct known_hosts_entry *entry,
	const struct known_hosts_entry *host_entry)
{
	log_error("Warning: the %s host key of '%s' is not the one on file for the address '%s'.", key_display_name(k), f->name,
		f->address_name);
	show_offending(entry);
	if (host_entry != NULL)
		log_error("The name has its key in %s:%u", host_entry->path, host_entry->line);
}

void hostkey_show(const struct hostkey_files *f, const struct key *k)
{
	char *print = fingerprint(f, k), *art = key_randomart(k, hostkey_digest(f->w->options)), *rest = art, *line;

	log_info("Host key fingerprint is %s", print);
	while ((line = strsep(&rest, "\n")) != NULL)
		log_info("%s", line);
	free(print);
	free(art);
}
