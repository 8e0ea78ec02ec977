/* io/net_unix.c: unix sockets by path. */
#include "io/net.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"

enum { NET_UNIX_BACKLOG = 128 };

static int net_unix_address(const char *path, struct sockaddr_un *sun, struct err *e)
{
	*sun = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (path[0] == '\0')
		return err_set(e, ERR_USAGE, "a socket needs a path");
	if (!str_copy(sun->sun_path, sizeof(sun->sun_path), path))
		return err_set(e, ERR_USAGE, "path of the socket is too long: %s", path);
	return 0;
}

int net_unix_connect(const char *path, struct err *e)
{
	struct sockaddr_un sun;
	int fd, r = net_unix_address(path, &sun, e);

	if (r != 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set_errno(e, "socket");
	if (connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) == 0)
		return fd;
	err_set_errno(e, "%s", path);
	close(fd);
	return ERR_IO;
}

int net_unix_listen(const char *path, mode_t mode, int backlog, struct err *e)
{
	struct sockaddr_un sun;
	int fd, r = net_unix_address(path, &sun, e);

	if (r != 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set_errno(e, "socket");
	/* On Linux bind() takes the mode from here, so that it is never wider than it shall be. The umask, which other threads
	 * and the user's files have a say in, stays alone; what it took away is given back below. */
	(void)fchmod(fd, mode);
	if (bind(fd, (const struct sockaddr *)&sun, sizeof(sun)) != 0) {
		err_set_errno(e, "%s", path);
		close(fd);
		return ERR_IO;
	}
	if (chmod(path, mode) == 0 && listen(fd, backlog > 0 ? backlog : NET_UNIX_BACKLOG) == 0)
		return fd;
	err_set_errno(e, "%s", path);
	(void)unlink(path);
	close(fd);
	return ERR_IO;
}
