/* Dining philosophers: processes that take two System V semaphores, the left one first. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static int forks;

static void change(int number, int by)
{
	struct sembuf operation = { number, by, 0 };
	if (semop(forks, &operation, 1) < 0)
		exit(3);
}

static void philosopher(int i, int n)
{
	int left = i, right = (i + 1) % n;
	change(left, -1);
	change(right, -1);
	change(left, 1);
	change(right, 1);
	exit(0);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	forks = semget(IPC_PRIVATE, n, 0600);
	for (int i = 0; i < n; i++)
		semctl(forks, i, SETVAL, 1);
	for (int i = 0; i < n; i++)
		if (fork() == 0)
			philosopher(i, n);
	for (int i = 0; i < n; i++)
		wait(NULL);
	semctl(forks, 0, IPC_RMID);
	return 0;
}
