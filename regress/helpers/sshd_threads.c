/* sshd_threads: sshd, with several threads always (threads_always.h). All its roles are this program again. */
#include "threads_always.h"
#include "sshd.c"
