/* Files of host keys: known_hosts_load, known_hosts_check, known_hosts_other_names, through a file in memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/log.h"
#include "base/str.h"
#include "keys/known_hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_all(const struct known_hosts *hosts)
{
	const struct known_hosts_entry *entry;
	enum known_hosts_verdict v;

	for (size_t i = 0; i < hosts->count; i++) {
		if (hosts->v[i].key == NULL)
			continue;
		v = known_hosts_check(hosts, hosts->v[i].key, &entry);
		/* A key that stands in the file unmarked is never "changed". */
		if (hosts->v[i].marker == KNOWN_PLAIN && v != KNOWN_HOSTS_OK && v != KNOWN_HOSTS_REVOKED)
			abort();
		if (hosts->v[i].marker == KNOWN_REVOKED && v != KNOWN_HOSTS_REVOKED)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	static const char *const names[] = { "host.a", "[h]:2222" };
	struct str_list paths = { 0 }, others = { 0 };
	struct known_hosts hosts;
	char path[64];

	if (fd < 0) {
		fd = memfd_create("known_hosts", MFD_CLOEXEC);
		log_set_level(LOG_LEVEL_QUIET);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	str_list_add(&paths, path);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (known_hosts_load(&paths, names[i], &hosts, NULL) != 0)
			continue;
		check_all(&hosts);
		if (i == 0 && hosts.count > 0 && hosts.v[0].key != NULL)
			known_hosts_other_names(&paths, hosts.v[0].key, &others);
		known_hosts_free(&hosts);
	}
	str_list_clear(&others);
	str_list_clear(&paths);
	return 0;
}
