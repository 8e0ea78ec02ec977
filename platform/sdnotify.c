/* platform/sdnotify.c: the protocol of sd_notify: one datagram of lines to the socket in $NOTIFY_SOCKET. */
#include "platform/sdnotify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

int sdnotify_send(const char *state, struct err *e)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	size_t n;
	ssize_t sent;
	int fd;

	if (name == NULL || name[0] == '\0')
		return 0;
	n = strlen(name);
	if ((name[0] != '/' && name[0] != '@') || n < 2 || n >= sizeof(sun.sun_path))
		return err_set(e, ERR_USAGE, "NOTIFY_SOCKET=%s cannot be used", name);
	memcpy(sun.sun_path, name, n);
	/* Abstract sockets have a zero byte for '@', and no end but their length. */
	if (name[0] == '@')
		sun.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set_errno(e, "socket");
	do
		sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&sun,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		err_set_errno(e, "cannot tell the service manager at %s", name);
	close(fd);
	return sent < 0 ? ERR_IO : 0;
}

int sdnotify_ready(struct err *e)
{
	return sdnotify_send("READY=1\n", e);
}

int sdnotify_reloading(struct err *e)
{
	char state[64];

	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\n", clock_mono_us());
	return sdnotify_send(state, e);
}

int sdnotify_stopping(struct err *e)
{
	return sdnotify_send("STOPPING=1\n", e);
}
