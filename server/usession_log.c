/* server/usession_log.c: lines for scrapers. */
#include "server/usession_log.h"

#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "server/user_private.h"
#include "transport.h"

void usession_log_kex(const struct user *u)
{
	const struct agreement *a = transport_agreement(u->transport);

	log_info("SSH: Server;Ltype: Kex;Remote: %s-%u;Enc: %s;MAC: %s;Comp: %s", u->setup.ends.remote_ip,
		u->setup.ends.remote_port, a->cipher_c2s, a->mac_c2s, a->compress_c2s);
}

void usession_log_authname(const struct user *u)
{
	char *user = str_escape_log(u->setup.user, strlen(u->setup.user), 128);

	log_info("SSH: Server;Ltype: Authname;Remote: %s-%u;Name: %s", u->setup.ends.remote_ip, u->setup.ends.remote_port,
		user);
	free(user);
}

void usession_log_throughput(const struct user *u)
{
	uint64_t in = transport_bytes(u->transport, PACKET_IN), out = transport_bytes(u->transport, PACKET_OUT);
	uint64_t ms = clock_mono_ms() - u->start_ms;
	double seconds = (double)(ms > 0 ? ms : 1) / 1000;

	/* "LType" is as odd as the grammar has it. */
	log_info("SSH: Server;LType: Throughput;Remote: %s-%u;IN: %llu;OUT: %llu;Duration: %.1f;tPut_in: %.1f;tPut_out: %.1f",
		u->setup.ends.remote_ip, u->setup.ends.remote_port, (unsigned long long)in, (unsigned long long)out, seconds,
		(double)in / seconds, (double)out / seconds);
}
