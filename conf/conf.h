/* conf/conf.h: the language of ssh_config and sshd_config: rows, lines, files, blocks. What the keywords are stands in
 * client/client_rows.c and server/server_rows.c; ssh_config(5) and sshd_config(5) say how files are read. */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "conf/lex.h"
#include "conf/conf_files.h"

/* Where a value came from. Kept for every row beside the options, so that fields have plain C types and "not set"
 * needs no special value. */
enum conf_origin { CONF_UNSET, CONF_DEFAULT, CONF_SYSTEM_FILE, CONF_USER_FILE, CONF_COMMAND_LINE };

enum { CONF_ROWS_MAX = 192, CONF_INCLUDE_DEPTH = 16 };
/* The FIRST member of every options struct: one origin a row, in the order of the table. */
struct conf_marks { uint8_t origin[CONF_ROWS_MAX]; };

enum {
	CONF_IN_MATCH = 1 << 0,         /* server: may stand in a Match block */
	CONF_COLLECTS = 1 << 1,         /* every line adds to the field; otherwise the first line wins */
	CONF_LAST_WINS = 1 << 2,
	CONF_ANY_BLOCK = 1 << 3,        /* applies even in a block that does not match (quirks of the spec) */
	CONF_RAW = 1 << 4,              /* the rest of the line as it stands, in conf_line.rest */
	CONF_RAW_CUT = 1 << 5,          /* with CONF_RAW: ends at # */
	CONF_BLOCK = 1 << 6,            /* Host, Match: the parser calls conf_line_block() */
	CONF_INCLUDE = 1 << 7,
	CONF_FILE_ONLY = 1 << 8,        /* refused in -o */
	CONF_SILENT = 1 << 9,           /* a keyword of old that means nothing: no word about it */
	CONF_DEPRECATED = 1 << 10,      /* the same, with a note */
	CONF_UNSUPPORTED = 1 << 11,     /* not in this build; reported, not fatal */
	CONF_NO_EFFECT = 1 << 12,       /* historic HPN keyword: parses, debug note */
	CONF_UNBUILT = 1 << 13,         /* feature not built; leaving it out permits nothing: one -v line */
	CONF_UNBUILT_REFUSE = 1 << 14,  /* feature not built; leaving it out would permit more than the file says: an
	                                 * error, unless the value is the row's `harmless` */
	CONF_NO_DUMP = 1 << 15
};

struct conf_row;
struct conf_line;
struct conf_dump;

/* How a kind of value is read, kept and shown. */
struct conf_type {
	size_t size;                                             /* of the field */
	/* Reads the line's arguments into *field, which is zeroed (or, for CONF_COLLECTS, holds what came before).
	 * It is called for lines that do not apply too, with a scratch field. 0; 1: fine, but the row stays unset;
	 * ERR_USAGE after conf_line_bad(): a bad line; anything else with l->err set: reading stops at once. */
	int (*parse)(struct conf_line *l, void *field);
	void (*clear)(void *field);                              /* NULL: plain data */
	void (*copy)(void *dst, const void *src);                /* deep, dst is zeroed; NULL: plain data */
	void (*show)(struct conf_dump *d, const struct conf_row *row, const void *field);  /* NULL: never */
};

struct conf_row {
	const char *name;               /* as the manual writes it; compared without regard to case */
	const char *aliases;            /* comma separated, or NULL */
	size_t offset;                  /* of the field in the options struct */
	const struct conf_type *type;   /* NULL: nothing is kept (deprecated, unsupported) */
	unsigned flags;
	const char *def;                /* default, as it would stand in a file; NULL: none, or made by code */
	const void *arg;                /* for the type: words, limits, algorithm kind */
	const char *harmless;           /* comma separated values that ask for nothing: no word about them */
	/* NULL, or a word on whether an active line sets the field: < 0 it does not, > 0 it does, 0 the usual rules. */
	int (*allowed)(const struct conf_line *l);
	const char *shown;              /* name in a dump where it is not the usual one */
};

/* One language. Rows stand in the order of the dump. */
struct conf_table {
	const struct conf_row *rows;
	size_t count;
	size_t options_size;
	bool true_false;                /* booleans may be true and false too */
	bool bad_value_is_fatal;        /* server: the first bad value ends the reading; else lines are counted */
	bool restricted_blocks;         /* server: only CONF_IN_MATCH rows may stand in a block */
	size_t ignore_unknown;          /* offset of the char * of IgnoreUnknown; 0: there is none */
	bool lower_case;                /* keywords in a dump and in messages */
	enum log_level deprecated_level, unsupported_level;      /* of the notes about such keywords */
};

/* What a row's parser sees of its line. */
struct conf_line {
	const char *file;
	unsigned number;
	enum conf_origin origin;
	const struct conf_row *row;
	const char *keyword;            /* as written */
	char **arg;                     /* unquoted words; the parser takes them with conf_line_next() */
	size_t count, next;
	const char *rest;               /* CONF_RAW */
	bool active;                    /* whether the block that it stands in applies */
	bool kept;                      /* private: the value was taken */
	const struct conf_table *table;
	void *options;                  /* as far as read */
	struct conf_reader *reader;
	void *ctx;                      /* of the reader: what the side's own parsers need */
	struct err *err;
};

const char *conf_line_next(struct conf_line *l);                 /* next word, or NULL */
/* Next word; NULL after a report when there is none. */
const char *conf_line_need(struct conf_line *l);
/* "FILE line N: text", logged as an error, or put into l->err where bad values are fatal. Returns ERR_USAGE. */
int conf_line_bad(struct conf_line *l, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* For CONF_BLOCK parsers: the lines that follow apply or not. In a file included from a block that does not match
 * they never do. */
void conf_line_block(struct conf_line *l, bool matches);

/* ---- reading */

/* One pass over files and lines into one options struct. */
struct conf_reader {
	const struct conf_table *table;
	void *options;
	struct conf_source *source;     /* where files come from */
	void *ctx;
	/* NULL, or turns an argument of Include (tokens, ~, relative names) into a glob pattern, which is allocated;
	 * NULL: the argument is passed over. Returns as a row's parser does. */
	int (*include_pattern)(struct conf_line *l, const char *arg, char **pattern);
	const char *include_dir;        /* relative Include names are under it */
	/* Server, second evaluation: only lines in matching blocks are kept, and of these only CONF_IN_MATCH rows. */
	bool blocks_only;
	bool quiet;                     /* no notes about keywords: they were given before */
	bool check_owner;               /* files must be root's or ours and not writable by others... */
	bool check_included;            /* ...and so must those that they include */
	/* Private from here: where the reading stands. */
	unsigned bad;                   /* bad lines in the file being read */
	unsigned depth;
	bool active, never, in_block;   /* do lines apply; can no block; did Host or Match come */
};
/* Sets what must be set; the rest is zero. Nothing has to be freed. */
void conf_reader_init(struct conf_reader *r, const struct conf_table *t, void *options, struct conf_source *s);

/* Reads a file. ERR_NONE_FOUND: it is not there (nothing is reported); ERR_DENIED "Bad owner or permissions on
 * FILE"; ERR_USAGE "FILE: terminating, N bad configuration options", each of which has been reported, or (server)
 * what is wrong with a value. */
int conf_read_file(struct conf_reader *r, const char *path, enum conf_origin origin, struct err *e) MUST_USE;
/* One line, as of -o: "Keyword value" or "Keyword=value". Empty lines and comments are fine. name: "command-line".
 * ERR_NONE_FOUND: unknown keyword, no or too many arguments; ERR_USAGE: a bad value: both have been reported, and e is left
 * alone. */
int conf_read_line(struct conf_reader *r, const char *text, const char *name, enum conf_origin origin,
	struct err *e) MUST_USE;
/* Gives every row that is not set its default. */
int conf_fill_defaults(const struct conf_table *t, void *options, void *ctx, struct err *e) MUST_USE;

/* ---- options structs */

const struct conf_row *conf_row_find(const struct conf_table *t, const char *keyword);
/* Origin of the (first) row whose field stands at offset. */
enum conf_origin conf_origin_at(const struct conf_table *t, const void *options, size_t offset);
void conf_set_origin_at(const struct conf_table *t, void *options, size_t offset, enum conf_origin o);
/* Empties a field and its mark, so that the next line wins. */
void conf_unset_at(const struct conf_table *t, void *options, size_t offset);
void conf_options_clear(const struct conf_table *t, void *options);
void conf_options_copy(const struct conf_table *t, void *dst, const void *src);  /* dst is zeroed or cleared */
/* Every row that is set in src replaces that of dst. */
void conf_options_merge(const struct conf_table *t, void *dst, const void *src);

/* ---- dumping */

struct conf_dump {
	void (*line)(void *ctx, const char *text);  /* one line without newline */
	void *ctx;
	const struct conf_table *table;
	const void *options;
};
void conf_dump(const struct conf_table *t, const void *options, void (*line)(void *ctx, const char *text), void *ctx);
/* "name value" for the row. */
void conf_dump_value(struct conf_dump *d, const struct conf_row *row, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
