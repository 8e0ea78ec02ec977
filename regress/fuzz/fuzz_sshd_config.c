/* sshd_config and its hand-over: server/server_options.c and conf/ below it. The first byte chooses: the rest is a configuration (a
 * zero byte divides it from a file that it can include as "a"), or what another process hands over. What is handed over again must
 * mean the same. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "paths.h"
#include "server/server_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_init("fuzz", LOG_LEVEL_QUIET);
	return 0;
}

static void collect(void *ctx, const char *line)
{
	str_list_add(ctx, line);
}

/* A dump looks names up; addresses only are let through. */
static bool dumpable(const struct server_options *o)
{
	uint8_t bytes[16];
	size_t i;

	for (i = 0; i < o->listen_address.count; i++)
		if (inet_pton(AF_INET, o->listen_address.v[i].host, bytes) != 1 && inet_pton(AF_INET6, o->listen_address.v[i].host, bytes) != 1)
			return false;
	return true;
}

static void must_be_same(const struct server_options *x, const struct server_options *y)
{
	struct str_list a = { 0 }, b = { 0 };
	size_t i;

	if (!dumpable(x))
		return;
	server_options_dump(x, collect, &a);
	server_options_dump(y, collect, &b);
	if (a.count != b.count)
		abort();
	for (i = 0; i < a.count; i++)
		if (strcmp(a.v[i], b.v[i]) != 0)
			abort();
	str_list_clear(&a);
	str_list_clear(&b);
}

static void use(const struct server_config *c)
{
	struct str_list groups = { 0 };
	struct server_subject who = {
		.user = "ann", .groups = &groups, .host = "h", .address = "192.0.2.1", .local_address = "::1", .local_port = 22
	};
	struct server_options a = { .marks = { { 0 } } }, b = { .marks = { { 0 } } };
	struct buf out = BUF_INIT(16 << 20);
	struct server_config *again;
	struct reader r;
	struct err e = { 0 };

	str_list_add(&groups, "staff");
	server_config_put(c, &out);
	if (!buf_ok(&out))
		abort();
	reader_init(&r, out.data, out.size);
	again = server_config_get(&r, &e);
	if (again == NULL)
		abort();
	must_be_same(server_config_options(c), server_config_options(again));
	if (server_config_match(c, &who, &a, &e) == 0 && server_config_match(again, &who, &b, &e) == 0)
		must_be_same(&a, &b);
	server_options_clear(&a);
	server_options_clear(&b);
	server_config_free(again);
	str_list_clear(&groups);
	buf_free(&out);
}

static void put_text(struct buf *out, const uint8_t *data, size_t size)
{
	const uint8_t *zero = size != 0 ? memchr(data, 0, size) : NULL;
	size_t first = zero != NULL ? (size_t)(zero - data) : size;
	size_t rest = zero != NULL ? size - first - 1 : 0, i;

	buf_put_cstring(out, "/fuzz");
	buf_put_cstring(out, "/");
	buf_put_cstring(out, "/root");
	buf_put_u32(out, 0);
	buf_put_u32(out, 0);
	buf_put_u32(out, 2);
	buf_put_cstring(out, "/fuzz");
	buf_put_string(out, data, first);
	buf_put_cstring(out, "/included");
	buf_put_u32(out, (uint32_t)rest);
	for (i = 0; i < rest; i++)
		buf_put_u8(out, zero[1 + i] != 0 ? zero[1 + i] : '\n');
	buf_put_u32(out, 1);
	buf_put_cstring(out, PATH_SYSCONFDIR "/a");
	buf_put_u32(out, 1);
	buf_put_cstring(out, "/included");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf blob = BUF_INIT(16 << 20);
	struct server_config *c;
	struct reader r;
	struct err e = { 0 };

	if (size == 0)
		return 0;
	if (data[0] == 'H')
		buf_put(&blob, data + 1, size - 1);
	else
		put_text(&blob, data + 1, size - 1);
	reader_init(&r, blob.data, blob.size);
	c = server_config_get(&r, &e);
	if (c != NULL)
		use(c);
	server_config_free(c);
	buf_free(&blob);
	return 0;
}
