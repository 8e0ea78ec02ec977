/* platform/prompt.h: questions to the person in front of the machine: the terminal, or an askpass program.
 *
 * The process must not be in a state where blocking matters. Texts are shown as they are: whoever puts text of a peer
 * into a prompt passes it through str_escape_terminal first. */
#ifndef PLATFORM_PROMPT_H
#define PLATFORM_PROMPT_H

#include <stdbool.h>
#include "base/err.h"

enum {
	PROMPT_ECHO = 1,         /* the answer may be seen: yes/no questions, file names, PAM's echoed prompts */
	PROMPT_ALLOW_STDIN = 2,  /* without terminal and askpass, read a line from stdin (prompt on stderr) */
	PROMPT_NO_ASKPASS = 4    /* the terminal or nothing */
};

enum { PROMPT_ANSWER_MAX = 8192 };       /* bytes of an answer; what exceeds it is an error, never cut */

/* Asks and returns one line without its end, to be freed with mem_free_string. Where: by SSH_ASKPASS_REQUIRE
 * (force, prefer, never), else /dev/tty, else the askpass program when DISPLAY or WAYLAND_DISPLAY is set, else stdin
 * if flags allow it. The terminal's echo is off while reading (unless PROMPT_ECHO) and restored whatever happens,
 * also when a signal stops or ends the process; a signal with a handler of the caller's makes the call fail after the
 * handler ran.
 * NULL with an error: ERR_NONE_FOUND there is nobody to ask; ERR_DENIED cancelled (askpass said no, end of file on the
 * terminal, interrupted); ERR_CLOSED end of file on a stdin that is no terminal; ERR_IO; ERR_MEMORY too long. */
char *prompt_read_secret(const char *prompt, unsigned flags, struct err *e);

/* A yes/no question through askpass (SSH_ASKPASS_PROMPT=confirm) or, with a terminal and none of the above, on it.
 * True only for a clear yes: exit status 0 and an empty line or "yes". */
bool prompt_confirm(const char *question, struct err *e);

/* A notice such as "touch your token" (SSH_ASKPASS_PROMPT=none) that stays until prompt_notice_end. NULL if it could
 * only be written to stderr, or not be shown. */
struct prompt_notice;
struct prompt_notice *prompt_notice_start(const char *text);
void prompt_notice_end(struct prompt_notice *n); /* NULL is fine */

#endif
