/* platform/sdnotify.h: tells the service manager how far we are (the protocol of sd_notify, spoken directly). */
#ifndef PLATFORM_SDNOTIFY_H
#define PLATFORM_SDNOTIFY_H

#include "base/err.h"

/* Each does nothing and returns 0 when $NOTIFY_SOCKET is not set. */
int sdnotify_ready(struct err *e);       /* after all sockets listen; also ends a reload */
int sdnotify_reloading(struct err *e);   /* with the time that Type=notify-reload asks for */
int sdnotify_stopping(struct err *e);
/* Any state, lines ended by newlines: "STATUS=...". */
int sdnotify_send(const char *state, struct err *e);

#endif
