/* Threads of C11: a value is handed over; with `crossed`, two locks are taken in two orders; with `late`, time may be up. With `futex`, the
 * program waits by itself. */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static mtx_t one, two;
static cnd_t change;
static once_flag once = ONCE_FLAG_INIT;
static int is_ready, n_inits;
static const char *how = "";
static pthread_rwlock_t door = PTHREAD_RWLOCK_INITIALIZER;

static void begin(void) { n_inits++; }

static int worker(void *unused)
{
	(void)unused;
	call_once(&once, begin);
	if (!strcmp(how, "late")) {
		struct timespec until = { 1, 0 };
		/* Who is inside may stay for longer than that. */
		if (pthread_rwlock_timedwrlock(&door, &until))
			abort();
		pthread_rwlock_unlock(&door);
		return 5;
	}
	mtx_lock(!strcmp(how, "crossed") ? &two : &one);
	if (!strcmp(how, "crossed")) {
		mtx_lock(&one);
		mtx_unlock(&two);
	}
	is_ready = 1;
	cnd_signal(&change);
	mtx_unlock(&one);
	return 5;
}

int main(int argc, char **argv)
{
	thrd_t thread;
	int result = 0;
	how = argc > 1 ? argv[1] : "";
	if (!strcmp(how, "futex")) {
		int word = 0;
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	}
	mtx_init(&one, mtx_plain);
	mtx_init(&two, mtx_plain);
	cnd_init(&change);
	thrd_create(&thread, worker, NULL);
	call_once(&once, begin);
	if (!strcmp(how, "late")) {
		pthread_rwlock_rdlock(&door);
		pthread_rwlock_unlock(&door);
	} else {
		mtx_lock(&one);
		if (!strcmp(how, "crossed")) {
			mtx_lock(&two);
			mtx_unlock(&two);
		}
		while (!is_ready)
			cnd_wait(&change, &one);
		mtx_unlock(&one);
	}
	thrd_join(thread, &result);
	assert(result == 5 && n_inits == 1);
	return 0;
}
