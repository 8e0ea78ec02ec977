/* base/mem.h: memory, and the handling of secrets. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* For sizes that the program chooses: never NULL; when there is no memory the process is aborted after a message,
 * for no layer could do better. Sizes that a peer or a file chooses go through mem_try or a struct buf. */
void *mem_alloc(size_t n);
void *mem_zalloc(size_t n);
void *mem_array(size_t count, size_t size);              /* zeroed; overflow is checked */
void *mem_resize(void *p, size_t count, size_t size);    /* new part not zeroed */
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
void *mem_dup(const void *p, size_t n);
/* NULL when n cannot be had. Zeroed. */
void *mem_try(size_t n);

void mem_wipe(void *p, size_t n);                        /* is not optimised away */
void mem_free_secret(void *p, size_t n);                 /* wipe and free; p may be NULL */
void mem_free_string(char *s);                           /* the same for a secret string; s may be NULL */
/* Equal or not in a time that depends on n only. For MACs, tags, passwords, cookies. */
bool mem_equal_ct(const void *a, const void *b, size_t n);

#define MEM_COUNT(a) (sizeof(a) / sizeof((a)[0]))

#endif
