/* Locks: mutexes of all kinds, spin locks, and locks for readers and writers.
 *
 * Part of preload.c.
 */

static int *holding(void *lock)
{
	int *free_place = NULL;
	for (int i = 0; i < HELD; i++) {
		if (held[i].lock == lock)
			return &held[i].count;
		if (!held[i].count && !free_place) {
			held[i].lock = lock;
			free_place = &held[i].count;
		}
	}
	return free_place;
}

static int lock(pthread_mutex_t *mutex, uint32_t op, uint64_t site)
{
	if (mutex->__data.__kind & 16)
		refuse("mutexes that survive their owner (robust) are not controlled");
	int kind = mutex->__data.__kind & 3;
	int *count = kind ? holding(mutex) : NULL;
	if (count && *count) {
		if (kind == PTHREAD_MUTEX_RECURSIVE) {
			++*count;
			return 0;
		}
		return op == OP_LOCK ? EDEADLK : EBUSY;
	}
	int is_shared = mutex->__data.__kind & 128;
	if (!request_on(op, place(mutex, is_shared), 0, site) && op == OP_TRY_LOCK)
		return EBUSY;
	if (count)
		*count = 1;
	return 0;
}

static int unlock(pthread_mutex_t *mutex, uint64_t site)
{
	int kind = mutex->__data.__kind & 3;
	int *count = kind ? holding(mutex) : NULL;
	if (count && *count > 1) {
		--*count;
		return 0;
	}
	if (kind && count && !*count)
		return EPERM;
	if (count)
		*count = 0;
	request_on(OP_UNLOCK, place(mutex, mutex->__data.__kind & 128), 0, site);
	return 0;
}

static int forget(void *object, int is_shared)
{
	if (me)
		request_on(OP_FORGET, place(object, is_shared), 0, 0);
	return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) { return me ? lock(mutex, OP_LOCK, SITE) : 0; }
int pthread_mutex_trylock(pthread_mutex_t *mutex) { return me ? lock(mutex, OP_TRY_LOCK, SITE) : 0; }
int pthread_mutex_unlock(pthread_mutex_t *mutex) { return me ? unlock(mutex, SITE) : 0; }
int pthread_mutex_destroy(pthread_mutex_t *mutex) { return forget(mutex, mutex->__data.__kind & 128); }

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	(void)until;
	return me && lock(mutex, OP_TRY_LOCK, SITE) ? ETIMEDOUT : 0;
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	(void)clock;
	(void)until;
	return me && lock(mutex, OP_TRY_LOCK, SITE) ? ETIMEDOUT : 0;
}

int pthread_spin_lock(pthread_spinlock_t *spin)
{
	if (me)
		request_on(OP_LOCK, place(spin, 0), 0, SITE);
	return 0;
}

int pthread_spin_trylock(pthread_spinlock_t *spin)
{
	return me && !request_on(OP_TRY_LOCK, place(spin, 0), 0, SITE) ? EBUSY : 0;
}

int pthread_spin_unlock(pthread_spinlock_t *spin)
{
	if (me)
		request_on(OP_UNLOCK, place(spin, 0), 0, SITE);
	return 0;
}

static int read_write(pthread_rwlock_t *lock, uint32_t op, uint64_t site)
{
	if (!me)
		return 0;
	int is_try = op == OP_TRY_READ_LOCK || op == OP_TRY_WRITE_LOCK;
	if (!request_on(op, place(lock, lock->__data.__shared), 0, site) && is_try)
		return EBUSY;
	int *mode = holding(lock);
	if (mode)
		*mode = op == OP_WRITE_LOCK || op == OP_TRY_WRITE_LOCK ? 1 << 16 : *mode + 1;
	return 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) { return read_write(lock, OP_READ_LOCK, SITE); }
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) { return read_write(lock, OP_WRITE_LOCK, SITE); }
int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) { return read_write(lock, OP_TRY_READ_LOCK, SITE); }
int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) { return read_write(lock, OP_TRY_WRITE_LOCK, SITE); }
/* With a limit of time: it may be up whenever the lock is not free. */
static int read_write_or_late(pthread_rwlock_t *lock, uint32_t op, uint64_t site)
{
	return read_write(lock, op, site) ? ETIMEDOUT : 0;
}

#define UNTIL const struct timespec *until
#define LATE(op) return (void)until, read_write_or_late(lock, op, SITE)

int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock, UNTIL) { LATE(OP_TRY_READ_LOCK); }
int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock, UNTIL) { LATE(OP_TRY_WRITE_LOCK); }
int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock, UNTIL) { (void)clock; LATE(OP_TRY_READ_LOCK); }
int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock, UNTIL) { (void)clock; LATE(OP_TRY_WRITE_LOCK); }
int pthread_rwlock_destroy(pthread_rwlock_t *lock) { return forget(lock, lock->__data.__shared); }

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	if (!me)
		return 0;
	int *mode = holding(lock);
	int is_write = mode && *mode == 1 << 16;
	if (mode)
		*mode = is_write ? 0 : *mode - 1;
	request_on(is_write ? OP_WRITE_UNLOCK : OP_READ_UNLOCK, place(lock, lock->__data.__shared), 0, SITE);
	return 0;
}
