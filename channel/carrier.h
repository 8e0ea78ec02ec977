/* channel/carrier.h: moves bytes between a transport and its socket on a loop. Used before and after authentication. */
#ifndef CHANNEL_CARRIER_H
#define CHANNEL_CARRIER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "io/net.h"
#include "transport.h"

struct loop;

struct carrier_user {
	void *ctx;
	/* One message of the layers above the transport. Views are good until it returns. Negative ends the connection: the
	 * callee has recorded the reason with carrier_fail. */
	int (*message)(void *ctx, const struct message *m);
	/* Output fell under low water and no exchange runs: the moment to fill packets. May be NULL. */
	void (*pull)(void *ctx);
	/* The connection is over (carrier_err says why; code ERR_CLOSED for an orderly end). What was queued for the peer, such
	 * as a DISCONNECT, has been sent as far as that went without waiting. Called once, from the loop. */
	void (*ended)(void *ctx);
};

struct carrier;
/* transport and the descriptors are borrowed; fd_in and fd_out may be the same socket or two pipes. Starts watching. */
struct carrier *carrier_new(struct loop *l, struct transport *t, int fd_in, int fd_out, struct err *e);
void carrier_free(struct carrier *c);
/* Changes who gets messages: authentication, then the connection protocol. Copied. */
void carrier_set_user(struct carrier *c, const struct carrier_user *u);
/* Something was queued, or a channel became ready: send and pull as far as possible, now or at the end of this turn. */
void carrier_kick(struct carrier *c);
/* No message is dispatched any more until resumed (hand-off: nothing is parsed behind the deciding request). */
void carrier_pause(struct carrier *c, bool paused);
/* Records an error of the layer above and ends the connection at the end of the turn, with DISCONNECT if reason is not 0. */
int carrier_fail(struct carrier *c, int code, uint32_t reason, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Sends DISCONNECT and everything queued, waiting for the socket at most timeout_ms. */
void carrier_disconnect(struct carrier *c, uint32_t reason, const char *text, int timeout_ms);
/* Waits (blocking) until everything queued has left; ERR_IO or ERR_CLOSED. */
int carrier_flush(struct carrier *c, int timeout_ms, struct err *e) MUST_USE;
const struct err *carrier_err(const struct carrier *c);
struct transport *carrier_transport(const struct carrier *c);
struct loop *carrier_loop(const struct carrier *c);
/* Round trip of the socket (TCP_INFO), now and the least lately, 0 if unknown; read anew at most every 20 ms. */
struct net_rtt carrier_rtt(struct carrier *c);
/* Bytes a second that the socket took lately; 0 if unknown. */
uint64_t carrier_rate(const struct carrier *c);
/* How much output may wait in this process before nothing more is pulled: what the line takes in some 6 ms. */
size_t carrier_out_high(const struct carrier *c);
/* Time of the last byte from the peer (clock_mono_ms), for ClientAlive and ServerAlive. */
uint64_t carrier_last_input_ms(const struct carrier *c);
int carrier_fd(const struct carrier *c);                 /* fd_in */

#endif
