/* Signals between processes. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t n_ended, n_heard;

/* Waits for all that have ended; signals of several may come as one. */
static void on_end(int signal)
{
	int before = errno;
	(void)signal;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		n_ended++;
	errno = before;
}

static void on_end_of_one(int signal)
{
	(void)signal;
	if (wait(NULL) > 0)
		n_ended++;
}

static void hear(int signal)
{
	(void)signal;
	n_heard++;
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	sigemptyset(&action.sa_mask);
	assert(sigaction(signal, &action, NULL) == 0);
}

/* A parent that is told when its children end, and waits for that. With `one`, it takes one for each signal: of two that come as one, one is
 * left. With `early`, it looks and then waits: the signal may come in between. */
static void children(const char *how)
{
	sigset_t all, none;
	sigemptyset(&none);
	sigemptyset(&all);
	sigaddset(&all, SIGCHLD);
	handle(SIGCHLD, !strcmp(how, "one") ? on_end_of_one : on_end, SA_RESTART);
	if (strcmp(how, "early"))
		sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 2; i++)
		if (fork() == 0)
			_exit(0);
	while (n_ended < 2)
		if (strcmp(how, "early"))
			sigsuspend(&none);
		else
			pause();
}

/* A child that is told to end. With `handled`, it does so by itself; with `between`, the signal may come between its look and its wait; with
 * `late`, before there is a handler. */
static void told(const char *how)
{
	int ends[2], status;
	char byte;
	sigset_t told, before;
	assert(pipe(ends) == 0);
	pid_t child = fork();
	if (child == 0) {
		sigemptyset(&told);
		sigaddset(&told, SIGTERM);
		if (strcmp(how, "between"))
			sigprocmask(SIG_BLOCK, &told, &before);
		if (strcmp(how, "plain"))
			handle(SIGTERM, hear, 0);
		assert(write(ends[1], "x", 1) == 1);
		while (!n_heard)
			if (strcmp(how, "between"))
				sigsuspend(&before);
			else
				pause();
		_exit(3);
	}
	if (strcmp(how, "late"))
		assert(read(ends[0], &byte, 1) == 1);
	assert(kill(child, SIGTERM) == 0);
	assert(waitpid(child, &status, 0) == child);
	if (!strcmp(how, "plain"))
		assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	else
		assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	assert(kill(child, 0) < 0 && errno == ESRCH);
}

/* Calls that wait are given up, or made again. */
static void calls(int again)
{
	int ends[2];
	char byte = 0;
	assert(pipe(ends) == 0);
	handle(SIGUSR1, hear, again ? SA_RESTART : 0);
	pid_t parent = getpid();
	if (fork() == 0) {
		kill(parent, SIGUSR1);
		assert(write(ends[1], "y", 1) == 1);
		_exit(0);
	}
	ssize_t n = read(ends[0], &byte, 1);
	/* It may have come before. */
	assert((n == 1 && byte == 'y') || (n < 0 && errno == EINTR && !again));
	if (n < 0)
		assert(read(ends[0], &byte, 1) == 1);
	while (waitpid(-1, NULL, 0) < 0)
		assert(errno == EINTR && !again);
	assert(n_heard == 1);
}

/* Two processes in turn, by signals; the mask is changed and waited with at once. */
static void turns(void)
{
	sigset_t heard, before;
	sigemptyset(&heard);
	sigaddset(&heard, SIGUSR1);
	sigprocmask(SIG_BLOCK, &heard, &before);
	handle(SIGUSR1, hear, 0);
	pid_t parent = getpid(), child = fork();
	for (int i = 0; i < 2; i++) {
		if (child == 0 && i == 0)
			kill(parent, SIGUSR1);
		while (n_heard <= i)
			sigsuspend(&before);
		if (child || i == 0)
			kill(child ? child : parent, SIGUSR1);
	}
	if (child == 0)
		_exit(0);
	wait(NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
	if (!strcmp(what, "children"))
		children(how);
	else if (!strcmp(what, "told"))
		told(how);
	else if (!strcmp(what, "calls"))
		calls(!strcmp(how, "again"));
	else if (!strcmp(what, "turns"))
		turns();
	else if (!strcmp(what, "sleeps")) {
		handle(SIGCHLD, on_end, 0);
		if (fork() == 0)
			_exit(0);
		while (!n_ended)
			sleep(1);
	} else if (!strcmp(what, "wait")) {
		sigset_t set;
		int got;
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigwait(&set, &got);
	} else if (!strcmp(what, "stop")) {
		pid_t child = fork();
		if (child == 0)
			pause();
		kill(child, SIGSTOP);
	} else if (!strcmp(what, "ignored"))
		signal(SIGCHLD, SIG_IGN);
	else if (!strcmp(what, "group"))
		kill(0, SIGTERM);
	return 0;
}
