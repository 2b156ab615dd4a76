/* A lost wake-up: the signal may come between the look and the wait. With `right`, the lock is held; with `once`, too, but
 * what was waited for is taken to have come. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int is_ready, is_right;

static int look(void)
{
	pthread_mutex_lock(&lock);
	int seen = is_ready;
	pthread_mutex_unlock(&lock);
	return seen;
}

static void *consumer(void *unused)
{
	if (is_right) {
		pthread_mutex_lock(&lock);
		while (!is_ready && is_right == 1)
			pthread_cond_wait(&change, &lock);
		if (!is_ready)
			pthread_cond_wait(&change, &lock);
		assert(is_ready);
		pthread_mutex_unlock(&lock);
	} else if (!look()) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&change, &lock);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *producer(void *unused)
{
	pthread_mutex_lock(&lock);
	is_ready = 1;
	pthread_cond_signal(&change);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(int argc, char **argv)
{
	is_right = argc > 1 && argv[1][0] ? (argv[1][0] == 'o') + 1 : 0;
	pthread_t threads[2];
	pthread_create(&threads[0], NULL, consumer, NULL);
	pthread_create(&threads[1], NULL, producer, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
