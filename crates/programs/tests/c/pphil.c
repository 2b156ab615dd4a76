/* Dining philosophers: threads that take two mutexes, the left one first; with `ordered`, the last one the right one. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static int n = 2, ordered;
static pthread_mutex_t forks[16];

static void *philosopher(void *number)
{
	int i = (int)(intptr_t)number;
	int first = i, second = (i + 1) % n;
	if (ordered && second < first) {
		first = second;
		second = i;
	}
	pthread_mutex_lock(&forks[first]);
	pthread_mutex_lock(&forks[second]);
	pthread_mutex_unlock(&forks[second]);
	pthread_mutex_unlock(&forks[first]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	n = argc > 1 ? atoi(argv[1]) : 2;
	ordered = argc > 2;
	for (int i = 0; i < n; i++)
		pthread_mutex_init(&forks[i], NULL);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, philosopher, (void *)(intptr_t)i);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
