/* proposal.h: the ten lists of KEXINIT (RFC 4253 §7.1), and what two of them agree on. Arithmetic, no I/O. */
#ifndef PROPOSAL_H
#define PROPOSAL_H

#include <stdbool.h>
#include "base/err.h"
#include "wire/buf.h"
#include "wire/reader.h"

/* Comma separated lists, owned. *_out and *_in are not seen from a role: c2s is client to server. */
enum proposal_list {
	PROPOSAL_KEX, PROPOSAL_HOST_KEY, PROPOSAL_CIPHER_C2S, PROPOSAL_CIPHER_S2C, PROPOSAL_MAC_C2S, PROPOSAL_MAC_S2C,
	PROPOSAL_COMPRESS_C2S, PROPOSAL_COMPRESS_S2C, PROPOSAL_LANG_C2S, PROPOSAL_LANG_S2C, PROPOSAL_COUNT
};
struct proposal { char *list[PROPOSAL_COUNT]; bool guess_follows; };

void proposal_set(struct proposal *p, enum proposal_list which, const char *names);
void proposal_copy(struct proposal *dst, const struct proposal *src);
void proposal_clear(struct proposal *p);

/* KEXINIT body behind the type byte, with a fresh cookie. */
void proposal_put(const struct proposal *p, struct buf *out);
int proposal_get(struct reader *r, struct proposal *out, struct err *e) MUST_USE;

/* What was agreed; names owned. */
struct agreement {
	char *kex, *host_key, *cipher_c2s, *cipher_s2c, *mac_c2s, *mac_s2c, *compress_c2s, *compress_s2c;
	bool first_guess_right;  /* RFC 4253 §7: both first kex and first host key names equal */
};
/* RFC 4253 §7.1 selection. With an AEAD cipher the MAC is not negotiated ("<implicit>"; OpenSSH's PROTOCOL).
 * No common name: ERR_PEER, text "no matching cipher found. Their offer: LIST" (host key type, key exchange method, MAC,
 * compression). MAC none with a cipher that is neither none nor AEAD, and none in one direction only, are refused. */
int proposal_agree(const struct proposal *client, const struct proposal *server, bool we_are_client,
	struct agreement *out, struct err *e) MUST_USE;
void agreement_clear(struct agreement *a);

/* Compiled defaults: those of OpenSSH as far as built in; for options and -Q. */
const char *proposal_default_kex(bool server);
const char *proposal_default_ciphers(void);
const char *proposal_default_macs(void);
/* Rows for -Q kex and for checking configured lists; NULL past the end. */
const char *proposal_kex_at(size_t i);

#endif
