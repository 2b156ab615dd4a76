/* The library that is loaded into the programs that `stubborn run` explores.
 *
 * It stands in front of the C library's calls for threads, processes, locks and semaphores. None of these reaches the
 * system: the objects live in the controller, so nothing is left behind. Only one task moves at a time, so what is done
 * here between two requests needs no locks.
 *
 * Each part below is one idea; they are compiled as one, because they share what nobody else must see.
 */
#define _GNU_SOURCE
#include "protocol.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PID 1000
#define HELD 64
#define FILES 1024
#define MAPPINGS 64
#define SHARED_SPACE UINT32_MAX
#define NAMED 2

#include "kernel.c"
#include "talk.c"
#include "ends.c"
#include "beginning.c"
#include "threads.c"
#include "processes.c"
#include "signals.c"
#include "locks.c"
#include "conditions.c"
#include "c11.c"
#include "semaphores.c"
#include "names.c"
#include "sysv.c"
#include "streams.c"
#include "listening.c"
#include "exec.c"
#include "spawn.c"
#include "refused.c"
#include "chance.c"

/* Choices and assertions. */

int VS_toss(int n)
{
	return me && n > 0 ? (int)request(OP_TOSS, (uint64_t)n + 1, 0, 0, SITE) : 0;
}

void VS_assert(int holds)
{
	if (me)
		request(OP_ASSERT, !holds, 0, 0, SITE);
	else if (!holds)
		abort();
}

/* Accesses to memory, in programs that `stubborn cc` compiled. */
void stubborn_access(void *address, size_t size, int flags, void *site)
{
	if (me)
		request_on(OP_ACCESS, place(address, 0), size << 3 | (uint64_t)flags, (uint64_t)site);
}
