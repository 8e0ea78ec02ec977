/* Two ends of one connection in this process: engines, carriers and a socket pair on one loop, authenticated. */
#ifndef TEST_CHANNEL_PEERS_H
#define TEST_CHANNEL_PEERS_H

#include "channel/carrier.h"
#include "channel/channel.h"
#include "io/loop.h"
#include "keys/key.h"
#include "transport.h"

struct peer {
	struct transport *transport;
	struct carrier *carrier;
	struct channels *channels;
	int fd;
	unsigned exchanges;
	bool ended;
};

struct peers {
	struct loop *loop;
	struct key *host_key;
	struct peer client, server;
	struct channels_user client_user, server_user;
	uint64_t rekey_bytes;
	const char *cipher;      /* NULL: aes128-gcm@openssh.com */
	bool window_fixed;
	uint32_t client_echo, server_echo;       /* channel-echo@wirespeed */
	bool first_is_zero;      /* channels_options of the client */
};

/* Runs the first exchange and starts the connection protocol on both sides. */
void peers_start(struct peers *p);
void peers_stop(struct peers *p);
/* Turns the loop until *flag, at most for ten seconds: fails the test then. */
void peers_run_until(struct peers *p, const bool *flag);

#endif
