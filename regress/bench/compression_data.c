/* compression_data: the file sets of compression.sh, made from a seed: the same bytes on every machine.
 *   compression_data high|hard|mixed BYTES >FILE
 * high: a PostScript file with images (700 KB), a Japanese text in Shift-JIS (650 KB), an archive of a source tree (1.4 MB).
 * hard: a JPEG image (140 KB), a shared library (1 MB), a program (1.6 MB).
 * mixed: stripes of 1 MiB, in turn of high and of images only.
 * A set that is longer than its files goes on with others of the same kinds, never with the same ones again: repeats far
 * apart would flatter a compressor with a large window. Nothing here is anybody's text or program: the kinds are imitated in
 * what a compressor sees (words by frequency, phrases, indentation, hexadecimal images, instructions with addresses, tables). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRIPE 1048576u
#define WORDS 4096u

struct gen {
	uint64_t state;                 /* of the random numbers */
	uint8_t *out;                   /* the file being made */
	size_t len, want;
	char words[WORDS][16];          /* latin words, most frequent first */
	uint8_t ja[WORDS][10];          /* Japanese ones: length, then bytes of Shift-JIS */
	uint8_t op[512][8];             /* instructions: length, then bytes */
};

static uint64_t next(struct gen *g)
{
	g->state ^= g->state >> 12;
	g->state ^= g->state << 25;
	g->state ^= g->state >> 27;
	return g->state * 0x2545f4914f6cdd1du;
}

static uint32_t below(struct gen *g, uint32_t n) { return (uint32_t)((next(g) >> 32) * n >> 32); }

/* A rank below n; small ones far more often, as words and instructions have it: the product of two even numbers, squared. */
static uint32_t rank_below(struct gen *g, uint32_t n)
{
	uint64_t a = below(g, 65536), b = below(g, 65536);

	return (uint32_t)((((a * b) >> 16) * a >> 16) * n >> 16);
}

static void put(struct gen *g, const void *p, size_t n)
{
	if (n > g->want - g->len)
		n = g->want - g->len;
	memcpy(g->out + g->len, p, n);
	g->len += n;
}
static void put_text(struct gen *g, const char *s) { put(g, s, strlen(s)); }
static void put_byte(struct gen *g, unsigned v) { put(g, &(uint8_t){ (uint8_t)v }, 1); }
static void put_le32(struct gen *g, uint32_t v)
{
	put(g, (uint8_t[]){ (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) }, 4);
}
static void put_number(struct gen *g, unsigned n)
{
	char s[16];

	snprintf(s, sizeof s, "%u", n);
	put_text(g, s);
}
static int full(const struct gen *g) { return g->len == g->want; }

/* The vocabularies; the seed of a set does not change them. */
static void make_words(struct gen *g)
{
	static const char *const syllable[] = { "in", "er", "st", "re", "co", "de", "al", "on", "ti", "en", "or", "ma", "le", "pa", "se",
		"ch", "un", "io", "ta", "lo", "ne", "fi", "ro", "me", "ex", "su", "li", "by", "ke", "qu", "po", "th" };

	for (unsigned i = 0; i < WORDS; i++) {
		unsigned n = 1 + below(g, i < 64 ? 2 : 4), kanji = i < 60 ? 0 : below(g, 3), k = 1;

		g->words[i][0] = '\0';
		while (n-- > 0)
			strcat(g->words[i], syllable[rank_below(g, 32)]);
		n = i < 60 ? 1 + below(g, 2) : 2 + below(g, 3);
		for (; n-- > 0; k += 2) {
			/* hiragana 829F to 82F1; kanji of the first level 889F to 97FC, some rows of it */
			g->ja[i][k] = (uint8_t)(kanji ? 0x89 + below(g, 14) : 0x82);
			g->ja[i][k + 1] = (uint8_t)(kanji ? 0x80 + rank_below(g, 0x7c) : 0x9f + below(g, 0x52));
		}
		g->ja[i][0] = (uint8_t)(k - 1);
	}
	for (unsigned i = 0; i < 512; i++) {
		unsigned n = 1 + below(g, i < 100 ? 4 : 7);

		g->op[i][0] = (uint8_t)n;
		for (unsigned k = 1; k <= n; k++)
			g->op[i][k] = (uint8_t)(below(g, 3) == 0 ? 0x48 + below(g, 4) : rank_below(g, 256));
	}
}

/* The word after this one: often one of a few that like to follow it. */
static uint32_t follow(struct gen *g, uint32_t word, unsigned percent)
{
	if (below(g, 100) < percent)
		return (word * 2654435761u + rank_below(g, 4) * 40503u) % WORDS;
	return rank_below(g, WORDS);
}

static void shift_jis(struct gen *g)
{
	for (uint32_t w = 0, column = 0; !full(g);) {
		unsigned n = 6 + below(g, 14);

		for (; n > 0; n--) {
			w = follow(g, w, 82);
			put(g, g->ja[w] + 1, g->ja[w][0]);
			column += g->ja[w][0];
			if (column > 76) {
				put_text(g, "\r\n");
				column = 0;
			}
			if (n == 7 && below(g, 2))
				put_text(g, "\x81\x41");        /* a comma */
		}
		put_text(g, "\x81\x42");                        /* a full stop */
		if (below(g, 5) == 0) {
			put_text(g, "\r\n\x81\x40");
			column = 2;
		}
	}
}

static void postscript_page(struct gen *g, unsigned page)
{
	uint32_t w = page;

	put_text(g, "%%Page: ");
	put_number(g, page);
	put_text(g, "\nsave 0 setgray /Times-Roman findfont 10 scalefont setfont\n");
	for (unsigned line = 0; line < 50; line++) {
		put_text(g, "72 ");
		put_number(g, 720 - 13 * line);
		put_text(g, " moveto (");
		for (unsigned i = 0; i < 11; i++) {
			w = follow(g, w, 40);
			put_text(g, g->words[w]);
			put_text(g, i < 10 ? " " : ") show\n");
		}
	}
	put_text(g, "restore showpage\n");
}

/* An image of 8 bit grey in hexadecimal: surfaces with gradients, edges between them, noise. */
static void postscript_image(struct gen *g)
{
	static const char digit[] = "0123456789abcdef";
	unsigned width = 256, height = 80, noise = 2 + below(g, 3), surfaces = 3 + below(g, 12);
	char line[2 * 256 + 1];

	put_text(g, "gsave 72 400 translate 256 80 scale 256 80 8 [256 0 0 -80 0 80]\n{currentfile picture readhexstring pop} image\n");
	for (unsigned y = 0; y < height && !full(g); y++) {
		unsigned v = 0, slope = 0;

		for (unsigned x = 0; x < width; x++) {
			if (x % (width / surfaces) == 0) {
				v = (x * 37 + y * (x / 32 + 1)) * 8;
				slope = x * 5 % 19;
			}
			v += slope;
			unsigned shade = v / 8 + (below(g, 4) == 0 ? below(g, noise + 1) : 0);
			line[2 * x] = digit[shade >> 4 & 15];
			line[2 * x + 1] = digit[shade & 15];
		}
		line[2 * width] = '\n';
		put(g, line, sizeof line);
	}
	put_text(g, "grestore\n");
}

static void postscript(struct gen *g)
{
	put_text(g, "%!PS-Adobe-3.0\n%%Creator: compression_data\n%%EndComments\n/picture 256 string def\n");
	for (unsigned page = 1; !full(g); page++) {
		postscript_page(g, page);
		if (page % 2 == 0)
			postscript_image(g);
	}
}

static void code_name(struct gen *g, uint32_t *w)
{
	*w = follow(g, *w, 50);
	put_text(g, g->words[*w]);
	if (below(g, 3) == 0) {
		put_byte(g, '_');
		put_text(g, g->words[follow(g, *w, 80)]);
	}
}

/* One function in C, of lines in a few shapes. */
static void code_function(struct gen *g, uint32_t *w)
{
	static const char *const shape[] = { "\tif (@ == NULL)\n\t\treturn -1;\n", "\t@ = @(@, @);\n", "\t@->@ = @;\n", "\t@(@->@, sizeof(@));\n",
		"\tfor (i = 0; i < @; i++)\n\t\t@[i] = @;\n", "\tif ((@ = @(@)) != 0)\n\t\tgoto out;\n", "\t\tbreak;\n", "\tcase @:\n",
		"\t\t/* @ @ the @ of @ */\n", "\tstruct @ *@ = @->@;\n", "\tdebug(\"%s: @ %d\", __func__, @);\n", "\n" };

	put_text(g, below(g, 2) ? "static int\n" : "void\n");
	code_name(g, w);
	put_text(g, "(struct ");
	code_name(g, w);
	put_text(g, " *");
	code_name(g, w);
	put_text(g, ")\n{\n");
	for (unsigned n = 4 + below(g, 30); n > 0; n--)
		for (const char *s = shape[rank_below(g, 12)]; *s != '\0'; s++) {
			if (*s == '@')
				code_name(g, w);
			else
				put_byte(g, (uint8_t)*s);
		}
	put_text(g, "out:\n\treturn 0;\n}\n\n");
}

/* An archive as tar writes it: a header of 512 bytes, the text, zeros to a multiple of 512. */
static void archive(struct gen *g)
{
	for (uint32_t w = 1; !full(g);) {
		size_t start = g->len, size = 4000 + rank_below(g, 60000);
		char header[512] = "", name[64];

		w = rank_below(g, WORDS);
		snprintf(name, sizeof name, "tree/%s/%s.c", g->words[w % 20], g->words[w]);
		memcpy(header, name, strlen(name));
		memcpy(header + 100, "0000644\0" "0001750\0" "0001750", 23);
		snprintf(header + 124, 12, "%011o", (unsigned)size & 07777777u);
		snprintf(header + 136, 21, "%011o", 0734200000u + below(g, 4096));
		memcpy(header + 257, "ustar\0" "00root", 12);
		put(g, header, sizeof header);
		while (!full(g) && g->len - start < size)
			code_function(g, &w);
		while (!full(g) && (g->len - start) % 512 != 0)
			put_byte(g, 0);
	}
}

/* Entropy coded as a JPEG is: even bytes, FF followed by 00, a restart mark now and then. */
static void image(struct gen *g)
{
	put_text(g, "\xff\xd8\xff\xe0");
	for (unsigned n = 0; !full(g); n++) {
		uint64_t r = next(g);

		for (unsigned k = 0; k < 8; k++, r >>= 8) {
			put_byte(g, (uint8_t)r);
			if ((uint8_t)r == 0xff)
				put_byte(g, 0);
		}
		if (n % 2048 == 2047) {
			put_byte(g, 0xff);
			put_byte(g, 0xd0 + n / 2048 % 8);
		}
	}
}

static void machine_code(struct gen *g, size_t bytes)
{
	size_t end = g->len + bytes;
	uint32_t op = 0;

	while (!full(g) && g->len < end) {
		if (below(g, 3) == 0)
			op = (op * 40503u + rank_below(g, 5)) % 512;
		else
			op = rank_below(g, 512);
		put(g, g->op[op] + 1, g->op[op][0]);
		switch (below(g, 10)) {
		case 0:         /* a call: the distance to one of many functions */
			put_byte(g, 0xe8);
			put_le32(g, below(g, 65536) * 16 - (uint32_t)g->len);
			break;
		case 1:
			put_le32(g, rank_below(g, 4096) * 8);
			break;
		case 2:
			put_byte(g, below(g, 256));
			break;
		case 3:
			put_byte(g, rank_below(g, 32) * 8);
			break;
		default:
			break;
		}
		if (below(g, 60) == 0)
			while (g->len % 16 != 0 && !full(g))
				put_byte(g, 0x90);
	}
}

/* A library or program: names, code, strings, constants, relocations, and in a program what was packed into it. */
static void binary(struct gen *g, int packed)
{
	put_text(g, "\x7f" "ELF\2\1\1");
	while (!full(g)) {
		machine_code(g, 160000);
		for (unsigned n = 0; n < 1000; n++) {
			put_text(g, g->words[rank_below(g, WORDS)]);
			put_byte(g, below(g, 4) == 0 ? 0 : ' ');
		}
		for (unsigned n = 0; n < 600; n++) {            /* relocations */
			put_le32(g, 0x20000 + (uint32_t)g->len + n * 8);
			put_le32(g, 0);
			put_le32(g, 8);
			put_le32(g, 0);
			put_le32(g, below(g, 65536) * 16);
			put_le32(g, 0);
		}
		for (unsigned n = packed ? 60000 : 16000; n > 0 && !full(g); n--)
			put_byte(g, (uint8_t)next(g));
	}
}

/* The next file of a set. */
static void make_file(struct gen *g, int set, unsigned n)
{
	static const size_t size[2][3] = { { 700000, 650000, 1400000 }, { 140000, 1000000, 1600000 } };
	unsigned kind = n % 3;

	g->len = 0;
	g->want = size[set][kind];
	if (set == 0 && kind == 0)
		postscript(g);
	else if (set == 0 && kind == 1)
		shift_jis(g);
	else if (set == 0)
		archive(g);
	else if (kind == 0)
		image(g);
	else
		binary(g, kind == 2);
}

/* n bytes of a set to the output; *at is what of the file in g has been written, *file which comes next. */
static int write_set(struct gen *g, int set, size_t n, struct gen *image_gen)
{
	unsigned file = 0;

	for (size_t at = 0, taken, done = 0; done < n; done += taken, at += taken) {
		if (set == 2 && done / STRIPE % 2 == 1) {
			image_gen->len = 0;
			image_gen->want = STRIPE;
			image(image_gen);
			taken = n - done < STRIPE ? n - done : STRIPE;
			if (fwrite(image_gen->out, 1, taken, stdout) != taken)
				return -1;
			at -= taken;
			continue;
		}
		if (at == g->len) {
			make_file(g, set == 1, file++);
			at = 0;
		}
		taken = g->len - at < n - done ? g->len - at : n - done;
		if (set == 2 && taken > STRIPE - done % STRIPE)
			taken = STRIPE - done % STRIPE;
		if (fwrite(g->out + at, 1, taken, stdout) != taken)
			return -1;
	}
	return fflush(stdout);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "high", "hard", "mixed" };
	static struct gen g, images;
	int set = 3;

	for (int i = 0; argc == 3 && i < 3; i++)
		if (strcmp(argv[1], names[i]) == 0)
			set = i;
	if (set == 3) {
		fprintf(stderr, "usage: compression_data high|hard|mixed BYTES\n");
		return 2;
	}
	g.out = malloc(2 * STRIPE);
	images.out = malloc(STRIPE);
	if (g.out == NULL || images.out == NULL)
		return 1;
	g.state = 0x57697265u;
	make_words(&g);
	g.state = 0x73706565u + (unsigned)set;
	images.state = 0x64u;
	if (write_set(&g, set, (size_t)strtoull(argv[2], NULL, 10), &images) != 0) {
		perror("compression_data");
		return 1;
	}
	free(g.out);
	free(images.out);
	return 0;
}
