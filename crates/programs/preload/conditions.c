/* Condition variables, barriers, and what is done once.
 *
 * Part of preload.c.
 */

static struct place place_of(pthread_cond_t *cond)
{
	return place(cond, cond->__data.__wrefs & 1);
}

static int await_signal(pthread_cond_t *cond, pthread_mutex_t *mutex, uint32_t wake, uint64_t site)
{
	if (!me)
		return 0;
	struct place of_mutex = place(mutex, mutex->__data.__kind & 128);
	int *count = mutex->__data.__kind & 3 ? holding(mutex) : NULL;
	me->args[3] = of_mutex.space;
	request_on(OP_WAIT, place_of(cond), of_mutex.address, site);
	uint64_t was_woken = request_on(wake, place_of(cond), 0, site);
	request_on(OP_LOCK, of_mutex, 0, site);
	if (count)
		*count = 1;
	return was_woken ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	await_signal(cond, mutex, OP_WAKE, SITE);
	return 0;
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	(void)until;
	return await_signal(cond, mutex, OP_TIMED_WAKE, SITE);
}

int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	(void)clock;
	(void)until;
	return await_signal(cond, mutex, OP_TIMED_WAKE, SITE);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	if (me)
		request_on(OP_SIGNAL, place_of(cond), 0, SITE);
	return 0;
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	if (me)
		request_on(OP_BROADCAST, place_of(cond), 0, SITE);
	return 0;
}

int pthread_cond_destroy(pthread_cond_t *cond) { return forget(cond, cond->__data.__wrefs & 1); }

/* Barriers and what is done once. */

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr, unsigned count)
{
	(void)attr;
	if (!count)
		return EINVAL;
	if (me)
		request_on(OP_BARRIER_INIT, place(barrier, 0), count, 0);
	return 0;
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	if (!me)
		return 0;
	uint64_t arrival = request_on(OP_ARRIVE, place(barrier, 0), 0, SITE);
	request_on(OP_LEAVE, place(barrier, 0), arrival >> 1, SITE);
	return arrival & 1 ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int pthread_barrier_destroy(pthread_barrier_t *barrier) { return forget(barrier, 0); }

int pthread_once(pthread_once_t *once, void (*function)(void))
{
	if (!me) {
		if (!*once) {
			*once = 2;
			function();
		}
		return 0;
	}
	if (request_on(OP_BEGIN, place(once, 0), *once == 2, SITE)) {
		function();
		request_on(OP_COMPLETE, place(once, 0), 0, SITE);
	}
	return 0;
}
