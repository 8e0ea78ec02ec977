/* ssh-keygen.c: makes, shows and changes keys (ssh-keygen(1)).
 *
 * The command line fills struct keygen, the table of modes names the function that does the work. A mode returns its exit
 * status; fatal() ends the program with 255. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "crypto/digest.h"
#include "keys/key.h"
#include "keys/key_cipher.h"
#include "keys/key_file.h"
#include "keys/key_line.h"
#include "keys/key_rfc4716.h"
#include "paths.h"
#include "platform/prompt.h"

enum { EXIT_FATAL = 255, EXIT_FAILED = 1, NAME_ROOM = 4096, INPUT_MAX = 64 * 1024 * 1024 };
#define DEFAULT_TYPE "ed25519"

/* What the command line said. Strings are argv's; NULL or 0: not given. */
struct keygen {
	const char *file, *comment, *old_passphrase, *new_passphrase, *type, *cipher, *format;
	unsigned bits, rounds;
	enum digest_alg digest;
	bool quiet, verbose;
};

static void fatal(const char *fmt, ...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
static void fatal(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	log_vat(LOG_LEVEL_FATAL, fmt, ap);
	va_end(ap);
	exit(EXIT_FATAL);
}

/* ---- small things */

static const struct passwd *current_user(void)
{
	const struct passwd *pw = getpwuid(getuid());

	if (pw == NULL)
		fatal("No user exists for uid %lu", (unsigned long)getuid());
	return pw;
}

static char *user_at_host(void)
{
	char host[256];

	if (gethostname(host, sizeof(host)) != 0)
		fatal("gethostname: %s", strerror(errno));
	host[sizeof(host) - 1] = '\0';
	return str_printf("%s@%s", current_user()->pw_name, host);
}

/* Comments come from files that anyone may have made. */
static void print_text(const char *s)
{
	char *shown = str_escape_terminal(s, strlen(s));

	fputs(shown, stdout);
	free(shown);
}

/* A line from stdin after a question on stdout. NULL at the end of file. */
static char *ask_line(const char *question)
{
	char line[NAME_ROOM];

	fputs(question, stdout);
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin) == NULL)
		return NULL;
	line[strcspn(line, "\r\n")] = '\0';
	return mem_strdup(line);
}

/* End of file on a stdin that is no terminal counts as an empty answer, as scripts expect. */
static char *ask_passphrase(const char *question)
{
	struct err e = { 0 };
	char *answer;

	fflush(stdout);
	answer = prompt_read_secret(question, PROMPT_ALLOW_STDIN, &e);
	if (answer == NULL && e.code == ERR_CLOSED)
		return mem_strdup("");
	if (answer == NULL)
		fatal("%s", err_text(&e));
	return answer;
}

/* ---- key types and file names */

static const struct type_row {
	const char *name, *wire, *file;
	enum key_type type;
	unsigned bits;           /* that a wire name fixes */
} types[] = {
	{ "rsa", "ssh-rsa", "id_rsa", KEY_RSA, 0 },
	{ "ecdsa", NULL, "id_ecdsa", KEY_ECDSA, 0 },
	{ "ed25519", "ssh-ed25519", "id_ed25519", KEY_ED25519, 0 },
	{ NULL, "ecdsa-sha2-nistp256", "id_ecdsa", KEY_ECDSA, 256 },
	{ NULL, "ecdsa-sha2-nistp384", "id_ecdsa", KEY_ECDSA, 384 },
	{ NULL, "ecdsa-sha2-nistp521", "id_ecdsa", KEY_ECDSA, 521 }
};

static const struct type_row *find_type(const char *name)
{
	for (size_t i = 0; i < MEM_COUNT(types); i++)
		if ((types[i].name != NULL && str_equal_nocase(name, types[i].name)) ||
		    (types[i].wire != NULL && str_equal_nocase(name, types[i].wire)))
			return &types[i];
	if (strstr(name, "-sk") != NULL || str_starts(name, "sk-") || strstr(name, "mldsa") != NULL)
		fatal("key type %s is not supported by this version", name);
	fatal("unknown key type %s", name);
}

static char *default_file(const struct keygen *g)
{
	const struct type_row *t = find_type(g->type != NULL ? g->type : DEFAULT_TYPE);

	return str_printf("%s/.ssh/%s", current_user()->pw_dir, t->file);
}

/* -f, or the answer to a question; the default is the file of the key type. Allocated. */
static char *choose_file(const struct keygen *g, const char *question)
{
	char *path, *text, *answer;

	if (g->file != NULL)
		return mem_strdup(g->file);
	path = default_file(g);
	text = str_printf("%s (%s): ", question, path);
	answer = ask_line(text);
	free(text);
	if (answer == NULL)
		exit(EXIT_FAILED);
	if (*answer == '\0') {
		free(answer);
		return path;
	}
	free(path);
	return answer;
}

static char *choose_existing(const struct keygen *g)
{
	char *path = choose_file(g, "Enter file in which the key is");
	struct stat st;

	if (stat(path, &st) != 0)
		fatal("%s: %s", path, strerror(errno));
	return path;
}

/* ---- passphrases */

/* Asks twice. NULL if the answers differ. */
static char *ask_twice(const char *question)
{
	char *first = ask_passphrase(question), *second = ask_passphrase("Enter same passphrase again: ");
	bool same = strcmp(first, second) == 0;

	mem_free_string(second);
	if (same)
		return first;
	mem_free_string(first);
	return NULL;
}

static char *passphrase_for_new(const struct keygen *g, const char *path)
{
	char *question, *answer;

	if (g->new_passphrase != NULL)
		return mem_strdup(g->new_passphrase);
	if (g->old_passphrase != NULL)
		return mem_strdup(g->old_passphrase);
	question = str_printf("Enter passphrase for \"%s\" (empty for no passphrase): ", path);
	while ((answer = ask_twice(question)) == NULL)
		printf("Passphrases do not match.  Try again.\n");
	free(question);
	return answer;
}

struct loaded { struct key *key; char *comment, *passphrase; };

static void loaded_clear(struct loaded *l)
{
	key_free(l->key);
	free(l->comment);
	mem_free_string(l->passphrase);
}

/* The private key of path. given, else the answer to question, is its passphrase if it has one ("" if not). */
static int load_private(const char *path, const char *given, const char *question, struct loaded *l, struct err *e)
{
	struct err first = { 0 };
	int rc = key_private_load(path, NULL, &l->key, &l->comment, &first);

	l->passphrase = NULL;
	if (rc == ERR_DENIED) {
		l->passphrase = given != NULL ? mem_strdup(given) : ask_passphrase(question);
		rc = key_private_load(path, l->passphrase, &l->key, &l->comment, e);
	} else if (rc == 0) {
		l->passphrase = mem_strdup("");
	} else {
		err_set(e, rc, "%s", err_text(&first));
	}
	return rc;
}

/* ---- writing */

static void write_options(const struct keygen *g, const char *passphrase, const char *comment, struct key_write_options *o)
{
	static const struct { const char *name; int format; } formats[] = {
		{ "RFC4716", KEY_FORMAT_OPENSSH }, { "PKCS8", KEY_FORMAT_PKCS8 }, { "PEM", KEY_FORMAT_PEM }
	};

	memset(o, 0, sizeof(*o));
	o->passphrase = passphrase;
	o->comment = comment;
	o->cipher = g->cipher;
	o->rounds = g->rounds;
	for (size_t i = 0; g->format != NULL && i < MEM_COUNT(formats); i++)
		if (str_equal_nocase(g->format, formats[i].name))
			o->format = formats[i].format;
}

static void save_private(const struct keygen *g, const char *path, const struct key *k, const char *passphrase,
	const char *comment)
{
	struct key_write_options o;
	struct err e = { 0 };

	write_options(g, passphrase, comment, &o);
	if (key_private_save(path, k, &o, &e) == 0)
		return;
	fflush(stdout);
	log_error("Saving key \"%s\" failed: %s", path, err_text(&e));
	exit(EXIT_FAILED);
}

static void save_public(const char *path, const struct key *k, const char *comment)
{
	char *beside = str_printf("%s.pub", path);
	struct err e = { 0 };

	if (key_public_save(beside, k, comment, &e) != 0) {
		fflush(stdout);
		log_error("Unable to save public key to %s: %s", beside, err_text(&e));
		exit(EXIT_FAILED);
	}
	free(beside);
}

/* ---- generate */

/* ~/.ssh, if that is where the key goes and it is not there yet. */
static void make_ssh_folder(const struct keygen *g, const char *path)
{
	char *folder = str_printf("%s/.ssh", current_user()->pw_dir);
	struct stat st;

	if (str_starts(path, folder) && path[strlen(folder)] == '/' && stat(folder, &st) != 0 && errno == ENOENT) {
		if (mkdir(folder, 0700) != 0)
			log_error("Could not create directory '%s': %s", folder, strerror(errno));
		else if (!g->quiet)
			log_info("Created directory '%s'.", folder);
	}
	free(folder);
}

static bool may_overwrite(const char *path)
{
	struct stat st;
	char *answer;
	bool yes;

	if (stat(path, &st) != 0)
		return true;
	printf("%s already exists.\n", path);
	answer = ask_line("Overwrite (y/n)? ");
	yes = answer != NULL && (*answer == 'y' || *answer == 'Y');
	free(answer);
	return yes;
}

static void print_new_key(const struct keygen *g, const struct key *k, const char *path, const char *comment)
{
	char *fp = key_fingerprint(k, g->digest), *art = key_randomart(k, g->digest);

	printf("Your public key has been saved in %s.pub\n", path);
	printf("The key fingerprint is:\n%s ", fp);
	print_text(comment);
	printf("\nThe key's randomart image is:\n%s\n", art);
	free(fp);
	free(art);
}

static int mode_generate(const struct keygen *g)
{
	const char *name = g->type != NULL ? g->type : DEFAULT_TYPE;
	const struct type_row *t = find_type(name);
	char *path, *passphrase, *comment = g->comment != NULL ? mem_strdup(g->comment) : user_at_host();
	struct err e = { 0 };
	struct key *k = NULL;

	if (key_check_bits(t->type, t->bits != 0 ? t->bits : g->bits, &e) != 0)
		fatal("%s", err_text(&e));
	if (!g->quiet) {
		printf("Generating public/private %s key pair.\n", name);
		fflush(stdout);
	}
	k = key_generate(t->type, t->bits != 0 ? t->bits : g->bits, &e);
	if (k == NULL)
		fatal("%s", err_text(&e));
	path = choose_file(g, "Enter file in which to save the key");
	make_ssh_folder(g, path);
	if (!may_overwrite(path))
		exit(EXIT_FAILED);
	passphrase = passphrase_for_new(g, path);
	save_private(g, path, k, passphrase, comment);
	mem_free_string(passphrase);
	if (!g->quiet)
		printf("Your identification has been saved in %s\n", path);
	save_public(path, k, comment);
	if (!g->quiet)
		print_new_key(g, k, path, comment);
	key_free(k);
	free(path);
	free(comment);
	return 0;
}

/* ---- -A */

/* The file, which makes sshd start, comes last. */
static bool make_host_key(const struct keygen *g, const struct type_row *t, const char *path)
{
	char *comment = g->comment != NULL ? mem_strdup(g->comment) : user_at_host(), *beside = str_printf("%s.pub", path);
	struct key_write_options o;
	struct err e = { 0 };
	struct key *k = key_generate(t->type, g->bits, &e);
	int rc = k != NULL ? 0 : ERR_CRYPTO;

	write_options(g, "", comment, &o);
	if (rc == 0)
		rc = key_public_save(beside, k, comment, &e);
	if (rc == 0)
		rc = key_private_save(path, k, &o, &e);
	if (rc != 0) {
		fflush(stdout);
		log_error("Could not save your private key in %s: %s", path, err_text(&e));
	}
	key_free(k);
	free(beside);
	free(comment);
	return rc == 0;
}

static int mode_host_keys(const struct keygen *g)
{
	static const struct { const char *type, *shown; } wanted[] = {
		{ "rsa", "RSA" }, { "ecdsa", "ECDSA" }, { "ed25519", "ED25519" }
	};
	bool said = false, good = true;

	for (size_t i = 0; i < MEM_COUNT(wanted); i++) {
		char *path = str_printf("%s%s/ssh_host_%s_key", g->file != NULL ? g->file : "", PATH_SYSCONFDIR, wanted[i].type);
		struct stat st;

		if (stat(path, &st) == 0 && st.st_size != 0) {
			free(path);
			continue;
		}
		if (!g->quiet)
			printf("%s%s ", said ? "" : "ssh-keygen: generating new host keys: ", wanted[i].shown);
		fflush(stdout);
		said = true;
		good = make_host_key(g, find_type(wanted[i].type), path) && good;
		free(path);
	}
	if (said && !g->quiet)
		printf("\n");
	return good ? 0 : EXIT_FAILED;
}

/* ---- -p, -c, -y */

static int mode_passphrase(const struct keygen *g)
{
	char *path = choose_existing(g), *passphrase;
	struct loaded l;
	struct err e = { 0 };

	if (load_private(path, g->old_passphrase, "Enter old passphrase: ", &l, &e) != 0)
		fatal("Failed to load key %s: %s", path, err_text(&e));
	if (*l.comment != '\0' && !g->quiet) {
		printf("Key has comment '");
		print_text(l.comment);
		printf("'\n");
	}
	passphrase = g->new_passphrase != NULL ? mem_strdup(g->new_passphrase) :
		ask_twice("Enter new passphrase (empty for no passphrase): ");
	if (passphrase == NULL) {
		printf("Pass phrases do not match.  Try again.\n");
		exit(EXIT_FAILED);
	}
	save_private(g, path, l.key, passphrase, l.comment);
	if (!g->quiet)
		printf("Your identification has been saved with the new passphrase.\n");
	mem_free_string(passphrase);
	loaded_clear(&l);
	free(path);
	return 0;
}

static void print_comment_change(const char *before, const char *after)
{
	if (strcmp(before, after) == 0) {
		printf("No change to comment\n");
		return;
	}
	if (*after == '\0') {
		printf("Comment removed\n");
		return;
	}
	printf("Comment '");
	print_text(after);
	printf("' applied\n");
}

static int mode_comment(const struct keygen *g)
{
	const char *given = g->old_passphrase != NULL ? g->old_passphrase : g->new_passphrase;
	char *path = choose_existing(g), *after;
	struct loaded l;
	struct err e = { 0 };

	if (load_private(path, given, "Enter passphrase: ", &l, &e) != 0)
		fatal("Cannot load private key \"%s\": %s", path, err_text(&e));
	if (*l.comment != '\0') {
		printf("Old comment: ");
		print_text(l.comment);
		printf("\n");
	} else {
		printf("No existing comment\n");
	}
	after = g->comment != NULL ? mem_strdup(g->comment) : ask_line("New comment: ");
	if (after == NULL)
		exit(EXIT_FAILED);
	if (strcmp(l.comment, after) != 0) {
		save_private(g, path, l.key, l.passphrase, after);
		save_public(path, l.key, after);
	}
	print_comment_change(l.comment, after);
	free(after);
	loaded_clear(&l);
	free(path);
	return 0;
}

/* For -y and -e: the key of a private file. */
static void load_identity(const struct keygen *g, const char *path, struct loaded *l)
{
	char *question = str_printf("Enter passphrase for \"%s\": ", path);
	struct err e = { 0 };

	if (load_private(path, g->old_passphrase, question, l, &e) != 0)
		fatal("Load key \"%s\": %s", path, err_text(&e));
	free(question);
}

static int mode_public(const struct keygen *g)
{
	char *path = choose_existing(g), *line;
	struct loaded l;

	load_identity(g, path, &l);
	line = key_public_line(l.key);
	fputs(line, stdout);
	if (*l.comment != '\0') {
		printf(" ");
		print_text(l.comment);
	}
	printf("\n");
	free(line);
	loaded_clear(&l);
	free(path);
	return 0;
}

/* ---- -l, -B */

static void print_fingerprint(const struct keygen *g, const struct key *k, const char *comment)
{
	char *fp = key_fingerprint(k, g->digest), *art = g->verbose ? key_randomart(k, g->digest) : NULL;

	printf("%u %s ", key_bits(k), fp);
	print_text(*comment != '\0' ? comment : "no comment");
	printf(" (%s)\n", key_display_name(k));
	if (art != NULL)
		printf("%s\n", art);
	free(fp);
	free(art);
}

static void print_bubblebabble(const struct keygen *g, const struct key *k, const char *comment)
{
	struct view blob = key_blob(k);
	uint8_t d[DIGEST_MAX];
	char *fp;

	if (digest_bytes(DIGEST_SHA1, blob.p, blob.n, d) != 0)
		fatal("SHA1 is not available");
	fp = key_bubblebabble((struct view){ d, digest_size(DIGEST_SHA1) });
	printf("%u %s ", key_bits(k), fp);
	print_text(*comment != '\0' ? comment : "no comment");
	printf(" (%s)\n", key_display_name(k));
	free(fp);
}

typedef void print_key_fn(const struct keygen *g, const struct key *k, const char *comment);

/* A private key file: by its public half, else, if no passphrase guards it, as it is. */
static int show_private(const struct keygen *g, const char *path, print_key_fn *print)
{
	char *comment = NULL;
	struct key *k;

	if (key_public_load(path, &k, &comment, NULL) != 0 && key_private_load(path, NULL, &k, &comment, NULL) != 0)
		fatal("%s is not a key file.", path);
	print(g, k, comment);
	key_free(k);
	free(comment);
	return 0;
}

static int show_lines(const struct keygen *g, const char *text, size_t n, print_key_fn *print)
{
	size_t cursor = 0;
	char *line, *comment;
	struct key *k;
	int shown = 0;

	while (key_line_next(text, n, &cursor, &line)) {
		struct err e = { 0 };
		int rc;

		if (line == NULL) {
			log_info("line skipped: %s", KEY_LINE_ZERO);
			continue;
		}
		rc = key_listed_parse(line, &k, &comment, &e);
		free(line);
		if (rc != 0) {
			if (e.code != 0)
				log_debug2("line skipped: %s", err_text(&e));
			continue;
		}
		print(g, k, comment);
		shown++;
		key_free(k);
		free(comment);
	}
	return shown;
}

static int show_keys(const struct keygen *g, print_key_fn *print)
{
	bool is_stdin = g->file != NULL && strcmp(g->file, "-") == 0;
	char *path = is_stdin ? mem_strdup("(stdin)") : choose_file(g, "Enter file in which the key is"), *text, *first_end;
	struct err e = { 0 };
	size_t n;
	int rc;

	rc = is_stdin ? path_read_fd(STDIN_FILENO, INPUT_MAX, &text, &n, &e) : path_read_file(path, INPUT_MAX, &text, &n, &e);
	if (rc != 0)
		fatal("ssh-keygen: %s", err_text(&e));
	first_end = strchr(text, '\n');
	if (!is_stdin && first_end != NULL && memmem(text, (size_t)(first_end - text), "PRIVATE KEY", 11) != NULL)
		rc = show_private(g, path, print);
	else if (show_lines(g, text, n, print) == 0)
		fatal("%s is not a public key file.", path);
	mem_free_secret(text, n);
	free(path);
	return rc;
}

static int mode_fingerprint(const struct keygen *g)
{
	return show_keys(g, print_fingerprint);
}

static int mode_bubblebabble(const struct keygen *g)
{
	return show_keys(g, print_bubblebabble);
}

/* ---- -e, -i */

static void only_rfc4716(const struct keygen *g)
{
	if (g->format != NULL && !str_equal_nocase(g->format, "RFC4716") && !str_equal_nocase(g->format, "ssh2"))
		fatal("format %s of public keys is not supported by this version, only RFC4716", g->format);
}

static int mode_export(const struct keygen *g)
{
	char *path = choose_existing(g), *who = user_at_host(), *comment;
	struct buf out = BUF_INIT(BUF_LIMIT_DEFAULT);
	struct loaded l = { .key = NULL };

	only_rfc4716(g);
	if (key_public_load(path, &l.key, NULL, NULL) != 0)
		load_identity(g, path, &l);
	comment = str_printf("%u-bit %s, converted by %s from OpenSSH", key_bits(l.key), key_display_name(l.key), who);
	key_rfc4716_put(l.key, comment, &out);
	fputs(buf_cstr(&out), stdout);
	buf_free(&out);
	free(comment);
	free(who);
	loaded_clear(&l);
	free(path);
	return 0;
}

static int mode_import(const struct keygen *g)
{
	char *path = choose_existing(g), *text, *line;
	struct err e = { 0 };
	struct key *k;
	size_t n;

	only_rfc4716(g);
	if (path_read_file(path, INPUT_MAX, &text, &n, &e) != 0)
		fatal("%s", err_text(&e));
	if (key_rfc4716_parse(text, n, &k, &e) != 0)
		fatal("%s: %s", path, err_text(&e));
	line = key_public_line(k);
	printf("%s\n", line);
	free(line);
	key_free(k);
	free(text);
	free(path);
	return 0;
}

/* ---- command line */

typedef int mode_fn(const struct keygen *g);

/* NULL: known to users of ssh-keygen, not in this version. */
static const struct mode { char letter; mode_fn *run; } modes[] = {
	{ 'A', mode_host_keys }, { 'B', mode_bubblebabble }, { 'c', mode_comment }, { 'e', mode_export }, { 'i', mode_import },
	{ 'X', mode_import }, { 'l', mode_fingerprint }, { 'p', mode_passphrase }, { 'y', mode_public },
	{ 'D', NULL }, { 'F', NULL }, { 'H', NULL }, { 'I', NULL }, { 'K', NULL }, { 'L', NULL }, { 'M', NULL }, { 'O', NULL },
	{ 'Q', NULL }, { 'R', NULL }, { 'U', NULL }, { 'V', NULL }, { 'Y', NULL }, { 'g', NULL }, { 'h', NULL }, { 'k', NULL },
	{ 'n', NULL }, { 'r', NULL }, { 's', NULL }, { 'u', NULL }, { 'w', NULL }, { 'z', NULL }
};

static void usage(void) __attribute__((noreturn));
static void usage(void)
{
	fputs("usage: ssh-keygen [-q] [-a rounds] [-b bits] [-C comment] [-E hash] [-f file] [-m format]\n"
		"                  [-N new_passphrase] [-t ecdsa | ed25519 | rsa] [-Z cipher]\n"
		"       ssh-keygen -p [-a rounds] [-f file] [-m format] [-N new_passphrase] [-P old_passphrase] [-Z cipher]\n"
		"       ssh-keygen -c [-a rounds] [-C comment] [-f file] [-P passphrase]\n"
		"       ssh-keygen -y [-f file] [-P passphrase]\n"
		"       ssh-keygen -l [-v] [-E hash] [-f file]\n"
		"       ssh-keygen -B [-f file]\n"
		"       ssh-keygen -e [-f file]\n"
		"       ssh-keygen -i [-f file]\n"
		"       ssh-keygen -A [-a rounds] [-f prefix]\n", stderr);
	exit(EXIT_FAILED);
}

static unsigned parse_number(const char *text, const char *what, uint64_t max)
{
	uint64_t v;

	if (str_to_u64(text, 1, max, &v) != 0)
		fatal("%s has bad value %s (a number from 1 to %llu is wanted)", what, text, (unsigned long long)max);
	return (unsigned)v;
}

static const char *check_format(const char *name)
{
	static const char *const known[] = { "RFC4716", "ssh2", "PKCS8", "PEM" };

	for (size_t i = 0; i < MEM_COUNT(known); i++)
		if (str_equal_nocase(name, known[i]))
			return name;
	fatal("Unsupported conversion format \"%s\"", name);
}

static const char *check_cipher(const char *name)
{
	const struct key_cipher *c = key_cipher_find((struct view){ (const uint8_t *)name, strlen(name) });

	if (c == NULL || c->mode == KEY_CIPHER_NONE)
		fatal("Invalid OpenSSH-format cipher '%s'", name);
	return name;
}

/* False if the letter is no option with an own value or effect, but a mode. */
static bool take_option(struct keygen *g, int letter, const char *value)
{
	switch (letter) {
	case 'C': g->comment = value; break;
	case 'E':
		if (digest_parse(value, &g->digest) != 0)
			fatal("Invalid hash algorithm \"%s\"", value);
		break;
	case 'N': g->new_passphrase = value; break;
	case 'P': g->old_passphrase = value; break;
	case 'Z': g->cipher = check_cipher(value); break;
	case 'a': g->rounds = parse_number(value, "Rounds", 1 << 20); break;
	case 'b': g->bits = parse_number(value, "Bits", 1 << 20); break;
	case 'f': g->file = value; break;
	case 'm': g->format = check_format(value); break;
	case 'o': break; /* the default for a long time */
	case 'q': g->quiet = true; break;
	case 't': g->type = value; break;
	case 'v': g->verbose = true; break;
	default: return false;
	}
	return true;
}

static void choose_mode(int letter, const struct mode **mode)
{
	const struct mode *m = NULL;

	for (size_t i = 0; i < MEM_COUNT(modes); i++)
		if (modes[i].letter == letter)
			m = &modes[i];
	if (m == NULL)
		usage();
	if (m->run == NULL)
		fatal("option -%c is not supported by this version of ssh-keygen", letter);
	if (*mode != NULL && (*mode)->run != m->run)
		fatal("Can only have one of -%c and -%c.", (*mode)->letter, letter);
	*mode = m;
}

static void raise_log_level(void)
{
	enum log_level now = log_level_get();

	if (now < LOG_LEVEL_DEBUG1)
		log_set_level(LOG_LEVEL_DEBUG1);
	else if (now < LOG_LEVEL_DEBUG3)
		log_set_level((enum log_level)(now + 1));
}

int main(int argc, char **argv)
{
	struct keygen g = { .digest = DIGEST_SHA256 };
	const struct mode *mode = NULL;
	int letter, status;

	setlocale(LC_CTYPE, "");
	log_init("ssh-keygen", LOG_LEVEL_INFO);
	while ((letter = getopt(argc, argv, "ABHKLQUXceghiklopquvyC:D:E:F:I:M:N:O:P:R:V:Y:Z:a:b:f:m:n:r:s:t:w:z:")) != -1) {
		if (letter == 'v')
			raise_log_level();
		if (!take_option(&g, letter, optarg))
			choose_mode(letter, &mode);
	}
	if (optind < argc) {
		log_error("Too many arguments.");
		usage();
	}
	status = mode != NULL ? mode->run(&g) : mode_generate(&g);
	if (fflush(stdout) != 0 || ferror(stdout))
		fatal("cannot write to stdout: %s", strerror(errno));
	return status;
}
