/* Programs that are hard to control; the argument says how. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void threads(int n)
{
	pthread_t all[8];
	for (int i = 0; i < n; i++)
		pthread_create(&all[i], NULL, work, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(all[i], NULL);
}

/* Which child is waited for: by its number, and by what can be done when the younger one has ended. */
static int children(const char *how)
{
	int ends[2];
	char byte = 0;
	if (strncmp(how, "child-", 6) || pipe(ends))
		return 0;
	how += 6;
	pid_t elder = fork();
	if (elder == 0)
		_exit(!strcmp(how, "lets") && read(ends[0], &byte, 1) != 1);
	pid_t younger = fork();
	if (younger == 0)
		_exit(0);
	if (!strcmp(how, "number") && wait(NULL) == younger)
		abort();
	if (!strcmp(how, "lets")) {
		/* The elder one ends only after this. */
		wait(NULL);
		if (write(ends[1], &byte, 1) != 1)
			abort();
	}
	if (!strcmp(how, "look") && waitpid(elder, NULL, WNOHANG) == 0 && waitpid(younger, NULL, WNOHANG) == younger)
		abort();
	if (!strcmp(how, "gone")) {
		/* Perhaps it was waited for already. */
		wait(NULL);
		if (waitpid(younger, NULL, 0) != younger)
			abort();
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

/* A process ends while a thread of it may have something left to say, and another process listens. */
static int said[2];

static void *say(void *unused)
{
	pthread_mutex_lock(&lock);
	if (write(said[1], "x", 1) != 1)
		abort();
	pthread_mutex_unlock(&lock);
	return unused;
}

static int ends(const char *how)
{
	char byte;
	pthread_t thread;
	if (strncmp(how, "end-", 4) || pipe(said))
		return 0;
	how += 4;
	if (!strcmp(how, "main")) {
		/* The process goes on when its first thread has ended. */
		pthread_create(&thread, NULL, work, NULL);
		pthread_exit(NULL);
	}
	if (fork() == 0) {
		pthread_create(&thread, NULL, say, NULL);
		if (!strcmp(how, "joined"))
			pthread_join(thread, NULL);
		if (!strcmp(how, "last"))
			pthread_exit(NULL);
		_exit(0);
	}
	close(said[1]);
	/* Nothing comes if the process has ended before. */
	if (read(said[0], &byte, 1) != (strcmp(how, "never") ? 1 : 0))
		abort();
	wait(NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	if (!strcmp(how, "crash"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "loop"))
		for (volatile int i = 0;; i++)
			;
	if (!strcmp(how, "clock")) {
		/* A clock that goes on would make runs differ. */
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		srand((unsigned)now.tv_nsec);
		threads(1 + rand() % 3);
	}
	if ((!strcmp(how, "differs") || !strcmp(how, "wanders")) && argc > 2) {
		/* Something that is not controlled: a file that every run makes longer. */
		FILE *file = fopen(argv[2], "a");
		if (!file)
			return 2;
		fputc('x', file);
		long length = ftell(file);
		fclose(file);
		/* From the second run on, or later. */
		threads(how[0] == 'w' ? 2 + (length > 2) : 2 + (length + 1) % 2);
	}
	if (!strcmp(how, "killed")) {
		if (fork() == 0) {
			char name[64] = "";
			if (readlink("/proc/self", name, sizeof name - 1) > 0)
				kill(atoi(name), SIGKILL);
			pause();
		}
		wait(NULL);
	}
	if (!strcmp(how, "blocks")) {
		/* A pipe of which nobody knows. */
		int ends[2];
		char byte;
		if (syscall(SYS_pipe2, ends, 0) || read(ends[0], &byte, 1))
			return 2;
	}
	if (!strcmp(how, "polls")) {
		/* Looks again and again. */
		pthread_t thread;
		pthread_create(&thread, NULL, work, NULL);
		while (pthread_mutex_trylock(&lock))
			sched_yield();
		pthread_mutex_unlock(&lock);
		pthread_join(thread, NULL);
		pid_t child = fork();
		if (child == 0)
			_exit(3);
		int status = 0;
		while (waitpid(child, &status, WNOHANG) == 0)
			usleep(100);
		return WEXITSTATUS(status) == 3 ? 0 : (abort(), 1);
	}
	if (!strncmp(how, "undo", 4)) {
		/* A process ends with what it has taken, and gives it back if it said so. */
		int set = semget(IPC_PRIVATE, 1, 0600);
		struct sembuf take = { 0, -1, how[4] ? 0 : SEM_UNDO };
		semctl(set, 0, SETVAL, 1);
		if (fork() == 0) {
			semop(set, &take, 1);
			_exit(0);
		}
		wait(NULL);
		semop(set, &take, 1);
	}
	if (!strcmp(how, "gives-up")) {
		pthread_mutex_lock(&lock);
		for (int i = 0; i < 20; i++)
			if (!pthread_mutex_trylock(&lock))
				abort();
	}
	if (!strcmp(how, "left")) {
		pthread_t thread;
		pthread_mutex_lock(&lock);
		pthread_create(&thread, NULL, work, NULL);
	}
	if (!strcmp(how, "status")) {
		int status, sum = 0;
		for (int i = 1; i <= 2; i++)
			if (fork() == 0)
				_exit(i);
		while (wait(&status) > 0)
			sum = 10 * sum + WEXITSTATUS(status);
		if (sum == 21)
			abort();
	}
	return children(how) || ends(how);
}
