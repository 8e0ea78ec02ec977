/* base/str_list.c: lists of owned strings, and comma separated names. */
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void str_list_add_take(struct str_list *l, char *s)
{
	/* One slot more than strings: v[count] is NULL, so that v serves as an argv. */
	if (l->count + 1 >= l->room) {
		l->room = l->room != 0 ? l->room * 2 : 8;
		l->v = mem_resize(l->v, l->room, sizeof(l->v[0]));
	}
	l->v[l->count++] = s;
	l->v[l->count] = NULL;
}

void str_list_add(struct str_list *l, const char *s)
{
	str_list_add_take(l, mem_strdup(s));
}

void str_list_add_n(struct str_list *l, const char *s, size_t n)
{
	str_list_add_take(l, mem_strndup(s, n));
}

bool str_list_has(const struct str_list *l, const char *s)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		if (strcmp(l->v[i], s) == 0)
			return true;
	return false;
}

void str_list_copy(struct str_list *dst, const struct str_list *src)
{
	size_t i;

	if (dst == src)
		return;
	str_list_clear(dst);
	for (i = 0; i < src->count; i++)
		str_list_add(dst, src->v[i]);
}

void str_list_clear(struct str_list *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct str_list){ 0 };
}

char *str_list_join(const struct str_list *l, const char *sep)
{
	size_t i, n = 1, sep_n = strlen(sep), len;
	char *s, *p;

	for (i = 0; i < l->count; i++)
		n += strlen(l->v[i]) + sep_n;
	s = p = mem_alloc(n);
	for (i = 0; i < l->count; i++) {
		if (i != 0) {
			memcpy(p, sep, sep_n);
			p += sep_n;
		}
		len = strlen(l->v[i]);
		memcpy(p, l->v[i], len);
		p += len;
	}
	*p = '\0';
	return s;
}

bool str_next_name(const char **cursor, const char **name, size_t *n)
{
	const char *p = *cursor + strspn(*cursor, ",");

	*name = p;
	*n = strcspn(p, ",");
	*cursor = p + *n;
	return *n != 0;
}

bool str_names_has(const char *names, const char *name, size_t n)
{
	const char *p;
	size_t len;

	while (str_next_name(&names, &p, &len))
		if (len == n && memcmp(p, name, n) == 0)
			return true;
	return false;
}
