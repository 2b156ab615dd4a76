/* What would be another in every run: time, processors, random numbers. Time goes on by itself, a little with each look, and nobody sleeps.
 *
 * Part of preload.c.
 */

static struct timespec now(void)
{
	uint64_t nanoseconds = ++ticks * 1000;
	return (struct timespec){ 1000000000 + (time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000) };
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	if (!me)
		return (int)syscall(SYS_clock_gettime, clock, time);
	*time = now();
	return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	(void)zone;
	struct timespec moment = { 0, 0 };
	clock_gettime(CLOCK_REALTIME, &moment);
	*time = (struct timeval){ moment.tv_sec, moment.tv_nsec / 1000 };
	return 0;
}

time_t time(time_t *where)
{
	struct timespec moment = { 0, 0 };
	clock_gettime(CLOCK_REALTIME, &moment);
	if (where)
		*where = moment.tv_sec;
	return moment.tv_sec;
}

clock_t clock(void) { return (clock_t)(now().tv_nsec / 1000); }

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	if (!me)
		return (int)syscall(SYS_nanosleep, time, rest);
	ticks += (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_nsec / 1000;
	if (sh->has_signals)
		request(OP_SLEEP, 0, 0, 0, SITE);
	return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	(void)clock;
	(void)flags;
	return nanosleep(time, rest);
}

int usleep(useconds_t time)
{
	struct timespec wanted = { time / 1000000, (long)(time % 1000000) * 1000 };
	return nanosleep(&wanted, NULL);
}

unsigned sleep(unsigned time)
{
	struct timespec wanted = { time, 0 };
	nanosleep(&wanted, NULL);
	return 0;
}

int sched_yield(void) { return 0; }

/* Processors. */

int sched_getcpu(void) { return 0; }

int sched_getaffinity(pid_t which, size_t size, cpu_set_t *set)
{
	if (!me)
		return syscall(SYS_sched_getaffinity, which, size, set) < 0 ? -1 : 0;
	memset(set, 0, size);
	memcpy(set, &processors, size < sizeof processors ? size : sizeof processors);
	return 0;
}

int sched_setaffinity(pid_t which, size_t size, const cpu_set_t *set)
{
	return me ? 0 : (int)syscall(SYS_sched_setaffinity, which, size, set);
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
	(void)thread;
	return sched_getaffinity(0, size, set) < 0 ? errno : 0;
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
	(void)thread;
	return sched_setaffinity(0, size, set) < 0 ? errno : 0;
}

/* Random numbers are the same in every run. */

ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
	if (!me)
		return syscall(SYS_getrandom, buffer, length, flags);
	for (size_t i = 0; i < length; i++)
		((unsigned char *)buffer)[i] = (unsigned char)(++ticks * 167);
	return (ssize_t)length;
}

int getentropy(void *buffer, size_t length) { return getrandom(buffer, length, 0) < 0 ? -1 : 0; }
