/* regress/unit/client/client_world.h: what tests of client/ share: a private folder, options, answers to questions, and the
 * log as text. */
#ifndef CLIENT_WORLD_H
#define CLIENT_WORLD_H

#include <stdbool.h>
#include "client/client_options.h"
#include "client/tokens.h"
#include "wire/buf.h"

struct client_world {
	char *dir;                       /* private, removed at the end */
	struct client_subject who;
	struct client_options options;   /* after client_world_options */
	struct client_tokens tokens;
	struct buf log;                  /* lines "LEVEL text" since client_world_log_clear */
};

/* Questions go to an askpass program that gives the lines of `answers` one by one, then refuses. */
void client_world_init(struct client_world *w);
void client_world_clear(struct client_world *w);
/* cmocka's set-up and tear-down for tests whose state is such a world. */
int client_world_setup(void **state);
int client_world_teardown(void **state);
/* New options out of lines as of -o, separated by newlines; then defaults and tokens. */
void client_world_options(struct client_world *w, const char *lines);
void client_world_answers(struct client_world *w, const char *answers);
/* All questions since the last call, each followed by a line "--"; allocated. */
char *client_world_questions(struct client_world *w);
bool client_world_logged(struct client_world *w, const char *text);
void client_world_log_clear(struct client_world *w);

char *client_world_path(const struct client_world *w, const char *name);         /* allocated */
void client_world_write(const struct client_world *w, const char *name, const char *text, unsigned mode);
char *client_world_read(const struct client_world *w, const char *name);         /* "" if it is not there; allocated */

#endif
