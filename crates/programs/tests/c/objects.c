/* Every other object once, used as it should be: read-write locks, barriers, semaphores, what is done once, timed waits,
 * recursive locks, semaphores that count by more than one. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <time.h>

static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, again;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t permits;
static int value, n_serial, n_once, set;

static void first(void) { n_once++; }

static void *locks(void *unused)
{
	pthread_rwlock_wrlock(&shared);
	value++;
	pthread_rwlock_unlock(&shared);
	pthread_rwlock_rdlock(&shared);
	assert(value >= 1);
	pthread_rwlock_unlock(&shared);
	return unused;
}

static void *meeting(void *unused)
{
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		n_serial++;
	pthread_once(&once, first);
	assert(n_once == 1);
	return unused;
}

static void *counting(void *unused)
{
	sem_wait(&permits);
	sem_post(&permits);
	pthread_mutex_lock(&again);
	pthread_mutex_lock(&again);
	pthread_mutex_unlock(&again);
	pthread_mutex_unlock(&again);
	return unused;
}

static void *waiting(void *unused)
{
	struct timespec soon = { 0, 0 };
	pthread_mutex_lock(&lock);
	assert(pthread_cond_timedwait(&never, &lock, &soon) == ETIMEDOUT);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *pairs(void *unused)
{
	struct sembuf take = { 0, -2, 0 }, give = { 0, 2, 0 };
	semop(set, &take, 1);
	semop(set, &give, 1);
	return unused;
}

int main(int argc, char **argv)
{
	void *(*work)(void *) = !strcmp(argv[1], "locks") ? locks
		: !strcmp(argv[1], "meeting") ? meeting
		: !strcmp(argv[1], "counting") ? counting
		: !strcmp(argv[1], "waiting") ? waiting : pairs;
	pthread_mutexattr_t attributes;
	pthread_t threads[2];
	(void)argc;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&again, &attributes);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&permits, 0, 1);
	set = semget(IPC_PRIVATE, 1, 0600);
	semctl(set, 0, SETVAL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(work != meeting || n_serial == 1);
	assert(work != locks || value == 2);
	assert(work != pairs || semctl(set, 0, GETVAL) == 3);
	return 0;
}
