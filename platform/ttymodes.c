/* platform/ttymodes.c: terminal modes on the wire (RFC 4254 section 8). */
#include "platform/ttymodes.h"

#include <termios.h>
#include <unistd.h>

#include "base/mem.h"

enum {
	TTY_OP_END = 0, TTY_OP_ISPEED = 128, TTY_OP_OSPEED = 129,
	TTY_OP_UNDEFINED = 160,          /* from here on the list cannot be read further */
	TTY_CHAR_DISABLED = 255
};

struct ttymodes_char { uint8_t opcode; uint8_t index; };

/* RFC 4254 section 8, opcodes 1 to 18. */
static const struct ttymodes_char ttymodes_chars[] = {
	{ 1, VINTR }, { 2, VQUIT }, { 3, VERASE }, { 4, VKILL }, { 5, VEOF }, { 6, VEOL },
#ifdef VEOL2
	{ 7, VEOL2 },
#endif
	{ 8, VSTART }, { 9, VSTOP }, { 10, VSUSP },
#ifdef VDSUSP
	{ 11, VDSUSP },
#endif
#ifdef VREPRINT
	{ 12, VREPRINT },
#endif
#ifdef VWERASE
	{ 13, VWERASE },
#endif
#ifdef VLNEXT
	{ 14, VLNEXT },
#endif
#ifdef VSWTCH
	{ 16, VSWTCH },
#elif defined(VSWTC)
	{ 16, VSWTC },
#endif
#ifdef VSTATUS
	{ 17, VSTATUS },
#endif
#ifdef VDISCARD
	{ 18, VDISCARD },
#endif
};

enum ttymodes_word { TTYMODES_I, TTYMODES_L, TTYMODES_O, TTYMODES_C };
struct ttymodes_flag { uint8_t opcode; uint8_t word; tcflag_t mask, value; };
#define TTYMODES_FLAG(op, word, flag) { op, word, flag, flag }

/* RFC 4254 section 8, opcodes 30 to 93, and IUTF8 of RFC 8160. CS7 and CS8 are values of one field. */
static const struct ttymodes_flag ttymodes_flags[] = {
	TTYMODES_FLAG(30, TTYMODES_I, IGNPAR), TTYMODES_FLAG(31, TTYMODES_I, PARMRK), TTYMODES_FLAG(32, TTYMODES_I, INPCK),
	TTYMODES_FLAG(33, TTYMODES_I, ISTRIP), TTYMODES_FLAG(34, TTYMODES_I, INLCR), TTYMODES_FLAG(35, TTYMODES_I, IGNCR),
	TTYMODES_FLAG(36, TTYMODES_I, ICRNL),
#ifdef IUCLC
	TTYMODES_FLAG(37, TTYMODES_I, IUCLC),
#endif
	TTYMODES_FLAG(38, TTYMODES_I, IXON), TTYMODES_FLAG(39, TTYMODES_I, IXANY), TTYMODES_FLAG(40, TTYMODES_I, IXOFF),
#ifdef IMAXBEL
	TTYMODES_FLAG(41, TTYMODES_I, IMAXBEL),
#endif
#ifdef IUTF8
	TTYMODES_FLAG(42, TTYMODES_I, IUTF8),
#endif
	TTYMODES_FLAG(50, TTYMODES_L, ISIG), TTYMODES_FLAG(51, TTYMODES_L, ICANON),
#ifdef XCASE
	TTYMODES_FLAG(52, TTYMODES_L, XCASE),
#endif
	TTYMODES_FLAG(53, TTYMODES_L, ECHO), TTYMODES_FLAG(54, TTYMODES_L, ECHOE), TTYMODES_FLAG(55, TTYMODES_L, ECHOK),
	TTYMODES_FLAG(56, TTYMODES_L, ECHONL), TTYMODES_FLAG(57, TTYMODES_L, NOFLSH), TTYMODES_FLAG(58, TTYMODES_L, TOSTOP),
	TTYMODES_FLAG(59, TTYMODES_L, IEXTEN),
#ifdef ECHOCTL
	TTYMODES_FLAG(60, TTYMODES_L, ECHOCTL),
#endif
#ifdef ECHOKE
	TTYMODES_FLAG(61, TTYMODES_L, ECHOKE),
#endif
#ifdef PENDIN
	TTYMODES_FLAG(62, TTYMODES_L, PENDIN),
#endif
	TTYMODES_FLAG(70, TTYMODES_O, OPOST),
#ifdef OLCUC
	TTYMODES_FLAG(71, TTYMODES_O, OLCUC),
#endif
	TTYMODES_FLAG(72, TTYMODES_O, ONLCR),
#ifdef OCRNL
	TTYMODES_FLAG(73, TTYMODES_O, OCRNL),
#endif
#ifdef ONOCR
	TTYMODES_FLAG(74, TTYMODES_O, ONOCR),
#endif
#ifdef ONLRET
	TTYMODES_FLAG(75, TTYMODES_O, ONLRET),
#endif
	{ 90, TTYMODES_C, CSIZE, CS7 }, { 91, TTYMODES_C, CSIZE, CS8 },
	TTYMODES_FLAG(92, TTYMODES_C, PARENB), TTYMODES_FLAG(93, TTYMODES_C, PARODD),
};

/* Bits a second, as they stand on the wire, and what termios calls them. */
static const struct { uint32_t bps; speed_t speed; } ttymodes_speeds[] = {
	{ 0, B0 }, { 50, B50 }, { 75, B75 }, { 110, B110 }, { 134, B134 }, { 150, B150 }, { 200, B200 }, { 300, B300 },
	{ 600, B600 }, { 1200, B1200 }, { 1800, B1800 }, { 2400, B2400 }, { 4800, B4800 }, { 9600, B9600 }, { 19200, B19200 },
	{ 38400, B38400 }, { 57600, B57600 }, { 115200, B115200 }, { 230400, B230400 },
#ifdef B460800
	{ 460800, B460800 }, { 500000, B500000 }, { 576000, B576000 }, { 921600, B921600 }, { 1000000, B1000000 },
	{ 1152000, B1152000 }, { 1500000, B1500000 }, { 2000000, B2000000 }, { 2500000, B2500000 }, { 3000000, B3000000 },
	{ 3500000, B3500000 }, { 4000000, B4000000 },
#endif
};

static uint32_t ttymodes_bps(speed_t speed)
{
	size_t i;

	for (i = 0; i < MEM_COUNT(ttymodes_speeds); i++)
		if (ttymodes_speeds[i].speed == speed)
			return ttymodes_speeds[i].bps;
	return 9600;
}

/* The largest known speed that is not above. */
static speed_t ttymodes_speed(uint32_t bps)
{
	size_t i = MEM_COUNT(ttymodes_speeds) - 1;

	while (ttymodes_speeds[i].bps > bps)
		i--;
	return ttymodes_speeds[i].speed;
}

static tcflag_t ttymodes_get_word(const struct termios *t, uint8_t word)
{
	const tcflag_t words[] = { t->c_iflag, t->c_lflag, t->c_oflag, t->c_cflag };

	return words[word];
}

static tcflag_t *ttymodes_word(struct termios *t, uint8_t word)
{
	tcflag_t *const words[] = { &t->c_iflag, &t->c_lflag, &t->c_oflag, &t->c_cflag };

	return words[word];
}

static size_t ttymodes_put(uint8_t *out, size_t n, uint8_t opcode, uint32_t v)
{
	out[n] = opcode;
	out[n + 1] = (uint8_t)(v >> 24);
	out[n + 2] = (uint8_t)(v >> 16);
	out[n + 3] = (uint8_t)(v >> 8);
	out[n + 4] = (uint8_t)v;
	return n + 5;
}

_Static_assert(5 * (MEM_COUNT(ttymodes_chars) + MEM_COUNT(ttymodes_flags) + 2) + 1 <= TTYMODES_MAX, "TTYMODES_MAX is too small");

size_t ttymodes_encode(const struct termios *t, uint8_t out[TTYMODES_MAX])
{
	const struct ttymodes_flag *f;
	size_t i, n = 0;
	cc_t c;

	n = ttymodes_put(out, n, TTY_OP_OSPEED, ttymodes_bps(cfgetospeed(t)));
	n = ttymodes_put(out, n, TTY_OP_ISPEED, ttymodes_bps(cfgetispeed(t)));
	for (i = 0; i < MEM_COUNT(ttymodes_chars); i++) {
		c = t->c_cc[ttymodes_chars[i].index];
		n = ttymodes_put(out, n, ttymodes_chars[i].opcode, c == _POSIX_VDISABLE ? TTY_CHAR_DISABLED : c);
	}
	for (i = 0; i < MEM_COUNT(ttymodes_flags); i++) {
		f = &ttymodes_flags[i];
		n = ttymodes_put(out, n, f->opcode, (ttymodes_get_word(t, f->word) & f->mask) == f->value);
	}
	out[n++] = TTY_OP_END;
	return n;
}

size_t ttymodes_encode_fd(int fd, uint8_t out[TTYMODES_MAX])
{
	struct termios t;

	if (tcgetattr(fd, &t) == 0)
		return ttymodes_encode(&t, out);
	out[0] = TTY_OP_END;
	return 1;
}

static void ttymodes_set(struct termios *t, uint8_t opcode, uint32_t v)
{
	const struct ttymodes_flag *f;
	tcflag_t *word;
	size_t i;

	if (opcode == TTY_OP_ISPEED)
		(void)cfsetispeed(t, ttymodes_speed(v));
	else if (opcode == TTY_OP_OSPEED)
		(void)cfsetospeed(t, ttymodes_speed(v));
	for (i = 0; i < MEM_COUNT(ttymodes_chars); i++)
		if (ttymodes_chars[i].opcode == opcode)
			t->c_cc[ttymodes_chars[i].index] = v >= TTY_CHAR_DISABLED ? (cc_t)_POSIX_VDISABLE : (cc_t)v;
	for (i = 0; i < MEM_COUNT(ttymodes_flags); i++) {
		f = &ttymodes_flags[i];
		if (f->opcode != opcode)
			continue;
		word = ttymodes_word(t, f->word);
		if (v != 0)
			*word = (*word & ~f->mask) | f->value;
		else if (f->word != TTYMODES_C || f->mask != CSIZE)
			*word &= ~f->mask;       /* CS7 or CS8 "off" says nothing about what is on */
	}
}

int ttymodes_decode(const uint8_t *p, size_t n, struct termios *t, struct err *e)
{
	size_t at = 0;
	uint32_t v;

	/* RFC 4254 section 8: a list that simply ends is as good as one with TTY_OP_END. */
	while (at < n && p[at] != TTY_OP_END && p[at] < TTY_OP_UNDEFINED) {
		if (n - at < 5)
			return err_set(e, ERR_PEER, "terminal modes are cut short");
		v = (uint32_t)p[at + 1] << 24 | (uint32_t)p[at + 2] << 16 | (uint32_t)p[at + 3] << 8 | p[at + 4];
		ttymodes_set(t, p[at], v);
		at += 5;
	}
	return 0;
}

int ttymodes_apply_fd(int fd, const uint8_t *p, size_t n, struct err *e)
{
	struct termios t;
	int r;

	if (tcgetattr(fd, &t) != 0)
		return err_set_errno(e, "cannot read the terminal's modes");
	r = ttymodes_decode(p, n, &t, e);
	if (r == 0 && tcsetattr(fd, TCSANOW, &t) != 0)
		r = err_set_errno(e, "cannot set the terminal's modes");
	return r;
}
