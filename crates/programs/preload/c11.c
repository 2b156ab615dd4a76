/* Threads as C11 has them. In glibc they are those of POSIX under other names, but call them where nobody can stand in between.
 *
 * Part of preload.c.
 */

static int as_c11(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	case ENOMEM:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	/* What it returns is a number in the lower half of a pointer. */
	return as_c11(pthread_create(thread, NULL, (void *(*)(void *))(void *)function, argument));
}

int thrd_join(thrd_t thread, int *result)
{
	void *got = NULL;
	int error = pthread_join(thread, &got);
	if (result)
		*result = (int)(intptr_t)got;
	return as_c11(error);
}

int thrd_sleep(const struct timespec *time, struct timespec *rest) { return nanosleep(time, rest); }
void thrd_yield(void) {}

int mtx_init(mtx_t *mutex, int type)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	if (type & mtx_recursive)
		pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	return as_c11(pthread_mutex_init((pthread_mutex_t *)mutex, &attributes));
}

static int c11_lock(mtx_t *mutex, uint32_t op, uint64_t site) { return me ? lock((pthread_mutex_t *)mutex, op, site) : 0; }

int mtx_lock(mtx_t *mutex) { return as_c11(c11_lock(mutex, OP_LOCK, SITE)); }
int mtx_trylock(mtx_t *mutex) { return as_c11(c11_lock(mutex, OP_TRY_LOCK, SITE)); }

int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
	(void)until;
	return c11_lock(mutex, OP_TRY_LOCK, SITE) ? thrd_timedout : thrd_success;
}

int mtx_unlock(mtx_t *mutex) { return me ? as_c11(unlock((pthread_mutex_t *)mutex, SITE)) : thrd_success; }
void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy((pthread_mutex_t *)mutex); }

int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	await_signal((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, OP_WAKE, SITE);
	return thrd_success;
}

int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until)
{
	(void)until;
	return as_c11(await_signal((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, OP_TIMED_WAKE, SITE));
}

int cnd_signal(cnd_t *cond)
{
	if (me)
		request_on(OP_SIGNAL, place_of((pthread_cond_t *)cond), 0, SITE);
	return thrd_success;
}

int cnd_broadcast(cnd_t *cond)
{
	if (me)
		request_on(OP_BROADCAST, place_of((pthread_cond_t *)cond), 0, SITE);
	return thrd_success;
}

void cnd_destroy(cnd_t *cond) { pthread_cond_destroy((pthread_cond_t *)cond); }
void call_once(once_flag *flag, void (*function)(void)) { pthread_once((pthread_once_t *)flag, function); }
