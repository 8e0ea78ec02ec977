/* platform/pty.h: pseudo terminals. */
#ifndef PLATFORM_PTY_H
#define PLATFORM_PTY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

enum { PTY_NAME_SIZE = 64 };

struct pty {
	int master, slave;               /* close-on-exec; -1 when closed */
	char name[PTY_NAME_SIZE];        /* "/dev/pts/3" */
};

/* A new pair. The slave does not become anyone's controlling terminal. Needs no rights. */
int pty_open(struct pty *p, struct err *e) MUST_USE;
/* As root: the slave goes to uid with group tty and mode 0620 (0622 and the user's gid where there is no group tty). What is
 * that way already is left alone, so that a /dev that cannot be written does no harm. */
int pty_give(const struct pty *p, uid_t uid, gid_t gid, struct err *e) MUST_USE;
/* A descriptor that stands for this very terminal's file without opening the terminal (it keeps nobody from seeing that it was
 * hung up), to take it back by: the name may be another terminal's by then. -1: this system has no such thing. */
int pty_hold(const struct pty *p);
/* Back to root, mode 0666, by what pty_hold gave (by name where it gives nothing), which is closed. Ignores failure; harmless if
 * not root. */
void pty_take_back(const char *name, int held);
void pty_close(struct pty *p);

struct pty_size { uint32_t columns, rows, width_px, height_px; };
int pty_set_size(int fd, const struct pty_size *size, struct err *e) MUST_USE;   /* sends SIGWINCH when it changed */
bool pty_get_size(int fd, struct pty_size *size);                                /* false, all zero: no terminal */

/* Makes tty the controlling terminal of the calling session leader. Async-signal-safe. -1 and errno on failure. */
int pty_set_controlling(int tty);

#endif
