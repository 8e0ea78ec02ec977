/*
 * Runs a fuzz harness where there is no libFuzzer: first each seed as it is, then a bounded number of deterministic
 * mutations of them. The same numbers give the same inputs on every machine.
 *
 *   fuzz_x [-runs=N] [-seed=N] [-only=FILE] [SEED FILE OR FOLDER...]
 *
 * N defaults to FUZZ_RUNS from the environment, else 20000. When the harness dies, its input is left in crash-NAME in the
 * current folder; -only=crash-NAME runs that one alone.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_MAX 65536		/* bytes of one input; longer seeds are cut for mutation only */
#define HANG_SECONDS 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

struct seed {
	uint8_t *data;
	size_t size;
};

static struct seed *seeds;
static size_t seed_count;
static uint64_t state;
static const char *program;

/* What the signal handlers need. */
static const uint8_t *volatile current;
static volatile size_t current_size;
static volatile unsigned long runs, runs_at_alarm = (unsigned long)-1;
static volatile sig_atomic_t written;

static void die(const char *what)
{
	fprintf(stderr, "%s: ", program);
	perror(what);
	exit(1);
}

/* xorshift64*: good enough to mutate, and the same everywhere. */
static uint64_t next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

static size_t below(size_t limit)
{
	return limit == 0 ? 0 : (size_t)((next_random() >> 16) % limit);
}

static void write_crash(void)
{
	char name[256];
	int fd;

	if (written || current == NULL)
		return;
	written = 1;
	snprintf(name, sizeof(name), "crash-%s", program);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		return;
	if (write(fd, (const void *)current, current_size) == (ssize_t)current_size)
		fprintf(stderr, "%s: run %lu died, its %zu bytes are in %s\n", program, runs,
		    (size_t)current_size, name);
	close(fd);
}

static void on_signal(int sig)
{
	write_crash();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_alarm(int sig)
{
	if (runs == runs_at_alarm && current != NULL) {
		fprintf(stderr, "%s: one input takes more than %d s\n", program, HANG_SECONDS);
		write_crash();
		_exit(1);
	}
	runs_at_alarm = runs;
	alarm(HANG_SECONDS);
	(void)sig;
}

/* A copy of exactly that size lets ASan see a read behind the end. */
static void run_one(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size == 0 ? 1 : size);

	if (copy == NULL)
		die("malloc");
	if (size > 0)
		memcpy(copy, data, size);
	current_size = size;
	current = copy;
	runs++;
	(void)LLVMFuzzerTestOneInput(copy, size);
	current = NULL;
	free(copy);
}

static void add_seed(uint8_t *data, size_t size)
{
	struct seed *more = realloc(seeds, (seed_count + 1) * sizeof(*seeds));

	if (more == NULL)
		die("realloc");
	seeds = more;
	seeds[seed_count].data = data;
	seeds[seed_count].size = size;
	seed_count++;
}

static void load_file(const char *path)
{
	struct stat st;
	uint8_t *data;
	FILE *f = fopen(path, "rb");

	if (f == NULL || fstat(fileno(f), &st) != 0)
		die(path);
	data = malloc((size_t)st.st_size + 1);
	if (data == NULL)
		die("malloc");
	if (fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		die(path);
	fclose(f);
	add_seed(data, (size_t)st.st_size);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void load(const char *path)
{
	struct dirent **names;
	struct stat st;
	char *child;
	int i, n;

	if (stat(path, &st) != 0)
		die(path);
	if (!S_ISDIR(st.st_mode)) {
		load_file(path);
		return;
	}
	/* Sorted by bytes (the C locale is in force), so that the order is the same everywhere. */
	n = scandir(path, &names, visible, alphasort);
	if (n < 0)
		die(path);
	for (i = 0; i < n; i++) {
		if (asprintf(&child, "%s/%s", path, names[i]->d_name) < 0)
			die("asprintf");
		load(child);
		free(child);
		free(names[i]);
	}
	free(names);
}

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Picks, if it finds one soon, a place that looks like a length which fits the rest, and puts a worse one there. */
static void tamper_length(uint8_t *b, size_t size)
{
	static const uint32_t bad[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffc, 0x10000, 0x40000, 0x100000};
	size_t at = 0, tries;
	uint32_t old, new;

	if (size < 4)
		return;
	for (tries = 0; tries < 32; tries++) {
		at = below(size - 3);
		if (get_u32(b + at) <= size - at - 4)
			break;
	}
	old = get_u32(b + at);
	switch (below(4)) {
	case 0:
		new = old + 1;
		break;
	case 1:
		new = old - 1;
		break;
	case 2:
		new = (uint32_t)(size - at - 4) + (uint32_t)below(3);
		break;
	default:
		new = bad[below(sizeof(bad) / sizeof(bad[0]))];
		break;
	}
	b[at] = (uint8_t)(new >> 24);
	b[at + 1] = (uint8_t)(new >> 16);
	b[at + 2] = (uint8_t)(new >> 8);
	b[at + 3] = (uint8_t)new;
}

static size_t insert_bytes(uint8_t *b, size_t size)
{
	size_t at = below(size + 1), n = 1 + below(below(8) == 0 ? 1024 : 16), i;
	uint8_t fill = (uint8_t)next_random();

	if (size + n > INPUT_MAX)
		return size;
	memmove(b + at + n, b + at, size - at);
	for (i = 0; i < n; i++)
		b[at + i] = at >= n && fill % 2 == 0 ? b[at - n + i] : fill;
	return size + n;
}

static size_t remove_bytes(uint8_t *b, size_t size)
{
	size_t at, n;

	if (size == 0)
		return 0;
	at = below(size);
	n = 1 + below(size - at < 32 ? size - at : 32);
	memmove(b + at, b + at + n, size - at - n);
	return size - n;
}

/* The head of this input, the tail of another. */
static size_t cross(uint8_t *b, size_t size)
{
	const struct seed *other = &seeds[below(seed_count)];
	size_t at = below(size + 1), from = below(other->size + 1), n = other->size - from;

	if (n > INPUT_MAX - at)
		n = INPUT_MAX - at;
	memcpy(b + at, other->data + from, n);
	return at + n;
}

static size_t mutate(uint8_t *b, size_t size)
{
	static const uint8_t edge[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '\n', '\0', '/', '%', '"', ',', ' ', '='};

	switch (below(9)) {
	case 0:
	case 1:
		if (size > 0)
			b[below(size)] ^= (uint8_t)(1U << below(8));
		return size;
	case 2:
		if (size > 0)
			b[below(size)] = (uint8_t)next_random();
		return size;
	case 3:
		if (size > 0)
			b[below(size)] = edge[below(sizeof(edge))];
		return size;
	case 4:
		return insert_bytes(b, size);
	case 5:
		return remove_bytes(b, size);
	case 6:
		return below(size + 1);
	case 7:
		return cross(b, size);
	default:
		tamper_length(b, size);
		return size;
	}
}

static void run_mutations(unsigned long count)
{
	uint8_t *b = malloc(INPUT_MAX);
	unsigned long i;

	if (b == NULL)
		die("malloc");
	for (i = 0; i < count; i++) {
		const struct seed *s = &seeds[below(seed_count)];
		size_t size = s->size < INPUT_MAX ? s->size : INPUT_MAX, n = 1 + below(4);

		memcpy(b, s->data, size);
		while (n-- > 0)
			size = mutate(b, size);
		run_one(b, size);
	}
	free(b);
}

int main(int argc, char **argv)
{
	static const int deadly[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	const char *env = getenv("FUZZ_RUNS");
	unsigned long count = env != NULL ? strtoul(env, NULL, 10) : 20000;
	size_t i, as_they_are;
	int only = 0;

	program = strrchr(argv[0], '/') != NULL ? strrchr(argv[0], '/') + 1 : argv[0];
	state = UINT64_C(0x5eed5eed5eed5eed);
	if (LLVMFuzzerInitialize != NULL)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int a = 1; a < argc; a++) {
		if (strncmp(argv[a], "-runs=", 6) == 0)
			count = strtoul(argv[a] + 6, NULL, 10);
		else if (strncmp(argv[a], "-seed=", 6) == 0)
			state ^= strtoull(argv[a] + 6, NULL, 10) * UINT64_C(0x9e3779b97f4a7c15);
		else if (strncmp(argv[a], "-only=", 6) == 0) {
			only = 1;
			load(argv[a] + 6);
		} else if (argv[a][0] == '-')
			fprintf(stderr, "%s: %s is for libFuzzer, ignored\n", program, argv[a]);
		else
			load(argv[a]);
	}
	if (state == 0)
		state = 1;

	if (__sanitizer_set_death_callback != NULL)
		__sanitizer_set_death_callback(write_crash);
	else
		for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
			signal(deadly[i], on_signal);
	signal(SIGALRM, on_alarm);
	alarm(HANG_SECONDS);

	as_they_are = seed_count;
	for (i = 0; i < as_they_are; i++)
		run_one(seeds[i].data, seeds[i].size);
	if (!only) {
		if (seed_count == 0)
			add_seed(calloc(1, 1), 0);
		run_one(seeds[0].data, 0);
		run_mutations(count);
	}
	printf("%s: %lu runs over %zu seeds\n", program, runs, as_they_are);
	for (i = 0; i < seed_count; i++)
		free(seeds[i].data);
	free(seeds);
	return 0;
}
