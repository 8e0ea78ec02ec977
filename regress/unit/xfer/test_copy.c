/* regress/unit/xfer/test_copy.c: the copy engine against our server engine in one process: files that change while they are
 * copied, links of all sizes, servers that say no order, ends in the middle; and a sink that is told lies. */
#include "xfer/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/link.h"
#include "io/loop.h"
#include "xfer/sftp_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { SIZE = 2000000 };

static char dir[] = "/tmp/ws-copy-XXXXXX";
static uint8_t *content;

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *w)
{
	(void)st;
	(void)flag;
	(void)w;
	return remove(path);
}

static void put_file(const char *name, const void *p, size_t n)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), n);
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	log_init("test", LOG_LEVEL_ERROR);
	if (mkdtemp(dir) == NULL || chdir(dir) != 0)
		return -1;
	content = mem_alloc(SIZE);
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)(i * 13 + i / 255);
	put_file("big", content, SIZE);
	/* What the engine says goes nowhere. */
	return freopen("/dev/null", "w", stderr) != NULL && mkdir("tree", 0755) == 0 && mkdir("tree/sub", 0755) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(content);
	return chdir("/") == 0 ? nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS) : -1;
}

/* ---- a job with one or two servers */

enum { BESIDE_MAX = 7 };

struct run {
	struct loop *loop;
	struct link *here[2], *there[2];
	struct sftp_server *server[2];
	int servers, served;
	/* of further channels */
	struct link *near_end[BESIDE_MAX], *far_end[BESIDE_MAX];
	struct sftp_server *beside[BESIDE_MAX];
	int beside_count, beside_max;
	const char *beside_dir;
	size_t limit;
	struct copy *copy;
	struct copy_options o;
	struct copy_job job;
	int status;                      /* -1: under way */
};

static void on_done(void *ctx, int status)
{
	struct run *r = ctx;

	assert_int_equal(r->status, -1);
	r->status = status;
}

static void on_served(void *ctx, int status)
{
	struct run *r = ctx;

	assert_int_equal(status, 0);
	r->served++;
}

static void begin(struct run *r, size_t limit, int servers, bool known)
{
	struct sftp_server_options o = { .umask = -1, .log_level = LOG_LEVEL_QUIET, .start_dir = dir };
	struct err e = { 0 };

	memset(r, 0, sizeof *r);
	r->status = -1;
	r->o = (struct copy_options){ .recursive = true, .meter_fd = -1, .known_server = known };
	r->limit = limit;
	r->beside_dir = dir;
	r->loop = loop_new(&e);
	assert_non_null(r->loop);
	for (r->servers = 0; r->servers < servers; r->servers++) {
		int i = r->servers;

		assert_int_equal(link_pair_new(r->loop, limit, &r->here[i], &r->there[i], &e), 0);
		r->server[i] = sftp_server_new(r->loop, r->there[i], NULL, &o, on_served, r);
	}
}

static void on_beside_served(void *ctx, int status)
{
	(void)ctx;
	(void)status;
}

static struct link *open_beside(void *ctx)
{
	struct run *r = ctx;
	struct sftp_server_options o = { .umask = -1, .log_level = LOG_LEVEL_QUIET, .start_dir = r->beside_dir };
	struct link *here;
	struct err e = { 0 };
	int i = r->beside_count;

	if (i == r->beside_max)
		return NULL;
	assert_int_equal(link_pair_new(r->loop, r->limit, &here, &r->far_end[i], &e), 0);
	r->beside[i] = sftp_server_new(r->loop, r->far_end[i], NULL, &o, on_beside_served, r);
	r->beside_count++;
	r->near_end[i] = here;
	return here;
}

static void end_beside(struct run *r, int i)
{
	sftp_server_free(r->beside[i]);
	if (r->beside[i] != NULL)
		link_close(r->far_end[i]);
	r->beside[i] = NULL;
}

static void start(struct run *r, bool upload, const char *from, const char *to)
{
	struct copy_setup s = { .loop = r->loop, .link = r->here[0], .link_to = r->servers == 2 ? r->here[1] : NULL, .job = &r->job,
		.options = &r->o, .more = { open_beside, r }, .done = on_done, .ctx = r };
	struct err e = { 0 };

	r->job.upload = upload;
	r->job.target = to;
	str_list_add(&r->job.sources, from);
	r->copy = copy_start_sftp(&s, &e);
	assert_non_null(r->copy);
}

static void turns(struct run *r, int n)
{
	struct err e = { 0 };

	while (n-- > 0)
		assert_int_equal(loop_turn(r->loop, 0, &e), 0);
}

static int finish(struct run *r)
{
	for (int i = 0; r->status < 0; i++) {
		turns(r, 1);
		assert_true(i < 2000000);
	}
	return r->status;
}

static void end(struct run *r)
{
	copy_free(r->copy);
	for (int i = 0; i < r->beside_count; i++)
		end_beside(r, i);
	for (int i = 0; i < r->servers; i++)
		link_finish(r->here[i]);
	/* One whose replies nobody reads any more does not get to its end. */
	for (int i = 0; r->served < r->servers && i < 100; i++)
		turns(r, 1);
	for (int i = 0; i < r->servers; i++) {
		sftp_server_free(r->server[i]);
		link_close(r->here[i]);
		link_close(r->there[i]);
	}
	turns(r, 3);
	loop_free(r->loop);
	str_list_clear(&r->job.sources);
}

static void check_file(const char *name, size_t n)
{
	struct stat st;
	uint8_t *got;
	int fd = open(name, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, n);
	got = mem_alloc(n + 1);
	assert_int_equal(read(fd, got, n), n);
	assert_memory_equal(got, content, n);
	free(got);
	close(fd);
}

/* ---- */

static void test_links_and_orders(void **state)
{
	static const size_t limits[] = { 500, 5000, 70000, 262200, 1 << 20 };

	(void)state;
	put_file("tree/a", content, 5000);
	put_file("tree/sub/b", content, 300000);
	put_file("tree/sub/empty", content, 0);
	for (size_t l = 0; l < MEM_COUNT(limits); l++)
		for (int known = 0; known < 2; known++)
			for (int kind = 0; kind < 3; kind++) {
				struct run r;

				begin(&r, limits[l], kind == 2 ? 2 : 1, known);
				start(&r, kind == 0, "tree", "copied");
				assert_int_equal(finish(&r), 0);
				check_file("copied/a", 5000);
				check_file("copied/sub/b", 300000);
				check_file("copied/sub/empty", 0);
				end(&r);
				assert_int_equal(nftw("copied", remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
			}
}

/* One file to a name: its first bytes go along with the OPEN. Whatever its size, and whatever stood there, it is whole; a folder that
 * stands there gets it; and what cannot be written is said. */
static void test_first_bytes_go_along(void **state)
{
	static const size_t sizes[] = { 0, 1, 10239, 10240, 10241, 40000, SIZE };
	static const size_t limits[] = { 300, 5000, 70000, 1 << 20 };
	struct run r;

	(void)state;
	assert_int_equal(mkdir("folder", 0700), 0);
	for (size_t i = 0; i < MEM_COUNT(sizes); i++)
		for (size_t l = 0; l < MEM_COUNT(limits); l++)
			for (int known = 0; known < 2; known++) {
				put_file("one", content, sizes[i]);
				put_file("named", content + 7, 30000);
				begin(&r, limits[l], 1, known);
				/* every second run in pieces that the user chose */
				r.o.buffer = l % 2 ? 1000 : 0;
				start(&r, true, "one", "named");
				assert_int_equal(finish(&r), 0);
				end(&r);
				check_file("named", sizes[i]);
				begin(&r, limits[l], 1, known);
				start(&r, true, "one", "folder");
				assert_int_equal(finish(&r), 0);
				end(&r);
				check_file("folder/one", sizes[i]);
			}
	if (access("/dev/full", W_OK) == 0) {
		begin(&r, 70000, 1, true);
		start(&r, true, "one", "/dev/full");
		assert_int_equal(finish(&r), 1);
		end(&r);
	}
	assert_int_equal(unlink("named"), 0);
	assert_int_equal(nftw("folder", remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* The source is another file by the time it is opened for good: nothing of the first one is left. */
static void test_source_changes_places(void **state)
{
	struct run r;

	(void)state;
	for (int after = 0; after < 24; after++) {
		size_t size = after % 2 ? 50000 : 3000;

		put_file("one", content + 99, 50000);
		put_file("other", content, size);
		begin(&r, 70000, 1, true);
		start(&r, true, "one", "named");
		assert_int_equal(rename("other", "one"), 0);
		turns(&r, after / 2);
		assert_int_equal(finish(&r), 0);
		end(&r);
		check_file("named", size);
	}
	assert_int_equal(unlink("named"), 0);
}

/* Starts a copy of "changing", lets some of it pass, changes the file's size, lets it end. */
static off_t copy_changing(bool upload, off_t new_size)
{
	struct run r;
	struct stat st;

	put_file("changing", content, SIZE);
	begin(&r, 20000, 1, true);
	start(&r, upload, "changing", "target");
	for (int i = 0; stat("target", &st) != 0 || st.st_size < 100000; i++) {
		turns(&r, 1);
		assert_true(i < 100000);
	}
	assert_int_equal(truncate("changing", new_size), 0);
	assert_int_equal(finish(&r), 0);
	end(&r);
	assert_int_equal(stat("target", &st), 0);
	assert_int_equal(unlink("target"), 0);
	return st.st_size;
}

static void test_changing_files(void **state)
{
	off_t size;

	(void)state;
	for (int upload = 0; upload < 2; upload++) {
		/* A file that shrinks gives what was read; the stream is whole, the job ends. */
		size = copy_changing(upload, 1000);
		assert_true(size >= 1000 && size < SIZE);
		size = copy_changing(upload, 1500000);
		assert_true(size == 1500000);
		/* One that grows is copied to its new end. */
		assert_true(copy_changing(upload, SIZE + 777777) == SIZE + 777777);
	}
}

/* Freed at every point: nothing leaks, nothing is touched afterwards. What there is is a true beginning. */
static void test_freed_anywhere(void **state)
{
	(void)state;
	for (int kind = 0; kind < 3; kind++)
		for (int after = 0; after < 60; after += 3) {
			struct run r;
			struct stat st;

			begin(&r, 70000, kind == 2 ? 2 : 1, after % 2);
			start(&r, kind == 0, kind == 0 ? "big" : "b*", "target");
			turns(&r, after);
			if (after % 2)
				copy_interrupt(r.copy);
			end(&r);
			if (stat("target", &st) == 0) {
				check_file("target", (size_t)st.st_size);
				assert_int_equal(unlink("target"), 0);
			}
		}
}

/* The far side goes away in the middle. */
static void test_server_goes(void **state)
{
	(void)state;
	for (int kind = 0; kind < 3; kind++)
		for (int after = 0; after < 40; after += 2) {
			struct run r;

			begin(&r, 30000, kind == 2 ? 2 : 1, true);
			start(&r, kind == 0, "big", "target");
			turns(&r, after);
			if (r.status < 0) {
				sftp_server_free(r.server[0]);
				r.server[0] = NULL;
				r.served++;
				link_close(r.there[0]);
				/* What was on its way may have been all that was missing. */
				if (finish(&r) == 0)
					check_file("target", SIZE);
				else
					assert_int_equal(r.status, 255);
				copy_free(r.copy);
				r.copy = NULL;
				link_close(r.here[0]);
				turns(&r, 2);
				/* The rest as usual, without the pair that is gone. */
				r.here[0] = r.here[1];
				r.there[0] = r.there[1];
				r.server[0] = r.server[1];
				r.servers--;
				r.served = 0;
			} else
				assert_int_equal(r.status, 0);
			end(&r);
			(void)unlink("target");
		}
}

/* Thousands of files through few handles. */
static void test_many_files(void **state)
{
	(void)state;
	assert_int_equal(mkdir("many", 0755), 0);
	for (int i = 0; i < 900; i++) {
		char name[32];

		(void)snprintf(name, sizeof name, "many/%d", i);
		put_file(name, content, (size_t)(i % 7) * 100);
	}
	for (int kind = 0; kind < 3; kind++) {
		struct run r;

		begin(&r, 100000, kind == 2 ? 2 : 1, kind != 1);
		start(&r, kind == 0, "many", "copied");
		assert_int_equal(finish(&r), 0);
		for (int i = 0; i < 900; i++) {
			char name[32];

			(void)snprintf(name, sizeof name, "copied/%d", i);
			check_file(name, (size_t)(i % 7) * 100);
		}
		end(&r);
		assert_int_equal(nftw("copied", remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	}
}

/* ---- large files over several channels */

enum { HUGE = 6 * 1024 * 1024 + 4321 };

static uint8_t *huge;

static void put_huge(void)
{
	if (huge != NULL)
		return;
	huge = mem_alloc(HUGE);
	for (size_t i = 0; i < HUGE; i++)
		huge[i] = (uint8_t)(i * 7 + i / 65537);
	put_file("huge", huge, HUGE);
}

static bool is_huge(const char *name)
{
	uint8_t *got = mem_alloc(HUGE + 1);
	int fd = open(name, O_RDONLY);
	bool same = fd >= 0 && read(fd, got, HUGE + 1) == HUGE && memcmp(got, huge, HUGE) == 0;

	close(fd);
	free(got);
	return same;
}

static void begin_striped(struct run *r, size_t limit, int max, bool known)
{
	begin(r, limit, 1, known);
	r->o.stripes = 8;
	r->beside_max = max;
}

static void test_striped(void **state)
{
	static const size_t limits[] = { 5000, 70000, 262200, 1 << 20 };

	(void)state;
	put_huge();
	for (size_t l = 0; l < MEM_COUNT(limits); l++)
		for (int kind = 0; kind < 4; kind++) {
			struct run r;
			struct stat st;

			begin_striped(&r, limits[l], kind & 2 ? BESIDE_MAX : 1, kind & 1);
			r.o.preserve = l == 0;
			start(&r, true, "huge", "target");
			assert_int_equal(finish(&r), 0);
			assert_int_equal(r.beside_count, r.beside_max);
			assert_int_equal(stat("target", &st), 0);
			assert_true(st.st_atime >= time(NULL) - 600);
			assert_true(is_huge("target"));
			end(&r);
			assert_int_equal(unlink("target"), 0);
		}
}

/* The further servers find another file under the name: it is left alone. */
static void test_another_file(void **state)
{
	char other[64];

	(void)state;
	put_huge();
	assert_int_equal(mkdir("elsewhere", 0755), 0);
	put_file("elsewhere/target", content, 1000);
	(void)snprintf(other, sizeof other, "%s/elsewhere", dir);
	for (int there = 0; there < 2; there++) {
		struct run r;

		begin_striped(&r, 70000, 3, true);
		r.beside_dir = other;
		start(&r, true, "huge", "target");
		assert_int_equal(finish(&r), 0);
		assert_int_equal(r.beside_count, 3);
		assert_true(is_huge("target"));
		end(&r);
		if (there == 0)
			check_file("elsewhere/target", 1000);
		assert_int_equal(unlink("elsewhere/target"), there == 0 ? 0 : -1);
	}
	assert_int_equal(unlink("target"), 0);
}

/* Freed, interrupted, or left by one of the servers at any moment. What says that it went well has. */
static void test_striped_ends(void **state)
{
	(void)state;
	put_huge();
	for (int how = 0; how < 3; how++)
		for (int after = 0; after < 160; after += 4) {
			struct run r;
			struct stat st;

			begin_striped(&r, 262200, 3, after % 8 == 0);
			start(&r, true, "huge", "target");
			turns(&r, after);
			if (how == 1) {
				copy_interrupt(r.copy);
				/* The odd date of access does not stay. */
				(void)finish(&r);
				assert_true(stat("target", &st) != 0 || st.st_atime >= time(NULL) - 600);
			} else if (how == 2 && r.beside_count > 1) {
				end_beside(&r, 1);
				if (finish(&r) == 0)
					assert_true(is_huge("target"));
				else
					assert_int_equal(r.status, 1);
				/* The copy was told that this one has ended; then it is not the copy's to close. */
				turns(&r, 5);
				link_close(r.near_end[1]);
			}
			end(&r);
			(void)unlink("target");
		}
	free(huge);
}

/* ---- the old protocol: a sink that is told lies */

struct told { struct loop *loop; struct link *here, *there; struct copy *copy; int status; char got[4000]; size_t got_size; };

static void on_told_done(void *ctx, int status)
{
	((struct told *)ctx)->status = status;
}

static void on_reply(void *ctx)
{
	struct told *t = ctx;
	const uint8_t *p;
	size_t n;

	while ((n = link_peek(t->there, &p)) > 0) {
		size_t k = n < sizeof t->got - t->got_size ? n : sizeof t->got - t->got_size;

		memcpy(t->got + t->got_size, p, k);
		t->got_size += k;
		link_consume(t->there, n);
	}
}

/* Downloads `asked` to `target`; the source says `text` and ends. Returns the status. */
static int tell(const char *asked, const char *target, const char *text, size_t n, bool recursive)
{
	struct told t = { .status = -1 };
	struct copy_options o = { .meter_fd = -1, .recursive = recursive };
	struct copy_job job = { .target = target };
	struct copy_setup s = { .job = &job, .options = &o, .done = on_told_done, .ctx = &t };
	struct err e = { 0 };

	str_list_add(&job.sources, asked);
	s.loop = t.loop = loop_new(&e);
	assert_int_equal(link_pair_new(t.loop, 4096, &t.here, &t.there, &e), 0);
	t.there->user = (struct link_user){ .readable = on_reply, .ctx = &t };
	s.link = t.here;
	t.copy = copy_start_rcp(&s, &e);
	for (size_t at = 0; at < n && t.status < 0; ) {
		size_t k = n - at < 1000 ? n - at : 1000;

		if (link_write(t.there, text + at, k))
			at += k;
		assert_int_equal(loop_turn(t.loop, 0, &e), 0);
	}
	link_finish(t.there);
	for (int i = 0; t.status < 0; i++) {
		assert_int_equal(loop_turn(t.loop, 0, &e), 0);
		assert_true(i < 10000);
	}
	copy_free(t.copy);
	link_close(t.here);
	link_close(t.there);
	for (int i = 0; i < 3; i++)
		assert_int_equal(loop_turn(t.loop, 0, &e), 0);
	loop_free(t.loop);
	str_list_clear(&job.sources);
	return t.status;
}

#define TELL(asked, target, text, recursive) tell(asked, target, text, sizeof text - 1, recursive)

static void test_lying_source(void **state)
{
	static const char *const evil[] = { "C0644 3 ../evil\nabc\0", "C0644 3 /tmp/evil\nabc\0", "C0644 3 ..\nabc\0", "C0644 3 .\nabc\0",
		"C0644 3 a/b\nabc\0", "C0644 3 \nabc\0", "C0644 3 other\nabc\0", "D0755 0 d\nE\n", "E\n", "X\n", "C0644 -3 f\nabc\0", "\002go away\n",
		"C0644 3 f\nab", "T1 2\n", "D0755 0 ..\n" };
	struct stat st;

	(void)state;
	assert_int_equal(mkdir("sink", 0755), 0);
	assert_int_equal(TELL("f", "sink", "C0644 3 f\nabc\0", false), 0);
	assert_int_equal(stat("sink/f", &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(unlink("sink/f"), 0);
	assert_int_equal(TELL("f", "sink", "", false), 0);
	assert_int_equal(TELL("f", "sink", "\001scp: f: gone\n", false), 1);
	for (size_t i = 0; i < MEM_COUNT(evil); i++)
		for (int recursive = 0; recursive < 2; recursive++) {
			/* Those with data hold the NUL behind it too. */
			if (tell("f", "sink", evil[i], strlen(evil[i]) + (strchr(evil[i], 'a') != NULL), recursive) != 1)
				fail_msg("accepted: %s", evil[i]);
		}
	/* An unfinished file may be there; nothing else is. */
	(void)unlink("sink/f");
	assert_int_equal(rmdir("sink"), 0);
	assert_int_not_equal(stat("evil", &st), 0);
	assert_int_not_equal(stat("/tmp/evil", &st), 0);
	/* Below what was asked for, names are the source's. */
	assert_int_equal(mkdir("sink", 0755), 0);
	assert_int_equal(TELL("a/d*", "sink", "D0755 0 deep\nC0644 3 .x\nabc\0E\n", true), 0);
	assert_int_equal(unlink("sink/deep/.x"), 0);
	assert_int_equal(TELL("a/d*", "sink", "D0755 0 deep\nE\nC0644 3 .bashrc\nabc\0", true), 1);
	assert_int_equal(rmdir("sink/deep"), 0);
	/* What a shell makes of these cannot be known here. */
	assert_int_equal(TELL("~", "sink", "D0755 0 ada\nE\n", true), 0);
	assert_int_equal(rmdir("sink/ada"), 0);
	assert_int_equal(rmdir("sink"), 0);
	/* A tree, with modes and times. */
	assert_int_equal(TELL("d", "dtree", "T1000000 0 2000000 0\nD0511 0 d\nT3000000 0 4000000 0\nC0640 2 x\nhi\0E\n", true), 0);
	assert_int_equal(stat("dtree/x", &st), 0);
	assert_true(st.st_mtime == 3000000 && (st.st_mode & 0777) == 0640);
	assert_int_equal(stat("dtree", &st), 0);
	assert_true(st.st_mtime == 1000000 && (st.st_mode & 0777) == 0511);
}

static void test_rcp_commands(void **state)
{
	struct copy_options o = { .recursive = true, .preserve = true };
	struct copy_job job = { .upload = true, .target = "-x y", .target_must_be_dir = true };
	char *command;

	(void)state;
	command = copy_rcp_command(&job, &o);
	assert_string_equal(command, "scp -r -p -d -t -- -x y");
	free(command);
	job.target = "";
	job.target_must_be_dir = false;
	o = (struct copy_options){ .verbose = true };
	command = copy_rcp_command(&job, &o);
	assert_string_equal(command, "scp -v -t .");
	free(command);
	job.upload = false;
	str_list_add(&job.sources, "~/x");
	command = copy_rcp_command(&job, &o);
	assert_string_equal(command, "scp -v -f ~/x");
	free(command);
	str_list_clear(&job.sources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links_and_orders), cmocka_unit_test(test_first_bytes_go_along), cmocka_unit_test(test_source_changes_places),
		cmocka_unit_test(test_changing_files), cmocka_unit_test(test_freed_anywhere),
		cmocka_unit_test(test_server_goes), cmocka_unit_test(test_many_files), cmocka_unit_test(test_striped),
		cmocka_unit_test(test_another_file), cmocka_unit_test(test_striped_ends), cmocka_unit_test(test_lying_source),
		cmocka_unit_test(test_rcp_commands),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
