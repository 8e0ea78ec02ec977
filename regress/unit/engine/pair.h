/* Two transports that talk through memory; what the tests of the engine share. */
#ifndef REGRESS_UNIT_ENGINE_PAIR_H
#define REGRESS_UNIT_ENGINE_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keys/key.h"
#include "transport.h"
#include "wire/buf.h"

enum { PAIR_CLIENT, PAIR_SERVER };

struct pair;

struct pair_end {
	struct pair *pair;
	struct transport *t;
	struct transport_options opt;
	bool is_server;
	/* What happened. */
	unsigned messages[256];          /* that came to the layer above, by type */
	uint8_t last_type;
	struct buf last_body;
	struct buf data;                 /* of CHANNEL_DATA */
	unsigned keys_changed, session_begun, host_key_checks, signatures, host_key_questions;
	int accept;                      /* answer to check_host_key */
	int result;                      /* last negative result of transport_next */
	struct buf ext;                  /* "name=value\n" */
	struct buf debug;
	/* What the other side gets in one go at most; 0: everything. */
	size_t step;
	struct buf sent;                 /* everything that left, if capture */
	bool capture;
	/* Called for each message; may be NULL. */
	void (*on_message)(struct pair_end *e, const struct message *m);
};

struct pair {
	struct pair_end end[2];
	struct key *host_key;            /* of the server; shared, lives as long as the process */
	struct key *other_key;           /* given for algorithms of its type instead, if set; owned */
};

/* Lists that hold everything built in, for both sides; the host key is of host_key_alg. */
void pair_init(struct pair *p, const char *host_key_alg);
/* One list on both sides. */
void pair_set(struct pair *p, enum proposal_list which, const char *names);
void pair_set_cipher(struct pair *p, const char *cipher, const char *mac);
/* Makes both and starts them. */
void pair_open(struct pair *p);
void pair_close(struct pair *p);
/* Moves bytes until neither side has any. */
void pair_run(struct pair *p);
/* Moves what one side has pending, once; true if there was anything. */
bool pair_step(struct pair *p, int from);
/* pair_open, pair_run, and both have keys. */
void pair_handshake(struct pair *p);
/* Says that authentication is over, on both sides, with the message that does. */
void pair_authenticate(struct pair *p);

struct key *pair_key(const char *host_key_alg);
/* Sends bytes as CHANNEL_DATA as far as it goes; returns how many went. */
size_t pair_send(struct pair_end *e, const uint8_t *bytes, size_t n, size_t body_max);
/* A small message of the layers above. */
void pair_say(struct pair_end *e, uint8_t type, const char *text);
uint64_t pair_random(uint64_t *seed);

#endif
