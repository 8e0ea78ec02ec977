/* ssh_config: client/client_options.c, client/tokens.c and conf/ below them. A zero byte in the input divides the file from one
 * that it can include by the name "a". What was read must come through a copy unchanged. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "client/client_options.h"
#include "client/tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_init("fuzz", LOG_LEVEL_QUIET);
	/* Match exec runs nothing here. */
	setenv("SHELL", "/nonexistent", 1);
	return 0;
}

static void collect(void *ctx, const char *line)
{
	str_list_add(ctx, line);
}

static void dump_both(const struct client_options *o)
{
	struct client_options copy;
	struct str_list a = { 0 }, b = { 0 };
	size_t i;

	client_options_init(&copy);
	client_options_copy(&copy, o);
	client_options_dump(o, "host", collect, &a);
	client_options_dump(&copy, "host", collect, &b);
	if (a.count != b.count)
		abort();
	for (i = 0; i < a.count; i++)
		if (strcmp(a.v[i], b.v[i]) != 0)
			abort();
	str_list_clear(&a);
	str_list_clear(&b);
	client_options_clear(&copy);
}

/* Two passes, as a program makes them. */
static int read_passes(struct client_options *o, struct client_subject *who, struct err *e)
{
	int r = client_options_read_files(o, "/fuzz", who, e);

	if (r == 0)
		r = client_options_expand_hostname(o, who, e);
	if (r == 0 && client_options_need_final(o, who)) {
		char *host = mem_strdup(o->hostname);

		who->final_pass = true;
		who->host = host;
		r = client_options_read_files(o, "/fuzz", who, e);
		who->host = NULL;
		free(host);
	}
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size != 0 ? memchr(data, 0, size) : NULL;
	size_t first = zero != NULL ? (size_t)(zero - data) : size;
	struct client_subject who = { .host_arg = "host", .local_user = "me", .home = "/home" };
	struct str_list paths = { 0 };
	struct client_options o;
	struct client_tokens t;
	struct err e = { 0 };

	client_options_init(&o);
	conf_source_add_file(&who.files, "/fuzz", (const char *)data, first);
	conf_source_add_file(&who.files, "/included", zero != NULL ? (const char *)zero + 1 : "", zero != NULL ? size - first - 1 : 0);
	str_list_add(&paths, "/included");
	conf_source_add_glob(&who.files, "/home/.ssh/a", &paths);
	who.files.sealed = true;
	str_list_clear(&paths);
	if (read_passes(&o, &who, &e) == 0 && client_options_fill(&o, &who, &e) == 0) {
		client_tokens_fill(&t, &o, &who);
		if (client_options_expand(&o, &t, &e) == 0)
			dump_both(&o);
	}
	client_options_clear(&o);
	conf_source_clear(&who.files);
	return 0;
}
