/* server/role_user.c: the process that works for the user: a new one, which takes the user's identity for good before
 * it reads anything that came from the network. */
#include "server/roles.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "cipher.h"
#include "crypto/crypto.h"
#include "crypto/rand.h"
#include "kex/moduli.h"
#include "platform/privdrop.h"
#include "server/user_private.h"

/* Every folder on the way must be root's and nobody else's to change: whoever can change it could plant what is run in it. */
static int check_chroot(const char *path, struct err *e)
{
	char *part = mem_strdup(path);
	size_t n = strlen(path);
	struct stat st;
	int rc = 0;

	if (*path != '/')
		rc = err_set(e, ERR_DENIED, "chroot path \"%s\" does not begin at root", path);
	for (size_t i = 1; rc == 0 && i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		part[i] = '\0';
		if (stat(part, &st) < 0)
			rc = err_set_errno(e, "chroot path component \"%s\"", part);
		else if (!S_ISDIR(st.st_mode))
			rc = err_set(e, ERR_DENIED, "chroot path \"%s\" is not a directory", part);
		else if (st.st_uid != 0 || (st.st_mode & 022) != 0)
			rc = err_set(e, ERR_DENIED, "bad ownership or modes for chroot directory %s\"%s\"",
				path[i] == '\0' ? "" : "component ", part);
		part[i] = path[i];
	}
	if (rc == 0 && (stat("/", &st) < 0 || st.st_uid != 0 || (st.st_mode & 022) != 0))
		rc = err_set(e, ERR_DENIED, "bad ownership or modes for chroot directory component \"/\"");
	free(part);
	return rc;
}

static int become_user(const struct user_setup *s, struct err *e)
{
	gid_t *groups;
	int count, rc = 0;
	struct privdrop_id id;

	if (s->chroot_dir != NULL) {
		rc = check_chroot(s->chroot_dir, e);
		if (rc == 0)
			rc = privdrop_chroot(s->chroot_dir, e);
	}
	if (rc < 0)
		return rc;
	/* The monitor, and PAM in it, has chosen the groups; they came with us. */
	count = getgroups(0, NULL);
	groups = mem_array(count > 0 ? (size_t)count : 1, sizeof(*groups));
	count = getgroups(count, groups);
	id = (struct privdrop_id){ .uid = s->uid, .gid = s->gid, .groups = groups, .group_count = count > 0 ? (size_t)count : 0 };
	rc = privdrop_forever(&id, e);
	free(groups);
	return rc;
}

static void close_between(int first, int last)
{
#ifdef HAVE_CLOSE_RANGE
	if (first <= last && close_range((unsigned)first, (unsigned)last, 0) == 0)
		return;
#endif
	for (int fd = first; fd <= last && fd < 4096; fd++)
		close(fd);
}

/* Nothing was left open for us but these; it is made sure of. */
static void close_others(const struct worker_start *s)
{
	int next = 3, keep;

	do {
		keep = INT_MAX;
		if (s->monitor >= next && s->monitor < keep)
			keep = s->monitor;
		if (s->in >= next && s->in < keep)
			keep = s->in;
		if (s->out >= next && s->out < keep)
			keep = s->out;
		close_between(next, keep == INT_MAX ? keep : keep - 1);
		next = keep == INT_MAX ? keep : keep + 1;
	} while (keep != INT_MAX);
}

static int run(struct user *u, struct worker_start *s, struct err *e)
{
	int rc = 0;

	crypto_init();
	rand_prepare();
	(void)!cipher_prepare(u->setup.ciphers, NULL);
	crypto_load_no_more();
	if (*u->setup.moduli_file != '\0')
		u->moduli = moduli_new(u->setup.moduli_file);
	if (u->setup.drop)
		rc = become_user(&u->setup, e);
	/* Changing ids may have undone it. */
	if (rc == 0)
		rc = privdrop_undumpable(e);
	close_others(s);
	/* Sessions and SFTP go where they want to by themselves; we hold no folder busy. */
	if (rc == 0 && chdir("/") < 0)
		rc = err_set_errno(e, "chdir");
	if (rc == 0)
		rc = user_take_connection(u, e);
	return rc == 0 ? user_run(u, e) : rc;
}

_Noreturn void role_user(struct worker_start *s)
{
	struct err e = { 0 };
	struct user *u;
	int rc;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	/* As long as we are root nobody shall look in either. */
	if (privdrop_undumpable(&e) < 0)
		_exit(255);
	role_log_to_monitor(&s->monitor, LOG_LEVEL_INFO);
	u = user_new(s, &e);
	if (u == NULL) {
		log_error("user process: %s", err_text(&e));
		_exit(255);
	}
	log_set_level((enum log_level)u->setup.log_level);
	rc = run(u, s, &e);
	if (rc < 0)
		log_error("session of %s: %s", u->setup.user, err_text(&e));
	user_free(u);
	exit(rc < 0 ? 255 : 0);
}
