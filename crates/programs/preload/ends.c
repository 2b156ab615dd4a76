/* Ends of threads and processes, by themselves and by signals. The last thread ends its process; a process that ends takes its threads along.
 *
 * Part of preload.c.
 */

static void close_ends(void);
static void undo(void);
static void open_end(uint32_t *ends, int fd, uint32_t number);
static void use_streams(int fd);
static void take_ends(const char *text);
static void close_end(int fd, uint64_t site);

/* Other threads of this process that have not ended. */
static int has_others(void)
{
	uint32_t n = atomic_load(&sh->n_slots);
	for (uint32_t i = 0; i < n; i++) {
		struct slot *slot = &sh->slots[i];
		if (slot != me && slot->process == me->process && atomic_load(&slot->state) != ENDED)
			return 1;
	}
	return 0;
}

static void end_of_thread(void *round)
{
	/* Other keys' destructors may still do something. */
	if ((intptr_t)round < 3) {
		pthread_setspecific(exit_key, (void *)((intptr_t)round + 1));
		return;
	}
	if (!me || atomic_load(&me->state) != MOVING)
		return;
	request(OP_EXIT, 0, 0, 0, 0);
	has_exited = 1;
	/* The last thread ends its process. */
	if (!has_others())
		exit(0);
	atomic_store(&me->state, ENDED);
	stop_moving();
}

static void end_of_process(int status)
{
	if (!sh || !me || atomic_load(&me->state) != MOVING)
		return;
	if (has_others()) {
		request(OP_DIE, 0, 0, 0, 0);
		uint32_t n = atomic_load(&sh->n_slots);
		for (uint32_t i = 0; i < n; i++)
			if (sh->slots[i].process == me->process && &sh->slots[i] != me)
				atomic_store(&sh->slots[i].state, ENDED);
	}
	undo();
	close_ends();
	request(OP_PROCESS_EXIT, (uint64_t)status, (uint64_t)has_exited, 0, 0);
	atomic_store(&me->state, ENDED);
	stop_moving();
}

__attribute__((destructor)) static void fini(void)
{
	/* Streams on pipes are written to now; later would be too late. */
	if (me && atomic_load(&me->state) == MOVING)
		fflush(NULL);
	end_of_process(0);
}

void _exit(int status)
{
	end_of_process(status);
	if (real__exit)
		real__exit(status);
	syscall(SYS_exit_group, status);
	__builtin_unreachable();
}

void _Exit(int status)
{
	_exit(status);
}

static void crashed(int signal)
{
	if (sh && me) {
		me->op = (uint32_t)signal;
		atomic_store(&me->state, CRASHED);
		atomic_fetch_add(&sh->event, 1);
		stop_moving();
		futex_wake(&sh->event);
	}
	for (;;)
		syscall(SYS_exit_group, 128 + signal);
}
