/* server/monitor_signals.h: what reaches a monitor outside of its sockets: the end of LoginGraceTime, and the wish that it ends.
 * One of each a process, for handlers have no argument. */
#ifndef SERVER_MONITOR_SIGNALS_H
#define SERVER_MONITOR_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/err.h"

/* After so many seconds the child is killed; some more and so are we, if something keeps us from seeing its end. */
void monitor_grace_start(pid_t child, unsigned seconds);
bool monitor_grace_is_over(void);

/* Waits for the child and returns its wait status. The clock is taken off while the child still has its number: nothing that
 * gets that number next is killed. */
int monitor_reap(pid_t child);

/* From now on SIGTERM, SIGHUP and SIGINT are for monitor_stop_wait to tell, also those that come before it is called. */
int monitor_stop_watch(struct err *e) MUST_USE;
/* Waits until something can be read from fd (0) or one of these came (its number; it is forgotten then). Negative: an error. */
int monitor_stop_wait(int fd, struct err *e) MUST_USE;

#endif
