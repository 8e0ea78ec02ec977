/* server/auth_methods.c: which methods are still needed. */
#include "server/auth_methods.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

/* Length of "method" in "method:sub". */
static size_t name_size(const char *element, size_t n)
{
	const char *colon = memchr(element, ':', n);

	return colon != NULL ? (size_t)(colon - element) : n;
}

static bool element_fits(const char *element, size_t n, const char *method, const char *sub)
{
	size_t name = name_size(element, n);

	if (!str_is(element, name, method))
		return false;
	if (name == n || sub == NULL)
		return true;
	return str_is(element + name + 1, n - name - 1, sub);
}

static bool all_enabled(const char *list, const char *enabled)
{
	const char *element;
	size_t n;

	while (str_next_name(&list, &element, &n))
		if (!str_names_has(enabled, element, name_size(element, n)))
			return false;
	return true;
}

int auth_methods_start(struct auth_methods *m, const struct str_list *lists, const char *enabled, struct err *e)
{
	memset(m, 0, sizeof(*m));
	m->enabled = mem_strdup(enabled);
	if (lists->count == 0 || strcmp(lists->v[0], "any") == 0) {
		m->any = true;
		return 0;
	}
	for (size_t i = 0; i < lists->count; i++)
		if (all_enabled(lists->v[i], enabled))
			str_list_add(&m->left, lists->v[i]);
	if (m->left.count > 0)
		return 0;
	auth_methods_clear(m);
	return err_set(e, ERR_USAGE, "no list of AuthenticationMethods can be completed with the methods that are enabled");
}

void auth_methods_clear(struct auth_methods *m)
{
	free(m->enabled);
	str_list_clear(&m->left);
	memset(m, 0, sizeof(*m));
}

static bool list_starts(const char *list, const char *method, const char *sub)
{
	const char *element;
	size_t n;

	return str_next_name(&list, &element, &n) && element_fits(element, n, method, sub);
}

bool auth_methods_may(const struct auth_methods *m, const char *method, const char *sub)
{
	if (m->enabled == NULL || !str_names_has(m->enabled, method, strlen(method)))
		return false;
	if (m->any)
		return true;
	for (size_t i = 0; i < m->left.count; i++)
		if (list_starts(m->left.v[i], method, sub))
			return true;
	return false;
}

bool auth_methods_strike(struct auth_methods *m, const char *method, const char *sub)
{
	bool complete = false;

	if (m->any)
		return auth_methods_may(m, method, sub);
	for (size_t i = 0; i < m->left.count; i++) {
		const char *rest;

		if (!list_starts(m->left.v[i], method, sub))
			continue;
		rest = strchr(m->left.v[i], ',');
		if (rest == NULL) {
			complete = true;
			continue;
		}
		memmove(m->left.v[i], rest + 1, strlen(rest));
	}
	return complete;
}

char *auth_methods_offer(const struct auth_methods *m)
{
	struct str_list names = { 0 };
	const char *cursor = m->enabled != NULL ? m->enabled : "", *name;
	char *joined;
	size_t n;

	while (str_next_name(&cursor, &name, &n)) {
		char *method = mem_strndup(name, n);

		/* A list that wants a kind of keyboard-interactive wants keyboard-interactive. */
		if (auth_methods_may(m, method, NULL))
			str_list_add(&names, method);
		free(method);
	}
	joined = names.count > 0 ? str_list_join(&names, ",") : mem_strdup("");
	str_list_clear(&names);
	return joined;
}
