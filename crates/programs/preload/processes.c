/* Processes. The program may have asked for things to be done before a fork and after it; they are done by the parent
 * before the child is counted, and by the child when it is.
 *
 * Part of preload.c.
 */

static __thread struct slot *newborn;
static __thread uint64_t forks_at;
static void forget_undo(void);

static void before_fork(void)
{
	if (!forks_at)
		return;
	newborn = new_slot(atomic_fetch_add(&sh->n_processes, 1), 0);
	if (newborn)
		newborn->site = forks_at;
}

static void after_fork(void)
{
	if (!forks_at)
		return;
	if (!newborn)
		syscall(SYS_exit_group, 1);
	forks_at = 0;
	forget_undo();
	begin_process(newborn);
	request(OP_START, 0, 0, 0, 0);
}

pid_t fork(void)
{
	if (!me)
		return real_fork ? real_fork() : (pid_t)syscall(SYS_fork);
	if (has_others())
		request(OP_FORK, 0, 0, 0, SITE);
	/* The child has every end that its parent has. */
	for (int fd = 0; fd < FILES; fd++) {
		open_end(reads, fd, reads[fd]);
		open_end(writes, fd, writes[fd]);
	}
	forks_at = SITE;
	newborn = NULL;
	parent = (pid_t)syscall(SYS_getpid);
	pid_t child = real_fork();
	forks_at = 0;
	if (child == 0)
		return 0;
	if (!newborn) {
		refuse("the program has more than 512 threads and processes");
		return child;
	}
	if (child < 0) {
		give_back(newborn);
		return child;
	}
	newborn->os_pid = child;
	return FIRST_PID + (pid_t)newborn->process;
}

pid_t vfork(void)
{
	return fork();
}

static pid_t await_child(pid_t which, int *status, int options, uint64_t site)
{
	if (!me)
		return real_waitpid(which, status, options);
	uint64_t wanted = which >= FIRST_PID ? (uint64_t)(which - FIRST_PID) : UINT64_MAX;
	int is_interrupted = 0;
	uint64_t ended = request_until(OP_WAIT_CHILD, wanted, (options & WNOHANG) != 0, status != NULL, site, &is_interrupted);
	if (is_interrupted)
		return -1;
	if (ended == UINT64_MAX) {
		errno = ECHILD;
		return -1;
	}
	if (ended == 0)
		return 0;
	/* It is about to end, or has. */
	pid_t child = sh->slots[ended].os_pid;
	while (real_waitpid(child, status, 0) < 0 && errno == EINTR)
		;
	return FIRST_PID + (pid_t)sh->slots[ended].process;
}

pid_t waitpid(pid_t which, int *status, int options) { return await_child(which, status, options, SITE); }
pid_t wait(int *status) { return await_child(-1, status, 0, SITE); }

pid_t wait4(pid_t which, int *status, int options, struct rusage *usage)
{
	if (usage)
		memset(usage, 0, sizeof *usage);
	return await_child(which, status, options, SITE);
}

pid_t wait3(int *status, int options, struct rusage *usage) { return wait4(-1, status, options, usage); }

int waitid(idtype_t kind, id_t which, siginfo_t *about, int options)
{
	if (me)
		refuse("waitid is not controlled");
	return (int)syscall(SYS_waitid, kind, which, about, options, NULL);
}

pid_t getpid(void)
{
	return me ? FIRST_PID + (pid_t)me->process : (pid_t)syscall(SYS_getpid);
}

pid_t gettid(void)
{
	if (!me)
		return (pid_t)syscall(SYS_gettid);
	return me->is_thread ? 100 * FIRST_PID + (pid_t)(me - sh->slots) : getpid();
}

pid_t getppid(void)
{
	if (!me)
		return (pid_t)syscall(SYS_getppid);
	for (uint32_t i = 0; i < atomic_load(&sh->n_slots); i++)
		if (sh->slots[i].process == me->process && !sh->slots[i].is_thread)
			return i ? FIRST_PID + (pid_t)sh->slots[sh->slots[i].parent].process : 1;
	return 1;
}
