/* Ways to communicate that are not modelled. Whoever uses them is told, because what would be explored without them would not be all.
 *
 * Part of preload.c.
 */

int eventfd(unsigned value, int flags)
{
	return me ? (int)refused("eventfd is not controlled") : (int)syscall(SYS_eventfd2, value, flags);
}

int timerfd_create(clockid_t clock, int flags)
{
	return me ? (int)refused("timerfd_create is not controlled") : (int)syscall(SYS_timerfd_create, clock, flags);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
	return me ? (int)refused("signalfd is not controlled") : (int)syscall(SYS_signalfd4, fd, mask, _NSIG / 8, flags);
}

mqd_t mq_open(const char *name, int flags, ...)
{
	(void)name;
	(void)flags;
	return (mqd_t)refused("message queues of POSIX (mq_open) are not controlled");
}

int listen(int fd, int n)
{
	return me ? (int)refused("sockets other than pairs (listen) are not controlled") : (int)syscall(SYS_listen, fd, n);
}

int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	return me ? (int)refused("sockets other than pairs (connect) are not controlled") : (int)syscall(SYS_connect, fd, to, size);
}

int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	(void)function;
	(void)stack;
	(void)flags;
	(void)argument;
	return (int)refused("clone is not controlled");
}
