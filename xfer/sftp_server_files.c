/* Handles of the SFTP server: 4 opaque bytes, number and generation. */
#include "xfer/sftp_server_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"

/* 65,536 numbers, each good for 65,536 lives before a stale handle could be taken for a new one. */
enum { INDEX_BITS = 16, FILES_MAX = 1 << INDEX_BITS, GENERATION_MASK = 0xffff, FDS_KEPT = 5 };

void server_files_init(struct sftp_server *s)
{
	struct rlimit limit;

	s->file_free = SERVER_NO_FILE;
	s->files_max = FILES_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < FILES_MAX)
		s->files_max = limit.rlim_cur > FDS_KEPT ? (uint32_t)limit.rlim_cur - FDS_KEPT : 1;
}

static void log_close(struct sftp_server *s, const struct server_file *f, const char *how)
{
	char *name = str_escape_log(f->path, strlen(f->path), 1024);

	if (f->dir != NULL)
		server_log(s, LOG_LEVEL_INFO, "%sdir \"%s\"", how, name);
	else
		server_log(s, LOG_LEVEL_INFO, "%s \"%s\" bytes read %llu written %llu", how, name,
			(unsigned long long)f->bytes_read, (unsigned long long)f->bytes_written);
	free(name);
}

void server_files_clear(struct sftp_server *s)
{
	for (uint32_t i = 0; i < s->file_count; i++) {
		struct server_file *f = &s->file[i];

		if (!f->used)
			continue;
		log_close(s, f, "forced close");
		if (f->dir != NULL)
			closedir(f->dir);
		else
			close(f->fd);
		free(f->path);
	}
	free(s->file);
	s->file = NULL;
	s->file_count = s->file_room = 0;
}

struct server_file *server_file_add(struct sftp_server *s, int fd, DIR *dir, const char *path, int flags)
{
	struct server_file *f;
	uint32_t i = s->file_free;

	if (s->files_open >= s->files_max)
		return NULL;
	if (i != SERVER_NO_FILE)
		s->file_free = s->file[i].next_free;
	else {
		if (s->file_count == s->file_room) {
			s->file_room = s->file_room != 0 ? s->file_room * 2 : 16;
			s->file = mem_resize(s->file, s->file_room, sizeof s->file[0]);
		}
		i = s->file_count++;
		s->file[i] = (struct server_file){ 0 };
	}
	f = &s->file[i];
	*f = (struct server_file){ .used = true, .fd = fd, .dir = dir, .path = mem_strdup(path), .flags = flags,
		.generation = f->generation };
	s->files_open++;
	return f;
}

uint32_t server_file_handle(const struct sftp_server *s, const struct server_file *f)
{
	return f->generation << INDEX_BITS | (uint32_t)(f - s->file);
}

struct server_file *server_file_find(struct sftp_server *s, struct view handle)
{
	uint32_t value, i;

	if (handle.n != 4)
		return NULL;
	value = wire_load_u32(handle.p);
	i = value & (FILES_MAX - 1);
	if (i >= s->file_count || !s->file[i].used || s->file[i].generation != value >> INDEX_BITS)
		return NULL;
	return &s->file[i];
}

void server_file_release(struct sftp_server *s, struct server_file *f, int *fd, DIR **dir)
{
	log_close(s, f, "close");
	*fd = f->fd;
	*dir = f->dir;
	free(f->path);
	f->path = NULL;
	f->used = false;
	f->generation = (f->generation + 1) & GENERATION_MASK;
	f->next_free = s->file_free;
	s->file_free = (uint32_t)(f - s->file);
	s->files_open--;
}
