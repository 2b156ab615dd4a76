/* Semaphores of POSIX.
 *
 * Part of preload.c.
 */

/* Named ones are known by a number, whoever has opened them. */
static struct place place_of_sem(sem_t *sem)
{
	int *words = (int *)sem;
	if (words[1] == NAMED)
		return (struct place){ (uint64_t)words[2], SHARED_SPACE - 1 };
	return place(sem, words[1]);
}

int sem_init(sem_t *sem, int is_shared, unsigned value)
{
	((int *)sem)[1] = is_shared != 0;
	if (me)
		request_on(OP_SEM_INIT, place_of_sem(sem), value, 0);
	return 0;
}

static int take(sem_t *sem, uint32_t op, int error, uint64_t site)
{
	if (!me)
		return 0;
	struct place at = place_of_sem(sem);
	int is_interrupted = 0;
	uint64_t got = request_until(op, at.address, at.space, 0, site, &is_interrupted);
	if (is_interrupted)
		return -1;
	if (got || op == OP_ACQUIRE)
		return 0;
	errno = error;
	return -1;
}

int sem_wait(sem_t *sem) { return take(sem, OP_ACQUIRE, 0, SITE); }
int sem_trywait(sem_t *sem) { return take(sem, OP_TRY_ACQUIRE, EAGAIN, SITE); }
int sem_destroy(sem_t *sem) { return ((int *)sem)[1] == NAMED ? 0 : forget(sem, ((int *)sem)[1]); }

int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	(void)until;
	return take(sem, OP_TRY_ACQUIRE, ETIMEDOUT, SITE);
}

int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
	(void)clock;
	(void)until;
	return take(sem, OP_TRY_ACQUIRE, ETIMEDOUT, SITE);
}

int sem_post(sem_t *sem)
{
	if (me)
		request_on(OP_RELEASE, place_of_sem(sem), 0, SITE);
	return 0;
}

int sem_getvalue(sem_t *sem, int *value)
{
	(void)sem;
	*value = 0;
	if (me)
		refuse("looking at the value of a semaphore (sem_getvalue) is not controlled");
	return 0;
}
