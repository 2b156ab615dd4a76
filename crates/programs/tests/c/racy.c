/* Races on plain memory: `count` loses an update, `flag` hands over without order, `peterson` is right if memory is
 * sequentially consistent and its variables are atomic, `broken` forgets the turn; `copy` copies with the C library, and
 * `long` too much at once. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static int counter, data, is_ready;
static char text[8192], other[8192];
static volatile size_t n_copied = 40;
static atomic_int wants[2], turn, inside, steps;
static const char *what;

static void critical(int i)
{
	atomic_store(&wants[i], 1);
	if (strcmp(what, "broken"))
		atomic_store(&turn, 1 - i);
	while (atomic_load(&wants[1 - i]) && (!strcmp(what, "broken") ? 0 : atomic_load(&turn) == 1 - i))
		;
	assert(atomic_fetch_add(&inside, 1) == 0);
	atomic_fetch_sub(&inside, 1);
	atomic_store(&wants[i], 0);
}

static void *first(void *unused)
{
	if (!strcmp(what, "count"))
		counter++;
	else if (!strcmp(what, "copy") || !strcmp(what, "long"))
		memcpy(text, other, n_copied);
	else if (!strcmp(what, "flag")) {
		data = 1;
		is_ready = 1;
	} else if (!strcmp(what, "atomic"))
		atomic_fetch_add(&steps, 1);
	else
		critical(0);
	return unused;
}

static void *second(void *unused)
{
	if (!strcmp(what, "count"))
		counter++;
	else if (!strcmp(what, "copy") || !strcmp(what, "long"))
		memset(text, 1, n_copied);
	else if (!strcmp(what, "flag")) {
		if (is_ready)
			assert(data == 1);
	} else if (!strcmp(what, "atomic"))
		atomic_fetch_add(&steps, 1);
	else
		critical(1);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	what = argc > 1 ? argv[1] : "count";
	if (!strcmp(what, "long"))
		n_copied = sizeof text;
	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert(strcmp(what, "atomic") || steps == 2);
	return 0;
}
