/* A child reads numbers from a pipe until its end. With `both`, two children write and their order is trusted; with
 * `open`, the parent forgets to close its writing end, so that the end never comes. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int ends[2];
	unsigned char numbers[4], byte;
	int n = 0;
	if (pipe(ends) != 0)
		return 2;
	for (int i = 0; i < (strcmp(how, "both") ? 1 : 2); i++) {
		if (fork() == 0) {
			unsigned char own = (unsigned char)(i + 1);
			close(ends[0]);
			if (write(ends[1], &own, 1) != 1)
				_exit(2);
			_exit(0);
		}
	}
	if (strcmp(how, "open"))
		close(ends[1]);
	while (n < 4 && read(ends[0], &byte, 1) == 1)
		numbers[n++] = byte;
	if (n > 1 && numbers[0] > numbers[1])
		abort();
	while (wait(NULL) > 0)
		;
	return n == 0;
}
