/* client/guess.c: guesses of the first packet of a key exchange. Layer: client. Arithmetic on lists. */
#include "client/guess.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

static const char guess_by_result[] = "kexguess2@matt.ucc.asn.au";

static bool has(const char *names, const char *name)
{
	return names != NULL && str_names_has(names, name, strlen(name));
}

static bool is_first(const char *names, const char *name)
{
	const char *first;
	size_t n;

	return names != NULL && str_next_name(&names, &first, &n) && str_is(first, n, name);
}

/* The list with name in front; allocated. */
static char *put_first(const char *names, const char *name)
{
	struct str_list l = { 0 };
	const char *each;
	char *out;
	size_t n;

	str_list_add(&l, name);
	while (str_next_name(&names, &each, &n))
		if (!str_is(each, n, name))
			str_list_add_n(&l, each, n);
	out = str_list_join(&l, ",");
	str_list_clear(&l);
	return out;
}

static void move_first(struct proposal *p, enum proposal_list which, const char *name)
{
	char *names = put_first(p->list[which], name);

	proposal_set(p, which, names);
	free(names);
}

bool guess_apply(const struct peer_record *r, bool host_key_known, struct proposal *p)
{
	if (!r->guess || r->kex[0] == '\0' || r->host_key[0] == '\0')
		return false;
	if (!has(p->list[PROPOSAL_KEX], r->kex) || !has(p->list[PROPOSAL_HOST_KEY], r->host_key))
		return false;
	if (!host_key_known && !is_first(p->list[PROPOSAL_HOST_KEY], r->host_key))
		return false;
	move_first(p, PROPOSAL_KEX, r->kex);
	move_first(p, PROPOSAL_HOST_KEY, r->host_key);
	p->guess_follows = true;
	return true;
}

void guess_learn(const struct proposal *ours, const struct proposal *theirs, struct peer_record *r)
{
	struct agreement a = { 0 };
	struct err e = { 0 };

	r->kex[0] = r->host_key[0] = '\0';
	r->guess = false;
	if (proposal_agree(ours, theirs, true, &a, &e) < 0)
		return;
	if (str_copy(r->kex, sizeof(r->kex), a.kex) && str_copy(r->host_key, sizeof(r->host_key), a.host_key))
		/* With kexguess2 it is enough that ours come out; without, theirs must be the same from the start. */
		r->guess = has(theirs->list[PROPOSAL_KEX], guess_by_result) ||
			(is_first(theirs->list[PROPOSAL_KEX], a.kex) && is_first(theirs->list[PROPOSAL_HOST_KEY], a.host_key));
	else
		r->kex[0] = r->host_key[0] = '\0';
	agreement_clear(&a);
}
