/* ssh_threads: ssh, with several threads always (threads_always.h). */
#include "threads_always.h"
#include "ssh.c"
