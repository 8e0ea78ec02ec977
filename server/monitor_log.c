/* server/monitor_log.c: what the monitor writes about authentication: from what it knows itself, in the shapes that fail2ban and
 * logwatch parse. */
#include "server/monitor_private.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/str.h"
#include "server/monitor_wire.h"
#include "wire/messages.h"

static const char *const verbs[] = {
	[VERB_ACCEPTED] = "Accepted", [VERB_FAILED] = "Failed", [VERB_PARTIAL] = "Partial", [VERB_POSTPONED] = "Postponed",
};

static char *shown_user(const struct monitor *m)
{
	const char *user = m->user != NULL ? m->user : "";

	return str_escape_log(user, strlen(user), 128);
}

void monitor_log_auth(const struct monitor *m, enum auth_verb verb, const char *method, const char *key_text)
{
	char *user = shown_user(m);
	bool loud = verb == VERB_ACCEPTED || !m->allowed || strcmp(method, "password") == 0 ||
		m->failures >= m->options.max_auth_tries / 2;

	log_at(verb == VERB_POSTPONED || !loud ? LOG_LEVEL_VERBOSE : LOG_LEVEL_INFO, "%s %s for %s%s from %s port %u ssh2%s%s%s",
		verbs[verb], method, m->allowed ? "" : "invalid user ", user, m->ends.remote_ip, m->ends.remote_port,
		key_text != NULL ? ": " : "", key_text != NULL ? key_text : "", verb == VERB_POSTPONED ? " [preauth]" : "");
	free(user);
}

char *monitor_who(const struct monitor *m)
{
	char *user, *text;

	if (!m->user_known)
		return str_printf("%s", "");
	user = shown_user(m);
	text = str_printf("%s user %s ", m->allowed ? "authenticating" : "invalid", user);
	free(user);
	return text;
}

/* text is the unprivileged process's and already escaped. */
void monitor_log_end(const struct monitor *m, uint8_t kind, uint32_t code, const char *text)
{
	char *who = monitor_who(m);
	const char *ip = m->ends.remote_ip;
	unsigned port = m->ends.remote_port;

	switch (kind) {
	case MON_END_CLOSED:
		log_info("Connection closed by %s%s port %u [preauth]", who, ip, port);
		break;
	case MON_END_RESET:
		log_info("Connection reset by %s%s port %u [preauth]", who, ip, port);
		break;
	case MON_END_DISCONNECT:
		log_at(code == DISCONNECT_BY_APPLICATION ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR,
			"Received disconnect from %s port %u:%u: %s [preauth]", ip, port, code, text);
		log_info("Disconnected from %s%s port %u [preauth]", who, ip, port);
		break;
	case MON_END_NEGOTIATION:
		log_info("Unable to negotiate with %s%s port %u: %s [preauth]", who, ip, port, text);
		break;
	case MON_END_BANNER:
		log_error("kex_exchange_identification: %s [preauth]", text);
		log_info("banner exchange: Connection from %s port %u: invalid format [preauth]", ip, port);
		break;
	default:
		log_info("Connection with %s%s port %u ended: %s [preauth]", who, ip, port, text);
		break;
	}
	free(who);
}
