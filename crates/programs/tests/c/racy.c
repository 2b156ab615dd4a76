/* Races on plain memory: `count` loses an update, `flag` hands over without order, `peterson` is right if memory is
 * sequentially consistent and its variables are atomic, `broken` forgets the turn; `copy` copies with the C library, `name`,
 * `sorted`, `format`, `line` and `shown` use it otherwise, and `long` copies too much at once. Locks that are tried again and again: `spin`, `compare`, and `open` that is
 * none. Processes: `shared` is as `count`, `handed` is not. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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

static atomic_flag taken = ATOMIC_FLAG_INIT;
static atomic_int owner;
static int numbers[4] = { 4, 3, 2, 1 };

/* Adds one under a lock that is not there in the library. */
static void add(void)
{
	if (!strcmp(what, "spin"))
		while (atomic_flag_test_and_set(&taken))
			;
	for (int nobody = 0; !strcmp(what, "compare") && !atomic_compare_exchange_strong(&owner, &nobody, 1);)
		nobody = 0;
	if (!strcmp(what, "open"))
		atomic_flag_test_and_set(&taken);
	counter++;
	atomic_store(&owner, 0);
	atomic_flag_clear(&taken);
}

static int compare(const void *one, const void *two) { return *(const int *)one - *(const int *)two; }

/* Two processes; the second waits for the first if it is told. */
static int processes(void)
{
	struct { atomic_int is_ready; int n; } *shared =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fork() == 0) {
		shared->n++;
		atomic_store(&shared->is_ready, 1);
		_exit(0);
	}
	while (!strcmp(what, "handed") && !atomic_load(&shared->is_ready))
		;
	shared->n++;
	wait(NULL);
	return shared->n == 2 ? 0 : 1;
}

static void *first(void *unused)
{
	if (!strcmp(what, "spin") || !strcmp(what, "compare") || !strcmp(what, "open"))
		add();
	else if (!strcmp(what, "name"))
		strcpy(text, "somebody");
	else if (!strcmp(what, "format"))
		snprintf(text, sizeof text, "%d of %-*s", 1, 4, "two");
	else if (!strcmp(what, "line")) {
		FILE *file = fopen("/proc/self/stat", "r");
		if (file && fgets(text, 16, file))
			fclose(file);
	} else if (!strcmp(what, "shown"))
		text[3] = 'x';
	else if (!strcmp(what, "sorted"))
		qsort(numbers, 4, sizeof *numbers, compare);
	else if (!strcmp(what, "count"))
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
	if (!strcmp(what, "spin") || !strcmp(what, "compare") || !strcmp(what, "open"))
		add();
	else if (!strcmp(what, "shown"))
		printf("%2d %5.1f %.*s %s\n", 1, 2.5, 2, text, text);
	else if (!strcmp(what, "name") || !strcmp(what, "format") || !strcmp(what, "line"))
		n_copied = strlen(text);
	else if (!strcmp(what, "sorted"))
		data = numbers[0];
	else if (!strcmp(what, "count"))
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
	if (!strcmp(what, "shown"))
		strcpy(text, "aaaaaa");
	if (!strcmp(what, "long"))
		n_copied = sizeof text;
	if (!strcmp(what, "shared") || !strcmp(what, "handed"))
		return processes();
	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert(strcmp(what, "atomic") || steps == 2);
	return 0;
}
