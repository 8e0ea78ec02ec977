/* server/server_penalties.c: the value of PerSourcePenalties (sshd_config(5)). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/server_options.h"
#include "server/server_types.h"

enum { US_A_SECOND = 1000000, SOURCES_MAX = 1 << 24 };

/* One part of the value. */
struct penalty_part {
	const char *name;
	int (*read)(struct server_penalties *p, const struct penalty_part *part, const char *value);
	size_t offset;
};

/* "90s", "0.5", "1h30m": microseconds. Only seconds have a fraction. */
static int penalty_time(const char *text, uint64_t *us)
{
	const char *dot = strchr(text, '.');
	char *whole;
	uint64_t seconds, fraction = 0, unit = US_A_SECOND;
	size_t n = 0;
	int r;

	if (dot != NULL) {
		n = strspn(dot + 1, "0123456789");
		if (n == 0 || (strcmp(dot + 1 + n, "") != 0 && !str_equal_nocase(dot + 1 + n, "s")))
			return ERR_USAGE;
		for (r = 0; r < (int)n && unit > 1; r++) {
			unit /= 10;
			fraction += (uint64_t)(dot[1 + r] - '0') * unit;
		}
	}
	whole = mem_strndup(text, dot != NULL ? (size_t)(dot - text) : strlen(text));
	r = str_to_seconds(whole, &seconds);
	free(whole);
	if (r != 0 || seconds > INT_MAX)
		return ERR_USAGE;
	*us = seconds * US_A_SECOND + fraction;
	return 0;
}

static int read_time(struct server_penalties *p, const struct penalty_part *part, const char *value)
{
	return penalty_time(value, (uint64_t *)(void *)((char *)p + part->offset));
}

static int read_number(struct server_penalties *p, const struct penalty_part *part, const char *value)
{
	uint64_t v;

	if (str_to_u64(value, 1, SOURCES_MAX, &v) != 0)
		return ERR_USAGE;
	*(unsigned *)(void *)((char *)p + part->offset) = (unsigned)v;
	return 0;
}

static int read_overflow(struct server_penalties *p, const struct penalty_part *part, const char *value)
{
	bool deny = strcmp(value, "deny-all") == 0;

	if (!deny && strcmp(value, "permissive") != 0)
		return ERR_USAGE;
	*(bool *)((char *)p + part->offset) = deny;
	return 0;
}

#define AT(f) offsetof(struct server_penalties, f)
static const struct penalty_part penalty_parts[] = {
	{ "crash", read_time, AT(us[SERVER_PENALTY_CRASH]) },
	{ "authfail", read_time, AT(us[SERVER_PENALTY_AUTHFAIL]) },
	{ "noauth", read_time, AT(us[SERVER_PENALTY_NOAUTH]) },
	{ "invaliduser", read_time, AT(us[SERVER_PENALTY_INVALIDUSER]) },
	{ "grace-exceeded", read_time, AT(us[SERVER_PENALTY_GRACE]) },
	{ "refuseconnection", read_time, AT(us[SERVER_PENALTY_REFUSE]) },
	{ "max", read_time, AT(max_us) },
	{ "min", read_time, AT(min_us) },
	{ "max-sources4", read_number, AT(max_sources4) },
	{ "max-sources6", read_number, AT(max_sources6) },
	{ "overflow", read_overflow, AT(deny_all4) },
	{ "overflow6", read_overflow, AT(deny_all6) },
};
enum { PART_OVERFLOW = 10, PART_OVERFLOW6 = 11 };

static void penalties_defaults(struct server_penalties *p)
{
	static const uint64_t seconds[SERVER_PENALTY_COUNT] = {
		[SERVER_PENALTY_CRASH] = 90, [SERVER_PENALTY_AUTHFAIL] = 5, [SERVER_PENALTY_NOAUTH] = 1,
		[SERVER_PENALTY_INVALIDUSER] = 5, [SERVER_PENALTY_GRACE] = 10, [SERVER_PENALTY_REFUSE] = 10
	};
	size_t i;

	for (i = 0; i < MEM_COUNT(seconds); i++)
		p->us[i] = seconds[i] * US_A_SECOND;
	p->max_us = 600ull * US_A_SECOND;
	p->min_us = 15ull * US_A_SECOND;
	p->max_sources4 = p->max_sources6 = 65536;
}

static int penalties_part(struct conf_line *l, struct server_penalties *p, const char *word)
{
	size_t i, n = strcspn(word, ":");
	struct server_penalties scratch = *p;

	for (i = 0; i < MEM_COUNT(penalty_parts); i++)
		if (str_is(word, n, penalty_parts[i].name))
			break;
	if (i == MEM_COUNT(penalty_parts) || word[n] != ':' ||
	    penalty_parts[i].read(&scratch, &penalty_parts[i], word + n + 1) != 0)
		return conf_line_bad(l, "%s: invalid value \"%s\"", l->keyword, word);
	/* Of several values for a part the first counts, on other lines too. */
	if ((p->given & 1U << i) != 0)
		return 0;
	*p = scratch;
	p->given |= 1U << i;
	if (i == PART_OVERFLOW && (p->given & 1U << PART_OVERFLOW6) == 0)
		p->deny_all6 = p->deny_all4;
	return 0;
}

static int penalties_parse(struct conf_line *l, void *field)
{
	struct server_penalties *p = field;
	bool first = p->given == 0;
	const char *word;

	if (first)
		penalties_defaults(p);
	if (l->count == 1 && (str_equal_nocase(l->arg[0], "yes") || str_equal_nocase(l->arg[0], "no"))) {
		l->next = 1;
		if (first)
			p->enabled = str_equal_nocase(l->arg[0], "yes");
		p->given |= SERVER_PENALTIES_GIVEN;
		return 0;
	}
	while ((word = conf_line_next(l)) != NULL)
		if (penalties_part(l, p, word) != 0)
			return ERR_USAGE;
	if (first)
		p->enabled = true;
	p->given |= SERVER_PENALTIES_GIVEN;
	return 0;
}

static void penalties_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	static const char *const overflow[] = { "permissive", "deny-all" };
	const struct server_penalties *p = field;
	struct str_list words = { 0 };
	char *text;
	size_t i;

	if (!p->enabled) {
		conf_dump_value(d, row, "no");
		return;
	}
	for (i = 0; i < MEM_COUNT(penalty_parts) && penalty_parts[i].read == read_time; i++) {
		uint64_t us = *(const uint64_t *)(const void *)((const char *)p + penalty_parts[i].offset);

		str_list_add_take(&words, str_printf("%s:%llu.%06llu", penalty_parts[i].name,
			(unsigned long long)(us / US_A_SECOND), (unsigned long long)(us % US_A_SECOND)));
	}
	text = str_list_join(&words, " ");
	conf_dump_value(d, row, "%s max-sources4:%u max-sources6:%u overflow:%s overflow6:%s", text, p->max_sources4,
		p->max_sources6, overflow[p->deny_all4], overflow[p->deny_all6]);
	free(text);
	str_list_clear(&words);
}

const struct conf_type server_type_penalties = {
	sizeof(struct server_penalties), penalties_parse, NULL, NULL, penalties_show
};
