/* Two children send their numbers through a message queue; the parent trusts that the first one comes first. With
 * `types`, it asks for the messages by their types. */
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/wait.h>
#include <unistd.h>

struct letter {
	long type;
	int number;
};

int main(int argc, char **argv)
{
	(void)argv;
	int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	for (int i = 1; i <= 2; i++) {
		if (fork() == 0) {
			struct letter letter = { i, 10 * i };
			msgsnd(queue, &letter, sizeof letter.number, 0);
			_exit(0);
		}
	}
	int sum = 0;
	for (int i = 1; i <= 2; i++) {
		struct letter letter;
		if (msgrcv(queue, &letter, sizeof letter.number, argc > 1 ? i : 0, 0) != sizeof letter.number)
			return 2;
		sum = 100 * sum + letter.number;
	}
	wait(NULL);
	wait(NULL);
	msgctl(queue, IPC_RMID, NULL);
	if (sum != 1020)
		abort();
	return 0;
}
