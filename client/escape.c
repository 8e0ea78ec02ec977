/* client/escape.c: the escape character. Layer: client. */
#include "client/escape.h"

#include "base/mem.h"
#include "base/str.h"

static const struct { uint8_t byte; enum escape_action action; const char *help; } escapes[] = {
	{ '.', ESCAPE_QUIT, "." "    end the connection" },
	{ 'Z' & 0x1f, ESCAPE_SUSPEND, "^Z" "   suspend ssh" },
	{ '#', ESCAPE_LIST, "#" "    list the channels" },
	{ '?', ESCAPE_HELP, "?" "    this text" },
	{ 'B', ESCAPE_BREAK, "B" "    send a BREAK to the remote system" },
	{ 'C', ESCAPE_COMMAND_LINE, "C" "    open a command line" },
	{ 'I', ESCAPE_INFO, "I" "    show what the connection uses" },
	{ 'R', ESCAPE_REKEY, "R" "    exchange new keys" },
	{ 'V', ESCAPE_QUIETER, "V" "    say less (LogLevel)" },
	{ 'v', ESCAPE_LOUDER, "v" "    say more (LogLevel)" },
};

void escape_init(struct escape *e, int character)
{
	*e = (struct escape){ .character = character, .line_start = true };
}

enum escape_action escape_take(struct escape *e, uint8_t byte, uint8_t out[2], size_t *n)
{
	*n = 0;
	if (e->pending) {
		e->pending = false;
		for (size_t i = 0; i < MEM_COUNT(escapes); i++) {
			if (escapes[i].byte != byte)
				continue;
			e->line_start = true;
			return escapes[i].action;
		}
		/* The character typed twice is sent once; before anything else both go. */
		if (byte != e->character)
			out[(*n)++] = (uint8_t)e->character;
	} else if (e->line_start && byte == e->character) {
		e->pending = true;
		return ESCAPE_NOTHING;
	}
	out[(*n)++] = byte;
	e->line_start = byte == '\r' || byte == '\n';
	return ESCAPE_NOTHING;
}

char *escape_help(int character)
{
	struct str_list l = { 0 };
	char *text;

	str_list_add(&l, "Supported escape sequences:");
	for (size_t i = 0; i < MEM_COUNT(escapes); i++)
		str_list_add_take(&l, str_printf(" %c%s", character, escapes[i].help));
	str_list_add_take(&l, str_printf(" %c%c    send the escape character itself", character, character));
	str_list_add(&l, "(Escapes are seen right after a new line only.)\r\n");
	text = str_list_join(&l, "\r\n");
	str_list_clear(&l);
	return text;
}
