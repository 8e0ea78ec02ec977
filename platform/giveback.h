/* platform/giveback.h: memory that a process at rest need not keep. */
#ifndef PLATFORM_GIVEBACK_H
#define PLATFORM_GIVEBACK_H

/* Returns to the system what was used once and is not now: free pieces of the heap, the depths of the main thread's stack (what
 * lies there is gone for good), and pages of programs' code, which come back by themselves when they are run: of mappings that hold
 * nothing but what their files hold. For the main thread, after a login or a copy; costs a millisecond or two. Does what the
 * system can do, perhaps nothing. */
void giveback(void);

#endif
