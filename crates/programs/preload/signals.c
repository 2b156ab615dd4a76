/* Signals. Those that a process sends to itself end it, or call its handler at once. Numbers of processes are ours, so no other is ever
 * sent one.
 *
 * Part of preload.c.
 */

int kill(pid_t which, int signal)
{
	pid_t real = (pid_t)syscall(SYS_getpid);
	if (!me)
		return (int)syscall(SYS_kill, which, signal);
	if (which != getpid() && which != real && signal != 0) {
		refuse("signals to other processes (kill) are not controlled");
		errno = EPERM;
		return -1;
	}
	return which == getpid() || which == real ? (int)syscall(SYS_tgkill, real, syscall(SYS_gettid), signal) : 0;
}

int killpg(pid_t group, int signal)
{
	if (!me)
		return (int)syscall(SYS_kill, -group, signal);
	refuse("signals to groups of processes (killpg) are not controlled");
	errno = EPERM;
	return -1;
}

int pthread_kill(pthread_t thread, int signal)
{
	if (me && !pthread_equal(thread, pthread_self())) {
		refuse("signals to other threads (pthread_kill) are not controlled");
		return EPERM;
	}
	return syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), signal) < 0 ? errno : 0;
}

int pthread_cancel(pthread_t thread)
{
	(void)thread;
	if (me)
		refuse("ending other threads (pthread_cancel) is not controlled");
	return ESRCH;
}

unsigned alarm(unsigned seconds)
{
	if (me && seconds)
		refuse("signals of clocks (alarm) are not controlled");
	return me ? 0 : (unsigned)syscall(SYS_alarm, seconds);
}

int setitimer(__itimer_which_t which, const struct itimerval *value, struct itimerval *old)
{
	if (me)
		refuse("signals of clocks (setitimer) are not controlled");
	return (int)syscall(SYS_setitimer, which, value, old);
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	(void)clock;
	(void)event;
	(void)timer;
	if (me)
		refuse("signals of clocks (timer_create) are not controlled");
	errno = ENOSYS;
	return -1;
}
