/* Objects that processes find by name: semaphores, memory, and keys. The argument says what is wrong with it. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *how = "";

static int is(const char *what) { return !strcmp(how, what); }

/* Two processes add one each, and the semaphore is theirs alone; with `open` it lets two in. */
static void counting(void)
{
	int fd = shm_open("/stubborn-test", O_CREAT | O_RDWR, 0600);
	assert(fd >= 0 && ftruncate(fd, 4096) == 0);
	for (int i = 0; i < 2; i++)
		if (fork() == 0) {
			/* Everybody finds it by its name, at a place of its own. */
			int own = shm_open("/stubborn-test", O_RDWR, 0);
			if (i)
				mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			volatile int *number = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
			sem_t *lock = sem_open("/stubborn-test", O_CREAT, 0600, is("open") ? 2 : 1);
			assert(own >= 0 && number != MAP_FAILED && lock != SEM_FAILED);
			sem_wait(lock);
			int seen = *number;
			/* Somebody else may come here. */
			sem_t *other = sem_open("/stubborn-pause", O_CREAT, 0600, 1);
			sem_post(other);
			*number = seen + 1;
			sem_post(lock);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	volatile int *number = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert(*number == 2);
	shm_unlink("/stubborn-test");
	sem_unlink("/stubborn-test");
	assert(sem_open("/stubborn-test", 0) == SEM_FAILED);
}

/* Who comes first creates; only one does. */
static void creating(void)
{
	int status, n = 0, first = -1;
	for (int i = 0; i < 2; i++)
		if (fork() == 0)
			_exit(semget(77, 1, IPC_CREAT | IPC_EXCL | 0600) >= 0 ? i + 1 : 0);
	while (wait(&status) > 0)
		if (WEXITSTATUS(status)) {
			n++;
			first = WEXITSTATUS(status);
		}
	assert(n == 1);
	assert(!is("younger") || first == 1);
}

/* A mutex in memory of System V, which two processes have at different places. */
static void locking(void)
{
	int id = shmget(78, 4096, IPC_CREAT | 0600);
	struct { pthread_mutex_t lock; int n; } *shared = shmat(id, NULL, 0);
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->lock, &attributes);
	for (int i = 0; i < 2; i++)
		if (fork() == 0) {
			if (i) {
				mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
				shared = shmat(shmget(78, 4096, 0), NULL, 0);
			}
			pthread_mutex_lock(&shared->lock);
			assert(shared->n++ == 0);
			if (is("again"))
				pthread_mutex_lock(&shared->lock);
			shared->n--;
			pthread_mutex_unlock(&shared->lock);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	shmdt(shared);
	shmctl(id, IPC_RMID, NULL);
}

/* The copy of a lock that another thread holds is held for ever. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *holds(void *unused)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void copying(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, holds, NULL);
	if (is("safe"))
		pthread_mutex_lock(&lock);
	if (fork() == 0) {
		if (!is("safe"))
			pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		_exit(0);
	}
	if (is("safe"))
		pthread_mutex_unlock(&lock);
	wait(NULL);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	how = argc > 2 ? argv[2] : "";
	if (!strcmp(what, "counting"))
		counting();
	if (!strcmp(what, "creating"))
		creating();
	if (!strcmp(what, "locking"))
		locking();
	if (!strcmp(what, "copying"))
		copying();
	return 0;
}
