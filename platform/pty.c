/* platform/pty.c: pseudo terminals. */
#include "platform/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/str.h"

void pty_close(struct pty *p)
{
	if (p->master >= 0)
		close(p->master);
	if (p->slave >= 0)
		close(p->slave);
	p->master = p->slave = -1;
}

static int pty_open_slave(struct pty *p, struct err *e)
{
	const char *name;

	if (grantpt(p->master) != 0 || unlockpt(p->master) != 0)
		return err_set_errno(e, "cannot unlock a pseudo terminal");
	name = ptsname(p->master);
	if (name == NULL)
		return err_set_errno(e, "ptsname");
	if (!str_copy(p->name, sizeof(p->name), name))
		return err_set(e, ERR_IO, "name of the pseudo terminal is too long");
	p->slave = open(p->name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (p->slave < 0)
		return err_set_errno(e, "%s", p->name);
	return 0;
}

int pty_open(struct pty *p, struct err *e)
{
	*p = (struct pty){ .master = -1, .slave = -1 };
	p->master = posix_openpt(O_RDWR | O_NOCTTY);
	if (p->master < 0)
		return err_set_errno(e, "no pseudo terminal to be had");
	(void)fcntl(p->master, F_SETFD, FD_CLOEXEC);
	if (pty_open_slave(p, e) == 0)
		return 0;
	pty_close(p);
	return ERR_IO;
}

int pty_give(const struct pty *p, uid_t uid, gid_t gid, struct err *e)
{
	const struct group *tty = getgrnam("tty");
	mode_t mode = tty != NULL ? 0620 : 0622;
	struct stat st;

	if (tty != NULL)
		gid = tty->gr_gid;
	/* The open slave and not its name, so that nothing can be put in its place in between. */
	if (fstat(p->slave, &st) != 0)
		return err_set_errno(e, "%s", p->name);
	if ((st.st_uid != uid || st.st_gid != gid) && fchown(p->slave, uid, gid) != 0)
		return err_set_errno(e, "cannot give %s to uid %lu", p->name, (unsigned long)uid);
	if ((st.st_mode & 07777) != mode && fchmod(p->slave, mode) != 0)
		return err_set_errno(e, "cannot set the mode of %s", p->name);
	return 0;
}

#if defined(O_PATH) && defined(AT_EMPTY_PATH)

int pty_hold(const struct pty *p)
{
	return open(p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

void pty_take_back(const char *name, int held)
{
	char self[PTY_NAME_SIZE];

	(void)name;
	if (held < 0)
		return;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", held);
	if (geteuid() == 0 && fchownat(held, "", 0, 0, AT_EMPTY_PATH) == 0)
		(void)!chmod(self, 0666);
	close(held);
}

#else

int pty_hold(const struct pty *p)
{
	(void)p;
	return -1;
}

void pty_take_back(const char *name, int held)
{
	(void)held;
	if (geteuid() != 0 || name[0] == '\0')
		return;
	if (chown(name, 0, 0) != 0 && errno == ENOENT)
		return;
	if (chmod(name, 0666) != 0)
		return;
}

#endif

static unsigned short pty_clamp(uint32_t v)
{
	return v > 0xffff ? 0xffff : (unsigned short)v;
}

int pty_set_size(int fd, const struct pty_size *size, struct err *e)
{
	struct winsize ws = { .ws_row = pty_clamp(size->rows), .ws_col = pty_clamp(size->columns),
		.ws_xpixel = pty_clamp(size->width_px), .ws_ypixel = pty_clamp(size->height_px) };

	if (ioctl(fd, TIOCSWINSZ, &ws) != 0)
		return err_set_errno(e, "cannot set the window size");
	return 0;
}

bool pty_get_size(int fd, struct pty_size *size)
{
	struct winsize ws;

	*size = (struct pty_size){ 0 };
	if (ioctl(fd, TIOCGWINSZ, &ws) != 0)
		return false;
	*size = (struct pty_size){ ws.ws_col, ws.ws_row, ws.ws_xpixel, ws.ws_ypixel };
	return true;
}

int pty_set_controlling(int tty)
{
	return ioctl(tty, TIOCSCTTY, 0) == 0 ? 0 : -1;
}
