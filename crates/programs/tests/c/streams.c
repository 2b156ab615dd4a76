/* What processes say to each other by other means than read and write on a pipe. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Question and answer; with `both`, both wait for a question. */
static void sockets(int both)
{
	int ends[2];
	char byte = 'q';
	assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	if (fork() == 0) {
		close(ends[0]);
		assert(read(ends[1], &byte, 1) == 1);
		assert(send(ends[1], "a", 1, 0) == 1);
		/* Nobody is there any more. */
		assert(recv(ends[1], &byte, 1, 0) == 0);
		_exit(0);
	}
	close(ends[1]);
	if (!both)
		assert(write(ends[0], &byte, 1) == 1);
	assert(read(ends[0], &byte, 1) == 1 && byte == 'a');
	close(ends[0]);
	wait(NULL);
}

/* Lines; with `two`, of two processes, and the order is taken for granted. */
static void stream(int two)
{
	int ends[2];
	assert(pipe(ends) == 0);
	for (int i = 0; i < 1 + two; i++)
		if (fork() == 0) {
			FILE *out = fdopen(ends[1], "w");
			fprintf(out, "line %d\n", i);
			exit(0);
		}
	close(ends[1]);
	FILE *in = fdopen(ends[0], "r");
	char line[64];
	assert(fileno(in) == ends[0]);
	assert(fgets(line, sizeof line, in) && !strcmp(line, "line 0\n"));
	if (two)
		assert(fgets(line, sizeof line, in) && !strcmp(line, "line 1\n"));
	assert(!fgets(line, sizeof line, in));
	fclose(in);
	while (wait(NULL) > 0)
		;
}

/* The streams that every program has. */
static void redirected(void)
{
	int ends[2];
	assert(pipe(ends) == 0);
	if (fork() == 0) {
		printf("before, ");
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		printf("after");
		exit(0);
	}
	dup2(ends[0], 0);
	close(ends[0]);
	close(ends[1]);
	char line[64] = "";
	assert(fgets(line, sizeof line, stdin) && !strcmp(line, "before, after"));
	assert(getchar() == EOF);
	wait(NULL);
}

static void shell(void)
{
	FILE *in = popen("echo hello | cat", "r");
	char line[64] = "";
	assert(in && fgets(line, sizeof line, in) && !strcmp(line, "hello\n"));
	assert(pclose(in) == 0);
	assert(WEXITSTATUS(system("exit 3")) == 3);
}

static void program(void)
{
	int ends[2];
	assert(pipe(ends) == 0);
	if (fork() == 0) {
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		execlp("echo", "echo", "hello", (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	char text[16] = "";
	assert(read(ends[0], text, sizeof text - 1) == 6 && !strcmp(text, "hello\n"));
	assert(read(ends[0], text, 1) == 0);
	int status;
	assert(wait(&status) > 0 && status == 0);
}

static void spawned(void)
{
	pid_t child;
	int status;
	char *arguments[] = { "sh", "-c", "exit 4", NULL };
	assert(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) == 0);
	assert(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);
}

/* A pipeline: what the first program writes, the second counts. With `lost`, the second has the writing end, too, and waits for itself. */
static void pipeline(int lost)
{
	int ends[2], status;
	pid_t children[2];
	posix_spawn_file_actions_t first, second;
	assert(pipe(ends) == 0);
	posix_spawn_file_actions_init(&first);
	posix_spawn_file_actions_adddup2(&first, ends[1], 1);
	posix_spawn_file_actions_addclose(&first, ends[0]);
	posix_spawn_file_actions_addclose(&first, ends[1]);
	posix_spawn_file_actions_init(&second);
	posix_spawn_file_actions_adddup2(&second, ends[0], 0);
	posix_spawn_file_actions_addopen(&second, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addclose(&second, ends[0]);
	if (!lost)
		posix_spawn_file_actions_addclose(&second, ends[1]);
	char *echo[] = { "echo", "hello", NULL }, *cat[] = { "cat", NULL };
	assert(posix_spawnp(&children[0], "echo", &first, NULL, echo, environ) == 0);
	assert(posix_spawnp(&children[1], "cat", &second, NULL, cat, environ) == 0);
	posix_spawn_file_actions_destroy(&first);
	posix_spawn_file_actions_destroy(&second);
	close(ends[0]);
	close(ends[1]);
	for (int i = 0; i < 2; i++)
		assert(waitpid(children[i], &status, 0) == children[i] && status == 0);
	assert(posix_spawn(&children[0], "/not/there", NULL, NULL, cat, environ) != 0);
}

/* What is refused. */
static void refused(const char *what)
{
	int ends[2];
	assert(pipe(ends) == 0);
	if (!strcmp(what, "leader")) {
		posix_spawnattr_t how;
		char *arguments[] = { "true", NULL };
		posix_spawnattr_init(&how);
		posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
		posix_spawnp(NULL, "true", NULL, &how, arguments, environ);
	}
	if (!strcmp(what, "clock"))
		alarm(1);
	if (!strcmp(what, "behind"))
		assert(syscall(SYS_write, ends[1], "x", 1) == 1);
	if (!strcmp(what, "event"))
		eventfd(0, 0);
	if (!strcmp(what, "queue"))
		mq_open("/stubborn-test", O_CREAT | O_RDWR, 0600, NULL);
	if (!strcmp(what, "listen"))
		listen(socket(AF_UNIX, SOCK_STREAM, 0), 1);
	if (!strcmp(what, "robust")) {
		pthread_mutexattr_t attributes;
		pthread_mutex_t mutex;
		pthread_mutexattr_init(&attributes);
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
		pthread_mutex_init(&mutex, &attributes);
		pthread_mutex_lock(&mutex);
	}
	if (!strcmp(what, "value")) {
		sem_t semaphore;
		int value;
		sem_init(&semaphore, 0, 1);
		sem_getvalue(&semaphore, &value);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int more = argc > 2;
	if (!strcmp(what, "sockets"))
		sockets(more);
	else if (!strcmp(what, "stream"))
		stream(more);
	else if (!strcmp(what, "redirected"))
		redirected();
	else if (!strcmp(what, "shell"))
		shell();
	else if (!strcmp(what, "program"))
		program();
	else if (!strcmp(what, "spawn"))
		spawned();
	else if (!strcmp(what, "pipeline"))
		pipeline(more);
	else
		refused(what);
	return 0;
}
