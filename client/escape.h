/* client/escape.h: the escape character of interactive sessions (ssh(1), ESCAPES). What is typed goes in,
 * what is to be sent and what is to be done comes out. No I/O. */
#ifndef CLIENT_ESCAPE_H
#define CLIENT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum escape_action {
	ESCAPE_NOTHING, ESCAPE_QUIT, ESCAPE_SUSPEND, ESCAPE_LIST, ESCAPE_HELP, ESCAPE_BREAK, ESCAPE_REKEY, ESCAPE_QUIETER,
	ESCAPE_LOUDER, ESCAPE_INFO, ESCAPE_COMMAND_LINE
};

struct escape {
	int character;           /* -1: none */
	bool line_start;         /* it counts now */
	bool pending;            /* it was typed; the next byte decides */
};
void escape_init(struct escape *e, int character);
/* Takes one typed byte. out gets 0, 1 or 2 bytes to send, *n how many. */
enum escape_action escape_take(struct escape *e, uint8_t byte, uint8_t out[2], size_t *n);
/* Text of ~?, lines ending CR LF; allocated. */
char *escape_help(int character);

#endif
