/* Signals. What processes send to each other, and what a process is sent when a child of it ends, goes by the controller: it comes between two operations
 * of the first thread, or while one waits. The system knows of handlers, too, but for that of SIGCHLD; what a process sends to itself comes
 * from there.
 *
 * Part of preload.c.
 */

#define SIGNALS 65
#define BIT(signal) (1ull << ((signal) - 1))

static struct sigaction handlers[SIGNALS];
/* Those that wait, of this thread. */
static __thread uint64_t blocked;

static uint64_t bits_of(const sigset_t *set)
{
	uint64_t bits;
	memcpy(&bits, set, sizeof bits);
	return bits;
}

/* What happens if nobody cares: nothing. */
static int is_harmless(int signal)
{
	return signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
}

static void describe_signals(void)
{
	me->blocked = blocked;
	me->ignored = me->restarts = 0;
	for (int signal = 1; signal < SIGNALS; signal++) {
		if (handlers[signal].sa_handler == SIG_IGN || (handlers[signal].sa_handler == SIG_DFL && is_harmless(signal)))
			me->ignored |= BIT(signal);
		if (handlers[signal].sa_flags & SA_RESTART)
			me->restarts |= BIT(signal);
	}
}

/* Ends this process by a signal. */
static void end_by(int signal)
{
	end_of_process(128 + signal);
	struct sigaction action = { .sa_handler = SIG_DFL };
	uint64_t bit = BIT(signal);
	if (signal != SIGKILL)
		real_sigaction(signal, &action, NULL);
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, NULL, sizeof bit);
	syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), signal);
	syscall(SYS_exit_group, 128 + signal);
}

static void call_handler(int signal)
{
	struct sigaction action = handlers[signal];
	if (action.sa_flags & SA_RESETHAND)
		handlers[signal].sa_handler = SIG_DFL;
	uint64_t before = blocked;
	blocked |= bits_of(&action.sa_mask) | (action.sa_flags & SA_NODEFER ? 0 : BIT(signal));
	siginfo_t about = { .si_signo = signal };
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(signal, &about, NULL);
	else
		action.sa_handler(signal);
	blocked = before;
}

/* Takes a signal that comes before an operation. Whether the operation is given up. */
static int take_signal(uint32_t how, uint32_t op)
{
	int signal = (int)(how % STUBBORN_WAITED) % SIGNALS;
	if (!signal || handlers[signal].sa_handler == SIG_IGN)
		return 0;
	if (handlers[signal].sa_handler == SIG_DFL && is_harmless(signal))
		return 0;
	if (handlers[signal].sa_handler == SIG_DFL || signal == SIGKILL)
		end_by(signal);
	int restarts = handlers[signal].sa_flags & SA_RESTART;
	call_handler(signal);
	/* Some calls are never made again. */
	if (op == OP_PAUSE || op == OP_SEMOP || op == OP_SEND || op == OP_RECEIVE || op == OP_LISTEN)
		restarts = 0;
	return (how & STUBBORN_WAITED) && !restarts;
}

/* Something about signals has changed; what has come before comes first. */
static void tell_signals(uint64_t site)
{
	if (sh->has_signals)
		request(OP_HANDLE, 0, 0, 0, site);
}

int sigaction(int signal, const struct sigaction *new, struct sigaction *old)
{
	if (!real_sigaction)
		find_functions();
	if (!me || signal < 1 || signal >= SIGNALS)
		return real_sigaction(signal, new, old);
	struct sigaction before = handlers[signal];
	if (new) {
		int is_own = new->sa_handler != SIG_DFL && new->sa_handler != SIG_IGN;
		if (signal == SIGCHLD && new->sa_handler == SIG_IGN)
			refuse("children that need not be waited for (SIGCHLD ignored) are not controlled");
		if (is_own && me->is_thread)
			refuse("handlers of signals that are set by another thread than the first are not controlled");
		if (signal == SIGCHLD && (new->sa_flags & SA_NOCLDWAIT))
			refuse("children that need not be waited for (SA_NOCLDWAIT) are not controlled");
		if (signal != SIGCHLD && real_sigaction(signal, new, NULL) < 0)
			return -1;
		if (signal == SIGCHLD && is_own && !sh->has_signals)
			request(OP_HANDLE, 1, 0, 0, SITE);
		tell_signals(SITE);
		handlers[signal] = *new;
	}
	if (old)
		*old = before;
	return 0;
}

void (*signal(int signal, void (*handler)(int)))(int)
{
	struct sigaction new = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;
	return sigaction(signal, &new, &old) < 0 ? SIG_ERR : old.sa_handler;
}

int pthread_sigmask(int how, const sigset_t *new, sigset_t *old)
{
	/* A signal may come before. */
	if (me && new)
		tell_signals(SITE);
	if (syscall(SYS_rt_sigprocmask, how, new, old, sizeof blocked) < 0)
		return errno;
	if (!me || !new)
		return 0;
	uint64_t bits = bits_of(new) & ~(BIT(SIGKILL) | BIT(SIGSTOP)), before = blocked;
	blocked = how == SIG_BLOCK ? blocked | bits : how == SIG_UNBLOCK ? blocked & ~bits : bits;
	/* What is let through now comes before the call returns. */
	if (before & ~blocked)
		tell_signals(SITE);
	return 0;
}

int sigprocmask(int how, const sigset_t *new, sigset_t *old)
{
	int error = pthread_sigmask(how, new, old);
	if (error)
		errno = error;
	return error ? -1 : 0;
}

int pause(void)
{
	int is_interrupted = 0;
	if (!me)
		return (int)syscall(SYS_ppoll, NULL, 0, NULL, NULL, sizeof blocked);
	while (!is_interrupted)
		request_until(OP_PAUSE, 0, 0, 0, SITE, &is_interrupted);
	return -1;
}

int sigsuspend(const sigset_t *mask)
{
	int is_interrupted = 0;
	if (!me)
		return (int)syscall(SYS_rt_sigsuspend, mask, sizeof blocked);
	uint64_t before = blocked;
	blocked = bits_of(mask) & ~(BIT(SIGKILL) | BIT(SIGSTOP));
	while (!is_interrupted)
		request_until(OP_PAUSE, 1, 0, 0, SITE, &is_interrupted);
	blocked = before;
	return -1;
}

static int refuse_wait(const char *what)
{
	if (me)
		refuse(what);
	errno = ENOSYS;
	return -1;
}

int sigwait(const sigset_t *set, int *signal)
{
	(void)set;
	(void)signal;
	return refuse_wait("taking signals without a handler (sigwait) is not controlled") < 0 ? ENOSYS : 0;
}

int sigwaitinfo(const sigset_t *set, siginfo_t *about)
{
	(void)set;
	(void)about;
	return refuse_wait("taking signals without a handler (sigwaitinfo) is not controlled");
}

int sigtimedwait(const sigset_t *set, siginfo_t *about, const struct timespec *time)
{
	(void)set;
	(void)about;
	(void)time;
	return refuse_wait("taking signals without a handler (sigtimedwait) is not controlled");
}

static int kill_oneself(int signal)
{
	/* The system does not know of this handler. */
	if (signal == SIGCHLD && handlers[signal].sa_handler != SIG_DFL && !(blocked & BIT(signal))) {
		call_handler(signal);
		return 0;
	}
	return (int)syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), signal);
}

int kill(pid_t which, int signal)
{
	if (!me)
		return (int)syscall(SYS_kill, which, signal);
	if (which == getpid() || which == (pid_t)syscall(SYS_getpid))
		return kill_oneself(signal);
	if (which <= 0)
		refuse("signals to groups of processes (kill) are not controlled");
	if (signal < 0 || signal >= SIGNALS) {
		errno = EINVAL;
		return -1;
	}
	if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGCONT || signal == SIGTTIN || signal == SIGTTOU)
		refuse("stopping and continuing other processes (SIGSTOP, SIGCONT) is not controlled");
	if (which < FIRST_PID || request(OP_KILL, (uint64_t)(which - FIRST_PID), (uint64_t)signal, 0, SITE)) {
		errno = ESRCH;
		return -1;
	}
	return 0;
}

int raise(int signal) { return me ? kill_oneself(signal) : kill((pid_t)syscall(SYS_getpid), signal); }

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
