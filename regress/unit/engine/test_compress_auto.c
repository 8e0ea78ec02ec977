/* The controller of compression on a simulated sender: lines of 1 KB/s to 10 GB/s, data of several kinds, and both of them changing.
 * It must be nearly as fast as the best fixed level in every case. */
#include "compress_auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"

/* Nanoseconds a byte, and what remains, of each level. */
struct kind { const char *name; double c[COMPRESS_LEVELS + 1], r[COMPRESS_LEVELS + 1]; };
static const struct kind kinds[] = {
	{ "text", { 0, 11, 12, 16, 19, 27, 38, 46, 67, 80 }, { 1, .38, .365, .35, .338, .325, .318, .316, .314, .313 } },
	{ "zeros", { 0, 2.5, 2.5, 2.6, 4, 4, 4.2, 4.5, 5, 5.2 }, { 1, .005, .005, .005, .004, .004, .004, .004, .004, .004 } },
	{ "binary", { 0, 16, 18, 25, 26, 38, 60, 75, 160, 290 }, { 1, .46, .45, .44, .425, .42, .415, .414, .412, .411 } },
	{ "image", { 0, 6, 7, 12, 11, 22, 70, 120, 500, 900 }, { 1, .20, .19, .18, .17, .16, .15, .147, .142, .14 } },
	{ "photo", { 0, 24, 25, 25, 28, 29, 30, 30, 30, 30 }, { 1, .99, .99, .99, .988, .988, .988, .988, .988, .988 } },
	{ "fast packer", { 0, 2.2, 2.8, 4, 6, 9, 14, 30, 60, 200 }, { 1, .37, .35, .335, .32, .31, .305, .30, .295, .285 } }
};
enum { TEXT, ZEROS, BINARY, IMAGE, PHOTO, FAST, KINDS };

enum { MIB = 1 << 20, SYSTEM_QUEUE = 512 * 1024 };

struct scene {
	int kind[2];             /* the second follows in stripes of 1 MiB, or from change_s on */
	bool stripes;
	double line[2];          /* bytes a second; the second from change_s on */
	double change_s;         /* 0: nothing changes */
	double b, w;             /* ns a byte of everything else */
	double seconds;
	double window;           /* of the peer, bytes of payload; 0: it lets more than enough wait */
};

struct sim {
	const struct scene *s;
	struct compress_auto *a; /* NULL: fixed */
	int fixed;
	double now, cpu, queue, drained, sent;   /* ns, bytes */
	uint32_t seed;
	bool switches;           /* new keys without compression, and with it again, are had when they are wished for */
	bool without;
	unsigned left, returned; /* so often */
	double left_s, returned_s, left_bytes[8];        /* when it last did, and after how much since it returned */
	double level_s[COMPRESS_LEVELS + 1];
};

static double noise(struct sim *m, double v)
{
	m->seed = m->seed * 1664525U + 1013904223U;
	return v * (0.9 + 0.2 * (double)(m->seed >> 8) / (1 << 24));
}

/* What does not shrink does not vary either. */
static double noisy_rest(struct sim *m, double r)
{
	return r > 0.9 ? 1 - noise(m, 1 - r) : noise(m, r);
}

static double line_now(const struct sim *m)
{
	return m->s->line[m->s->change_s > 0 && m->now >= m->s->change_s * 1e9];
}

static const struct kind *kind_now(const struct sim *m)
{
	bool second = m->s->stripes ? ((uint64_t)m->sent / MIB) % 2 == 1 : m->s->change_s > 0 && m->now >= m->s->change_s * 1e9;

	return &kinds[m->s->kind[second]];
}

static void pass(struct sim *m, double ns, bool working)
{
	double out = line_now(m) * ns / 1e9;

	if (out > m->queue)
		out = m->queue;
	m->queue -= out;
	m->drained += out;
	m->now += ns;
	if (working)
		m->cpu += ns;
}

static void tell(struct sim *m)
{
	struct compress_line l = { .drained = (uint64_t)m->drained + 4000, .rate = (uint64_t)line_now(m),
		.cpu_ns = (uint64_t)m->cpu, .now_us = (uint64_t)(m->now / 1e3) + 1 };

	if (m->s->window > 0) {
		l.inflight = (uint64_t)m->queue;
		l.queue_us = (uint64_t)(m->queue / line_now(m) * 1e6);
	} else {
		l.unsent = (uint64_t)m->queue;
	}
	if (m->a != NULL && l.now_us >= compress_auto_line_due(m->a))
		compress_auto_line(m->a, &l);
}

/* New keys: nothing is sent for two round trips. */
static void follow_wish(struct sim *m)
{
	if (!m->switches || compress_auto_wants_without(m->a) == m->without)
		return;
	pass(m, 5e6, false);
	tell(m);
	m->without = !m->without;
	compress_auto_set_without(m->a, m->without);
	if (m->without) {
		if (m->left < MEM_COUNT(m->left_bytes))
			m->left_bytes[m->left] = m->sent;
		m->left++;
		m->left_s = m->now / 1e9;
	} else {
		m->returned++;
		m->returned_s = m->now / 1e9;
	}
}

/* True: there may be another. */
static bool sample(struct sim *m, const struct kind *k, double n)
{
	struct compress_ask ask;
	struct compress_answer got = { .in = 0 };
	double in;

	if (!compress_auto_ask(m->a, &ask))
		return false;
	in = n < (double)ask.sample ? n : (double)ask.sample;
	got.in = (size_t)in;
	got.out = (size_t)(in * noisy_rest(m, k->r[ask.level]));
	got.ns = (uint64_t)(in * noise(m, k->c[ask.level]));
	if (ask.with != 0) {
		got.with_out = (size_t)((double)got.out * k->r[ask.with] / k->r[ask.level]);
		got.with_ns = (uint64_t)(in * noise(m, k->c[ask.with]));
	}
	pass(m, (double)(got.ns + got.with_ns) + 30000, true);
	compress_auto_answer(m->a, &ask, &got);
	return ask.with != 0;
}

/* One payload, as the channels would cut it. */
static void step(struct sim *m)
{
	const struct kind *k = kind_now(m);
	double begin = m->now, out, ns, n, swell = m->a != NULL ? (double)compress_auto_swell(m->a) / 16 : 1 / k->r[m->fixed];
	double most = m->s->window > 0 ? m->s->window : SYSTEM_QUEUE;
	int level;

	tell(m);
	if (m->a != NULL)
		follow_wish(m);
	level = m->a != NULL ? compress_auto_level(m->a) : m->fixed;
	n = line_now(m) * 0.002;
	n = (n < 4096 ? 4096 : n) * swell;
	if (n > (level != 0 ? 64 : 255) * 1024)
		n = (level != 0 ? 64 : 255) * 1024;
	if (m->s->window > 0)
		n = m->s->window / 3;
	while (m->a != NULL && compress_auto_pending_max(m->a) == 0) {
		pass(m, 1e6, false);
		tell(m);
	}
	out = level != 0 ? n * noisy_rest(m, k->r[level]) : n;
	ns = level != 0 ? n * noise(m, k->c[level]) : 0;
	if (m->s->window > 0)
		most *= out / n;
	while (m->queue + out > most && m->queue > out * 0.1) {
		double wait = (m->queue + out - most) / line_now(m) * 1e9 + 1000;

		pass(m, wait < 5e6 ? wait : 5e6, false);
		tell(m);
	}
	pass(m, ns + n * m->s->b + out * m->s->w, true);
	m->queue += out;
	m->sent += n;
	if (m->a != NULL && level != 0)
		compress_auto_packed(m->a, (size_t)n, (size_t)out, (uint64_t)ns);
	else if (m->a != NULL)
		compress_auto_raw(m->a, (size_t)n);
	for (int i = 0; m->a != NULL && i < 3 && sample(m, k, n); i++)
		;
	m->level_s[level] += (m->now - begin) / 1e9;
}

/* Bytes of payload a second that are through. */
static double run(const struct scene *s, int fixed, bool adapt, struct sim *m)
{
	static struct compress_prior prior[COMPRESS_LEVELS + 1];
	int i;

	/* What the library begins with. */
	for (i = 0; i <= COMPRESS_LEVELS; i++)
		prior[i] = compress_at(0)->prior[i];
	*m = (struct sim){ .s = s, .fixed = fixed, .seed = 7 };
	if (adapt)
		m->a = compress_auto_new(prior);
	while (m->now < s->seconds * 1e9)
		step(m);
	/* The rest in the queue counts as far as it would be through. */
	pass(m, m->queue / line_now(m) * 1e9, false);
	compress_auto_free(m->a);
	return m->sent / (m->now / 1e9);
}

/* Bytes of payload a second that a level gives on what is now. */
static double pace(const struct sim *m, int level)
{
	const struct kind *k = kind_now(m);
	double cpu = 1e9 / (k->c[level] + m->s->b + m->s->w * k->r[level]), line = line_now(m) / k->r[level];

	return cpu < line ? cpu : line;
}

static double worst = 1;
static int bad;

static void compare(const struct scene *s, const char *what, double least)
{
	struct sim m, best_m;
	double best = 0, got, rate;
	int level, at = 0;
	char text[300];
	size_t n = 0;

	for (level = 0; level <= COMPRESS_LEVELS; level++) {
		rate = run(s, level, false, &best_m);
		if (rate > best) {
			best = rate;
			at = level;
		}
	}
	if (getenv("ONLY") != NULL && (strcmp(getenv("ONLY"), what) != 0 || s->line[0] != atof(getenv("LINE"))))
		return;
	got = run(s, 0, true, &m);
	if (got / best < worst)
		worst = got / best;
	text[0] = '\0';
	for (level = 0; level <= COMPRESS_LEVELS; level++)
		if (m.level_s[level] > 0.01)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %d:%.2f", level, m.level_s[level]);
	if (got < best * least || getenv("SHOW") != NULL)
		print_message("%s %s line %.0f then %.0f, w %.1f: %.3f of level %d (%.0f KB/s);%s\n", got < best * least ? "BAD" : "   ", what,
			s->line[0], s->line[1], s->w, got / best, at, best / 1e3, text);
	bad += got < best * least;
}

static const double lines[] = { 1e3, 8e3, 32e3, 126e3, 494e3, 955e3, 3e6, 8533e3, 12.5e6, 20e6, 40e6, 70e6, 125e6, 300e6, 1e9, 10e9 };

static void steady(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++)
		for (size_t i = 0; i < MEM_COUNT(lines); i++)
			for (int slow = 0; slow < 2; slow++) {
				const struct scene s = { .kind = { k, k }, .line = { lines[i], lines[i] }, .b = 0.2, .w = slow ? 40 : 0.6,
					.seconds = lines[i] < 1e4 ? 200 : lines[i] < 1e6 ? 20 : 6 };

				compare(&s, kinds[k].name, 0.95);
			}
	assert_int_equal(bad, 0);
}

/* Twice in a run the other thing. */
static void stripes(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++)
		for (size_t i = 4; i < MEM_COUNT(lines); i++)
			for (int slow = 0; slow < 2; slow++) {
				const struct scene s = { .kind = { k, PHOTO }, .stripes = true, .line = { lines[i], lines[i] }, .b = 0.2,
					.w = slow ? 40 : 0.6, .seconds = lines[i] < 1e6 ? 20 : 6 };

				compare(&s, kinds[k].name, 0.93);
			}
	assert_int_equal(bad, 0);
}

/* A peer that lets little be under way: nothing waits at the sender, all in front of the line, as long as there is a queue. */
static void small_windows(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS; k++)
		for (size_t i = 2; lines[i] < 5e5; i++) {
			const struct scene s = { .kind = { k, k }, .line = { lines[i], lines[i] }, .b = 0.2, .w = 0.6, .seconds = 20, .window = 24576 };

			if (k != ZEROS)
				compare(&s, kinds[k].name, 0.93);
		}
	assert_int_equal(bad, 0);
}

/* From one second behind the change on: the pace of the levels that it used, against the best. */
static void after_change(const struct scene *s)
{
	struct compress_prior prior[COMPRESS_LEVELS + 1];
	struct sim m = { .s = s, .seed = 7 };
	double best = 0, got = 0, begin, since = (s->change_s + 1) * 1e9;
	int level, at = 0;

	for (level = 0; level <= COMPRESS_LEVELS; level++)
		prior[level] = compress_at(0)->prior[level];
	m.a = compress_auto_new(prior);
	while (m.now < s->seconds * 1e9) {
		if (m.now < since)
			memset(m.level_s, 0, sizeof(m.level_s));
		begin = m.now;
		level = compress_auto_level(m.a);
		step(&m);
		if (begin >= since)
			got += pace(&m, level) * (m.now - begin) / (s->seconds * 1e9 - since);
	}
	for (level = 0; level <= COMPRESS_LEVELS; level++) {
		if (pace(&m, level) > best) {
			best = pace(&m, level);
			at = level;
		}
	}
	if (got < best * 0.92 || getenv("SHOW") != NULL) {
		print_message("%s %s to %s line %.0f to %.0f w %.0f: %.3f of level %d (%.0f KB/s);", got < best * 0.92 ? "BAD" : "   ",
			kinds[s->kind[0]].name, kinds[s->kind[1]].name, s->line[0], s->line[1], s->w, got / best, at, best / 1e3);
		for (level = 0; level <= COMPRESS_LEVELS; level++)
			if (m.level_s[level] > 0.01)
				print_message(" %d:%.2f", level, m.level_s[level]);
		print_message("\n");
	}
	bad += got < best * 0.92;
	compress_auto_free(m.a);
}

/* The line, or the data, becomes another in the middle: within a second the level is one that is as good as the best for what
 * is now. */
static void changes(void **state)
{
	static const double pairs[][2] = {
		{ 10e9, 955e3 }, { 955e3, 10e9 }, { 12.5e6, 300e6 }, { 300e6, 12.5e6 }, { 125e6, 126e3 }, { 126e3, 125e6 }, { 494e3, 8533e3 },
		{ 8533e3, 494e3 }, { 12.5e6, 10e9 }, { 10e9, 12.5e6 }, { 40e6, 1e9 }, { 1e9, 40e6 }, { 32e3, 12.5e6 }
	};

	(void)state;
	for (int k = 0; k < KINDS; k++)
		for (size_t i = 0; i < MEM_COUNT(pairs); i++)
			for (int other = 0; other < 2; other++) {
				const struct scene s = { .kind = { k, other ? (k + 2) % KINDS : k }, .line = { pairs[i][0], pairs[i][1] },
					.change_s = 2, .b = 0.2, .w = 0.6, .seconds = 4 };

				after_change(&s);
			}
	assert_int_equal(bad, 0);
}

static void data_changes(void **state)
{
	(void)state;
	for (int k = 0; k < KINDS * KINDS; k++)
		for (size_t i = 4; i < MEM_COUNT(lines); i++)
			for (int slow = 0; slow < 2; slow++) {
				const struct scene s = { .kind = { k / KINDS, k % KINDS }, .line = { lines[i], lines[i] }, .change_s = 2, .b = 0.2,
					.w = slow ? 40 : 0.6, .seconds = 4 };

				after_change(&s);
			}
	assert_int_equal(bad, 0);
}

/* ---- without compression ---- */

static struct compress_prior stock_prior[COMPRESS_LEVELS + 1];

static void begin_switching(struct sim *m, const struct scene *s)
{
	for (int level = 0; level <= COMPRESS_LEVELS; level++)
		stock_prior[level] = compress_at(0)->prior[level];
	*m = (struct sim){ .s = s, .seed = 7, .switches = true, .a = compress_auto_new(stock_prior) };
}

static void run_until(struct sim *m, double seconds)
{
	while (m->now < seconds * 1e9)
		step(m);
}

/* The line is fast until there and 1 MB/s, or what is given, then. */
static struct scene falling(int kind, double from, double to)
{
	return (struct scene){ .kind = { kind, kind }, .line = { from, to }, .change_s = 2, .b = 0.2, .w = 0.6, .seconds = 5 };
}

/* Only where much flows raw, and soon. */
static void leaves_on_fast_lines(void **state)
{
	static const struct { double line; bool leaves; } cases[] = {
		{ 126e3, false }, { 12.5e6, false }, { 125e6, false }, { 200e6, true }, { 500e6, true }, { 1.5e9, true }, { 10e9, true }
	};

	(void)state;
	for (int k = 0; k < KINDS; k++) {
		for (size_t i = 0; i < MEM_COUNT(cases); i++) {
			const struct scene s = falling(k, cases[i].line, cases[i].line);
			struct sim m;

			/* Zeros are packed faster than a line of 500 MB/s takes them. */
			if ((k == ZEROS || k == FAST || k == IMAGE) && cases[i].line < 1e9)
				continue;
			begin_switching(&m, &s);
			run_until(&m, 2);
			if (m.left != cases[i].leaves || m.returned != 0 || (cases[i].leaves && m.left_s > 0.6))
				fail_msg("%s, %.0f: left %u times, at %.2f s", kinds[k].name, cases[i].line, m.left, m.left_s);
			compress_auto_free(m.a);
		}
	}
}

static void returns_within_a_second(void **state)
{
	static const double slow[] = { 126e3, 955e3, 1e6, 8533e3, 12.5e6 };

	(void)state;
	for (int k = 0; k < KINDS; k++) {
		for (size_t i = 0; i < MEM_COUNT(slow); i++) {
			const struct scene s = falling(k, 1e9, slow[i]);
			struct sim m;

			begin_switching(&m, &s);
			run_until(&m, 2);
			assert_int_equal(m.left, 1);
			run_until(&m, 4);
			if (k == PHOTO ? m.returned != 0 : m.returned != 1 || m.returned_s > 3 || compress_auto_level(m.a) == 0)
				fail_msg("%s, %.0f: returned %u times, at %.2f s, level %d", kinds[k].name, slow[i], m.returned, m.returned_s,
					compress_auto_level(m.a));
			compress_auto_free(m.a);
		}
	}
}

/* Each time it takes four times as much, and in the end it stays. */
static void leaves_seldom(void **state)
{
	struct scene s = falling(TEXT, 1e9, 1e6);
	struct compress_shares shares;
	struct sim m;

	(void)state;
	s.change_s = 0;
	begin_switching(&m, &s);
	for (int i = 0; i < 12; i++) {
		double sent = m.sent;
		unsigned before = m.left;

		s.line[0] = 1e9;
		run_until(&m, m.now / 1e9 + 6);
		if (m.left > before && before < 4)
			assert_true(m.left_bytes[before] - sent >= 24.0 * MIB * (before == 0 ? 1 : before == 1 ? 4 : before == 2 ? 16 : 64));
		assert_true(m.left <= before + 1);
		s.line[0] = 1e6;
		run_until(&m, m.now / 1e9 + 2);
		assert_int_equal(m.left, m.returned);
	}
	assert_int_equal(m.left, 4);
	compress_auto_shares(m.a, &shares);
	assert_true(shares.without_us > 5 * 1000 * 1000);
	compress_auto_free(m.a);
}

/* A reader that stops now and then does not bring it back; and samples cost next to nothing there. */
static void stalls_do_not_count(void **state)
{
	struct scene s = falling(TEXT, 1.5e9, 1.5e9);
	struct sim m;
	double before;

	(void)state;
	s.change_s = 0;
	begin_switching(&m, &s);
	run_until(&m, 1);
	assert_int_equal(m.left, 1);
	for (int i = 0; i < 10; i++) {
		s.line[0] = 1e4;
		run_until(&m, m.now / 1e9 + 0.08);
		s.line[0] = 1.5e9;
		run_until(&m, m.now / 1e9 + 0.5);
	}
	assert_int_equal(m.returned, 0);
	before = m.sent;
	run_until(&m, m.now / 1e9 + 2);
	assert_true(m.sent - before > 2 * 0.99e9 / (0.2 + 0.6));
	compress_auto_free(m.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(steady), cmocka_unit_test(stripes), cmocka_unit_test(small_windows), cmocka_unit_test(changes),
		cmocka_unit_test(data_changes), cmocka_unit_test(leaves_on_fast_lines), cmocka_unit_test(returns_within_a_second),
		cmocka_unit_test(leaves_seldom), cmocka_unit_test(stalls_do_not_count) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
