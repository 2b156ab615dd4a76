/* Threads: begun by the system, counted here, and joined when the controller says so.
 *
 * Part of preload.c.
 */

struct beginning {
	void *(*function)(void *);
	void *argument;
	struct slot *slot;
};

static void *begin_thread(void *argument)
{
	struct beginning beginning = *(struct beginning *)argument;
	free(argument);
	me = beginning.slot;
	me->os_tid = (int32_t)syscall(SYS_gettid);
	me->os_pid = (int32_t)syscall(SYS_getpid);
	pthread_setspecific(exit_key, (void *)1);
	request(OP_START, 0, 0, 0, 0);
	return beginning.function(beginning.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *), void *argument)
{
	if (!me)
		return real_create ? real_create(thread, attr, function, argument) : EAGAIN;
	struct slot *slot = new_slot(me->process, 1);
	if (!slot) {
		refuse("the program has more than 512 threads and processes");
		return EAGAIN;
	}
	struct beginning *beginning = malloc(sizeof *beginning);
	if (!beginning) {
		give_back(slot);
		return EAGAIN;
	}
	*beginning = (struct beginning){ function, argument, slot };
	slot->site = SITE;
	int failed = real_create(thread, attr, begin_thread, beginning);
	if (failed) {
		give_back(slot);
		free(beginning);
	} else {
		threads[slot - sh->slots] = *thread;
	}
	return failed;
}

int pthread_join(pthread_t thread, void **result)
{
	if (!me)
		return real_join(thread, result);
	uint32_t n = atomic_load(&sh->n_slots);
	for (uint32_t i = n; i-- > 0;) {
		struct slot *slot = &sh->slots[i];
		if (slot->process == me->process && slot->is_thread && pthread_equal(threads[i], thread)) {
			request(OP_JOIN, i, 0, 0, SITE);
			break;
		}
	}
	return real_join(thread, result);
}

static int refuse_join(const char *what)
{
	refuse(what);
	return EBUSY;
}

int pthread_tryjoin_np(pthread_t thread, void **result)
{
	return me ? refuse_join("pthread_tryjoin_np is not controlled") : real_join(thread, result);
}

int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
	(void)until;
	return me ? refuse_join("pthread_timedjoin_np is not controlled") : real_join(thread, result);
}

int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
{
	(void)clock;
	(void)until;
	return me ? refuse_join("pthread_clockjoin_np is not controlled") : real_join(thread, result);
}
