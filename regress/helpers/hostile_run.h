/* hostile_run.h: hostile clients as tables: PROGRAM list prints what there is ("NAME<tab>LOG", where LOG is an extended regular
 * expression of the line that the server must log, @ in it the client as "127.0.0.1 port N"); PROGRAM PORT NAME
 * [key=FILE] [user=NAME] [n=COUNT] [compress=NAME] does one of them and prints "port=N end=... text". Exit status 0 if it ended as expected. */
#ifndef HOSTILE_RUN_H
#define HOSTILE_RUN_H

#include "hostile.h"

struct hostile_case {
	const char *name;
	void (*run)(struct hostile *h);
	int end;                 /* enum hostile_end, or several */
	const char *log;         /* NULL: nothing in particular */
	const char *text;        /* in the DISCONNECT; NULL: any */
};

extern const struct hostile_case hostile_cases[];        /* until name is NULL */
void hostile_begin(struct hostile *h);                   /* up to the phase of this program */

static unsigned hostile_count;                           /* n= */
static const char *hostile_compress = "none";            /* compress= */

static inline unsigned hostile_n(unsigned otherwise)
{
	return hostile_count != 0 ? hostile_count : otherwise;
}

static inline int hostile_accept_key(void *ctx, struct key *k, struct view blob, struct err *e)
{
	return 0;
}

static inline void hostile_begin_engine(struct hostile *h)
{
	struct transport_options o = { .software = "hostile_1.0",
		.cb = { .ctx = h, .check_host_key = hostile_accept_key } };

	hostile_proposal(&o.proposal, "ssh-ed25519");
	proposal_set(&o.proposal, PROPOSAL_COMPRESS_C2S, hostile_compress);
	proposal_set(&o.proposal, PROPOSAL_COMPRESS_S2C, hostile_compress);
	hostile_start_engine(h, &o);
	proposal_clear(&o.proposal);
	while (transport_exchange_count(h->t) == 0 && hostile_turn(h, HOSTILE_WAIT_MS))
		;
	if (transport_exchange_count(h->t) == 0)
		hostile_die("key exchange", transport_err(h->t));
}

static inline unsigned hostile_local_port(const struct hostile *h)
{
	struct sockaddr_in sa = { 0 };
	socklen_t n = sizeof(sa);

	(void)getsockname(h->fd, (struct sockaddr *)&sa, &n);
	return ntohs(sa.sin_port);
}

static inline bool hostile_as_expected(const struct hostile *h, const struct hostile_case *c)
{
	if ((c->end & (int)h->end) == 0)
		return false;
	return c->text == NULL || (h->text != NULL && strstr(h->text, c->text) != NULL);
}

static inline int hostile_run(int port, const struct hostile_case *c, const char *user, const char *key_file)
{
	struct hostile h = { .user = user };
	struct err e = { 0 };
	unsigned local;
	bool good;

	if (key_file != NULL && key_private_load(key_file, NULL, &h.key, NULL, &e) < 0)
		hostile_die(key_file, &e);
	hostile_init(&h, hostile_connect(port));
	local = hostile_local_port(&h);
	hostile_begin(&h);
	c->run(&h);
	good = hostile_as_expected(&h, c);
	printf("port=%u end=%s", local, hostile_end_name(h.end));
	if (h.end == END_DISCONNECT)
		printf(" reason=%u \"%s\"", h.reason, h.text);
	printf("%s\n", good ? "" : " (not as expected)");
	hostile_clear(&h);
	key_free(h.key);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	const char *user = "root", *key_file = NULL;
	const struct hostile_case *c;

	(void)signal(SIGPIPE, SIG_IGN);
	log_init("hostile", getenv("ENGINE_DEBUG") != NULL ? LOG_LEVEL_DEBUG3 : LOG_LEVEL_QUIET);
	crypto_init();
	for (c = hostile_cases; argc == 2 && strcmp(argv[1], "list") == 0 && c->name != NULL; c++)
		printf("%s\t%s\n", c->name, c->log != NULL ? c->log : "");
	if (argc == 2)
		return 0;
	for (int i = 3; i < argc; i++) {
		if (str_starts(argv[i], "user="))
			user = argv[i] + 5;
		else if (str_starts(argv[i], "key="))
			key_file = argv[i] + 4;
		else if (str_starts(argv[i], "n="))
			hostile_count = (unsigned)strtoul(argv[i] + 2, NULL, 10);
		else if (str_starts(argv[i], "compress="))
			hostile_compress = argv[i] + 9;
	}
	for (c = hostile_cases; argc > 2 && c->name != NULL; c++)
		if (strcmp(argv[2], c->name) == 0)
			return hostile_run((int)strtol(argv[1], NULL, 10), c, user, key_file);
	hostile_die("usage: list | PORT CASE [key=FILE] [user=NAME] [n=COUNT] [compress=NAME]", &(struct err){ .code = ERR_USAGE });
	return 2;
}

#endif
