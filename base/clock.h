/* base/clock.h: time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_mono_ms(void);   /* never goes back; unrelated to the date */
uint64_t clock_mono_us(void);
uint64_t clock_mono_ns(void);
uint64_t clock_thread_ns(void); /* processor time of the calling thread; a system call */
int64_t clock_wall(void);       /* seconds since 1970 */

#endif
