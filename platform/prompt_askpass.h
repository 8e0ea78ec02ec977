/* platform/prompt_askpass.h: running the askpass program. Only for prompt.c. */
#ifndef PLATFORM_PROMPT_ASKPASS_H
#define PLATFORM_PROMPT_ASKPASS_H

#include <sys/types.h>
#include "base/err.h"

/* SSH_ASKPASS_REQUIRE and what DISPLAY and WAYLAND_DISPLAY say. */
enum askpass_wish {
	ASKPASS_NEVER,
	ASKPASS_FALLBACK,        /* when there is no terminal */
	ASKPASS_FIRST            /* before the terminal */
};
enum askpass_wish askpass_wish(void);

/* Runs askpass with the prompt as its argument; kind (NULL, "confirm") goes into SSH_ASKPASS_PROMPT. The first line that
 * it printed, to be freed with mem_free_string; ERR_DENIED if its exit status was not 0. */
char *askpass_ask(const char *prompt, const char *kind, struct err *e);

/* Starts askpass with SSH_ASKPASS_PROMPT=none and does not wait. */
int askpass_start_notice(const char *text, pid_t *pid, struct err *e) MUST_USE;
void askpass_end_notice(pid_t pid);

#endif
