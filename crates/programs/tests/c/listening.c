/* Listening to several pipes at once. */
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2][2];

/* Two processes with a byte each. */
static void begin(void)
{
	for (int i = 0; i < 2; i++) {
		assert(pipe(ends[i]) == 0);
		if (fork() == 0) {
			assert(write(ends[i][1], "ab" + i, 1) == 1);
			_exit(0);
		}
		close(ends[i][1]);
	}
}

/* Takes what comes until nothing can come any more. With `ordered`, the first is taken to be the first. */
static void by_poll(int ordered)
{
	struct pollfd all[2] = { { .fd = ends[0][0], .events = POLLIN }, { .fd = ends[1][0], .events = POLLIN } };
	int n_open = 2, n_bytes = 0;
	while (n_open) {
		int n = poll(all, 2, -1);
		assert(n > 0);
		for (int i = 0; i < 2; i++) {
			char byte;
			if (!all[i].revents)
				continue;
			ssize_t got = read(all[i].fd, &byte, 1);
			if (got == 0) {
				all[i].fd = -1;
				n_open--;
				continue;
			}
			assert(got == 1 && byte == "ab"[i]);
			if (ordered)
				assert(n_bytes > 0 || i == 0);
			n_bytes++;
		}
	}
	assert(n_bytes == 2);
}

static void by_select(void)
{
	int n_bytes = 0, is_open[2] = { 1, 1 };
	while (is_open[0] || is_open[1]) {
		fd_set in;
		FD_ZERO(&in);
		for (int i = 0; i < 2; i++)
			if (is_open[i])
				FD_SET(ends[i][0], &in);
		assert(select(ends[1][0] + 1, &in, NULL, NULL, NULL) > 0);
		for (int i = 0; i < 2; i++) {
			char byte;
			if (is_open[i] && FD_ISSET(ends[i][0], &in)) {
				is_open[i] = read(ends[i][0], &byte, 1) == 1;
				n_bytes += is_open[i];
			}
		}
	}
	assert(n_bytes == 2);
}

/* Looks now and then. */
static void now_and_then(void)
{
	struct pollfd one = { .fd = ends[0][0], .events = POLLIN };
	char byte;
	while (poll(&one, 1, 10) == 0)
		;
	assert(read(one.fd, &byte, 1) == 1 && byte == 'a');
}

/* A handler that writes to a pipe, so that its signal is listened to. With `deaf`, it forgets to, and the signal may come before. */
static int own[2], is_deaf;

static void on_end(int signal)
{
	(void)signal;
	if (!is_deaf)
		assert(write(own[1], "x", 1) == 1);
}

static void by_signal(void)
{
	struct pollfd one = { .events = POLLIN };
	assert(pipe(own) == 0);
	one.fd = own[0];
	signal(SIGCHLD, on_end);
	if (fork() == 0)
		_exit(0);
	while (poll(&one, 1, -1) < 0)
		if (is_deaf)
			break;
	wait(NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "signal")) {
		is_deaf = argc > 2;
		by_signal();
		return 0;
	}
	if (!strcmp(what, "never") || !strcmp(what, "late") || !strcmp(what, "room")) {
		assert(pipe(ends[0]) == 0);
		struct pollfd one = { .fd = ends[0][0], .events = POLLIN };
		if (!strcmp(what, "room")) {
			one = (struct pollfd){ .fd = ends[0][1], .events = POLLOUT };
			assert(poll(&one, 1, -1) == 1 && one.revents == POLLOUT);
			close(ends[0][0]);
			assert(poll(&one, 1, -1) == 1 && (one.revents & POLLERR));
		} else if (!strcmp(what, "late"))
			for (int i = 0; i < 5; i++)
				assert(poll(&one, 1, 10) == 0);
		else
			poll(&one, 1, -1);
		return 0;
	}
	begin();
	if (!strcmp(what, "poll"))
		by_poll(argc > 2);
	else if (!strcmp(what, "select"))
		by_select();
	else if (!strcmp(what, "timed"))
		now_and_then();
	else if (!strcmp(what, "epoll")) {
		struct epoll_event event = { .events = EPOLLIN };
		epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, ends[0][0], &event);
	} else if (!strcmp(what, "mask")) {
		struct pollfd one = { .fd = ends[0][0], .events = POLLIN };
		sigset_t none;
		sigemptyset(&none);
		ppoll(&one, 1, NULL, &none);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
