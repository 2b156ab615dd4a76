/* The beginning: the program waits before `main` for orders, and every run is a process that is forked off there.
 *
 * Part of preload.c.
 */

static void catch_crashes(void)
{
	static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	static char stack[1 << 14];
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof stack };
	sigaltstack(&alternative, NULL);
	struct sigaction action = { .sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_RESETHAND };
	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
		real_sigaction(signals[i], &action, NULL);
}

/* Who forks, told before every fork: its child is to end with it. */
static pid_t parent;

/* A process that is still on its way to this line when its parent is killed is told of nothing: it looks itself. */
static void end_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (parent && (pid_t)syscall(SYS_getppid) != parent)
		syscall(SYS_exit_group, 1);
}

static void begin_process(struct slot *slot)
{
	me = slot;
	slot->os_tid = (int32_t)syscall(SYS_getpid);
	slot->os_pid = slot->os_tid;
	end_with_parent();
	pthread_setspecific(exit_key, (void *)1);
}

/* Where the program could run; in truth it runs where the controller does, so that nobody has to wake another processor. */
static cpu_set_t processors;

static void stay_with_controller(void)
{
	syscall(SYS_sched_getaffinity, 0, sizeof processors, &processors);
	if (!sh->processor || sh->processor > CPU_SETSIZE)
		return;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sh->processor - 1, &one);
	syscall(SYS_sched_setaffinity, 0, sizeof one, &one);
}

/* Waits for orders; returns in a process that is to run the program once. */
static void serve(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	stay_with_controller();
	parent = (pid_t)syscall(SYS_getpid);
	atomic_store(&sh->is_ready, 1);
	atomic_fetch_add(&sh->event, 1);
	futex_wake(&sh->event);
	for (uint32_t run = 0;;) {
		while (atomic_load(&sh->wanted) == run)
			futex_wait(&sh->wanted, run);
		run = atomic_load(&sh->wanted);
		pid_t main_process = real_fork();
		if (main_process == 0) {
			setpgid(0, 0);
			begin_process(&sh->slots[0]);
			catch_crashes();
			return;
		}
		sh->main_pid = main_process;
		int status;
		pid_t ended;
		while ((ended = real_waitpid(-1, &status, 0)) > 0 || errno == EINTR)
			if (ended == main_process)
				sh->main_status = status;
		atomic_store(&sh->cleared, run);
		atomic_fetch_add(&sh->event, 1);
		futex_wake(&sh->event);
	}
}

static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1;
}

/* Shells have functions of this kind of their own, which are not ready yet. */
static const char *from_environment(const char *name)
{
	size_t length = strlen(name);
	for (char **one = environ; one && *one; one++)
		if (!strncmp(*one, name, length) && (*one)[length] == '=')
			return *one + length + 1;
	return NULL;
}

static void keep_environment(void)
{
	static const char *const names[] = { "LD_PRELOAD", "STUBBORN_FD", "STUBBORN_PADDING" };
	for (int i = 0; i < 3; i++)
		if (asprintf(&own_environment[i], "%s=%s", names[i], from_environment(names[i])) < 0)
			own_environment[i] = NULL;
	own_environment[3] = "STUBBORN_RUNS=1";
}

static void before_fork(void);
static void after_fork(void);

/* Others may be called before this library has its turn. */
__attribute__((constructor(101))) static void find_functions(void)
{
	real_create = dlsym(RTLD_NEXT, "pthread_create");
	real_join = dlsym(RTLD_NEXT, "pthread_join");
	real_fork = dlsym(RTLD_NEXT, "fork");
	real_waitpid = dlsym(RTLD_NEXT, "waitpid");
	real__exit = dlsym(RTLD_NEXT, "_exit");
	real_fdopen = dlsym(RTLD_NEXT, "fdopen");
	real_fileno = dlsym(RTLD_NEXT, "fileno");
	real_sigaction = dlsym(RTLD_NEXT, "sigaction");
}

__attribute__((constructor)) static void init(void)
{
	if (!real_fork)
		find_functions();
	const char *fd = from_environment("STUBBORN_FD");
	if (!fd)
		return;
	void *memory = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
	if (memory == MAP_FAILED || ((struct shared *)memory)->magic != STUBBORN_MAGIC)
		return;
	pthread_key_create(&exit_key, end_of_thread);
	pthread_atfork(before_fork, NULL, after_fork);
	sh = memory;
	keep_environment();
	if (from_environment("STUBBORN_RUNS")) {
		/* Another program took the place of one that is controlled. */
		int32_t pid = (int32_t)syscall(SYS_getpid);
		for (uint32_t i = 0; i < atomic_load(&sh->n_slots); i++)
			if (sh->slots[i].os_pid == pid && !sh->slots[i].is_thread)
				me = &sh->slots[i];
		catch_crashes();
		const char *ends = from_environment("STUBBORN_ENDS");
		if (me && ends) {
			begin_process(me);
			take_ends(ends);
		}
		return;
	}
	dl_iterate_phdr(first_object, &sh->base);
	serve();
}
