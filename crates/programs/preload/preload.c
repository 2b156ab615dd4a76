/* The library that is loaded into the programs that `stubborn run` explores.
 *
 * It stands in front of the C library's calls for threads, processes, locks and semaphores. None of these reaches the
 * system: the objects live in the controller, so nothing is left behind. Only one task moves at a time, so what is done
 * here between two requests needs no locks. Every run is a process that is forked off before `main`.
 */
#define _GNU_SOURCE
#include "protocol.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PID 1000
#define HELD 64
#define FILES 1024
#define MAPPINGS 64
#define SHARED_SPACE UINT32_MAX
#define NAMED 2

#ifdef __x86_64__
/* The function of this name is ours, too, for programs that wait in the kernel by themselves. */
static long raw_syscall(long number, ...)
{
	va_list rest;
	va_start(rest, number);
	long all[6];
	for (int i = 0; i < 6; i++)
		all[i] = va_arg(rest, long);
	va_end(rest);
	long result;
	register long fourth __asm__("r10") = all[3];
	register long fifth __asm__("r8") = all[4];
	register long sixth __asm__("r9") = all[5];
	__asm__ volatile("syscall" : "=a"(result)
		: "a"(number), "D"(all[0]), "S"(all[1]), "d"(all[2]), "r"(fourth), "r"(fifth), "r"(sixth)
		: "rcx", "r11", "memory");
	if ((unsigned long)result > -4096ul) {
		errno = (int)-result;
		return -1;
	}
	return result;
}
#define syscall raw_syscall
#endif

static struct shared *sh;
static __thread struct slot *me;
static __thread uint64_t ticks;
/* The thread has ended, but its process not. */
static __thread int has_exited;
static pthread_key_t exit_key;

static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_join)(pthread_t, void **);
static pid_t (*real_fork)(void);
static pid_t (*real_waitpid)(pid_t, int *, int);
static void (*real__exit)(int) __attribute__((noreturn));
static FILE *(*real_fdopen)(int, const char *);
static int (*real_fileno)(FILE *);

/* Threads of this process, by slot. */
static pthread_t threads[STUBBORN_SLOTS];
/* Pipes that this process reads from and writes to, by file descriptor; 0 for other files. */
static uint32_t reads[FILES], writes[FILES];
/* How many programs there were in this process before this one. */
static uint32_t image;
/* What this library needs in the environment. */
static char *own_environment[3];
/* Locks that this thread holds and whose kind or mode matters. */
static __thread struct { void *lock; int count; } held[HELD];

#define SITE ((uint64_t)__builtin_return_address(0))

/* Talking to the controller. */

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void stop_moving(void)
{
	if (atomic_fetch_sub(&sh->running, 1) == 1) {
		atomic_fetch_add(&sh->event, 1);
		futex_wake(&sh->event);
	}
}

/* Announces an operation, waits for its turn, and gives what came of it. */
static uint64_t request(uint32_t op, uint64_t a, uint64_t b, uint64_t c, uint64_t site)
{
	int saved = errno;
	me->op = op;
	me->args[0] = a;
	me->args[1] = b;
	me->args[2] = c;
	/* Places in another program than the first are not known. */
	me->site = image ? 0 : site;
	atomic_store(&me->state, ANNOUNCED);
	stop_moving();
	uint32_t state;
	while ((state = atomic_load(&me->state)) != MOVING)
		futex_wait(&me->state, state);
	errno = saved;
	return me->out;
}

/* Memory that this process shares with others: where it is, what it is called everywhere, and from which byte of that on. */
static struct { uintptr_t start; size_t length; uint64_t name; uint64_t offset; } mappings[MAPPINGS];

/* What an object is called: an address and the process, or a place in shared memory. */
struct place {
	uint64_t address;
	uint64_t space;
};

static struct place place(const volatile void *object, int is_shared)
{
	uintptr_t address = (uintptr_t)object;
	for (int i = 0; i < MAPPINGS; i++)
		if (mappings[i].length && address - mappings[i].start < mappings[i].length)
			return (struct place){ address - mappings[i].start + mappings[i].offset, mappings[i].name };
	return (struct place){ address, is_shared ? SHARED_SPACE : me->process | image << 20 };
}

static uint64_t request_on(uint32_t op, struct place at, uint64_t c, uint64_t site)
{
	return request(op, at.address, at.space, c, site);
}

/* What cannot be controlled ends the exploration, with a reason. */
static void refuse(const char *what)
{
	snprintf(sh->message, sizeof sh->message, "%s", what);
	request(OP_REFUSE, 0, 0, 0, 0);
}

static struct slot *new_slot(uint32_t process, uint32_t is_thread)
{
	uint32_t number = atomic_fetch_add(&sh->n_slots, 1);
	if (number >= STUBBORN_SLOTS) {
		atomic_fetch_sub(&sh->n_slots, 1);
		return NULL;
	}
	struct slot *slot = &sh->slots[number];
	slot->parent = (uint32_t)(me - sh->slots);
	slot->process = process;
	slot->is_thread = is_thread;
	slot->image = image;
	slot->os_pid = 0;
	atomic_store(&slot->state, MOVING);
	atomic_fetch_add(&sh->running, 1);
	return slot;
}

static void give_back(struct slot *slot)
{
	atomic_store(&slot->state, ENDED);
	atomic_fetch_sub(&sh->running, 1);
}

/* Ends. */

static void close_ends(void);
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

/* The beginning. */

static void catch_crashes(void)
{
	static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	static char stack[1 << 14];
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof stack };
	sigaltstack(&alternative, NULL);
	struct sigaction action = { .sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_RESETHAND };
	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
}

static void begin_process(struct slot *slot)
{
	me = slot;
	slot->os_pid = (int32_t)syscall(SYS_getpid);
	slot->os_tid = slot->os_pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
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
	static const char *const names[] = { "LD_PRELOAD", "STUBBORN_FD" };
	for (int i = 0; i < 2; i++)
		if (asprintf(&own_environment[i], "%s=%s", names[i], from_environment(names[i])) < 0)
			own_environment[i] = NULL;
	own_environment[2] = "STUBBORN_RUNS=1";
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

/* Threads. */

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
	me->os_pid = (int32_t)syscall(SYS_getpid);
	me->os_tid = (int32_t)syscall(SYS_gettid);
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

/* Processes. The program may have asked for things to be done before a fork and after it; they are done by the parent before the child is
 * counted, and by the child when it is. */

static __thread struct slot *newborn;
static __thread uint64_t forks_at;

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
	uint64_t ended = request(OP_WAIT_CHILD, wanted, (options & WNOHANG) != 0, status != NULL, site);
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

/* Signals. Those that a process sends to itself end it, or call its handler at once. Numbers of processes are ours, so no other is ever
 * sent one. */

int kill(pid_t which, int signal)
{
	pid_t real = (pid_t)syscall(SYS_getpid);
	if (!me)
		return (int)syscall(SYS_kill, which, signal);
	if (which != getpid() && which != real && signal != 0) {
		refuse("signals to other processes (kill) are not controlled");
		errno = EPERM;
		return -1;
	}
	return which == getpid() || which == real ? (int)syscall(SYS_tgkill, real, syscall(SYS_gettid), signal) : 0;
}

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

/* Locks. */

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

/* Condition variables. */

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

#include "c11.c"

/* Semaphores. */

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
	if (!me || request_on(op, place_of_sem(sem), 0, site) || op == OP_ACQUIRE)
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

#include "names.c"

/* System V semaphores. */

int semget(key_t key, int n, int flags)
{
	if (!me)
		return (int)syscall(SYS_semget, key, n, flags);
	int id = get("sem", key, flags, SITE);
	if (id > 0 && is_new && atomic_load(&sh->n_sets) < STUBBORN_SETS) {
		uint32_t i = atomic_fetch_add(&sh->n_sets, 1);
		sh->set_keys[i] = id;
		sh->set_sizes[i] = n;
	}
	return id;
}

static int size_of_set(int id)
{
	for (uint32_t i = 0; i < atomic_load(&sh->n_sets); i++)
		if (sh->set_keys[i] == id)
			return sh->set_sizes[i];
	return 0;
}

int semctl(int id, int number, int command, ...)
{
	va_list rest;
	va_start(rest, command);
	uint64_t argument = va_arg(rest, uint64_t);
	va_end(rest);
	if (!me)
		return (int)syscall(SYS_semctl, id, number, command, argument);
	switch (command) {
	case SETVAL:
		request(OP_SYSV_SET, (uint64_t)id, (uint64_t)number, (uint32_t)argument, SITE);
		return 0;
	case SETALL:
		for (int i = 0; i < size_of_set(id); i++)
			request(OP_SYSV_SET, (uint64_t)id, (uint64_t)i, ((unsigned short *)argument)[i], SITE);
		return 0;
	case GETVAL:
		return (int)request(OP_SYSV_GET, (uint64_t)id, (uint64_t)number, 0, SITE);
	case IPC_RMID:
		return removed(id, SITE);
	default:
		refuse("this command of semctl is not controlled");
		errno = EINVAL;
		return -1;
	}
}

int semop(int id, struct sembuf *operations, size_t n)
{
	if (!me)
		return (int)syscall(SYS_semop, id, operations, n);
	if (n * sizeof *operations > STUBBORN_DATA) {
		errno = E2BIG;
		return -1;
	}
	memcpy(me->data, operations, n * sizeof *operations);
	me->length = (uint32_t)n;
	if (request(OP_SEMOP, (uint64_t)id, n, 0, SITE) == UINT64_MAX) {
		errno = EAGAIN;
		return -1;
	}
	return 0;
}

/* System V message queues. What a message says goes to the controller and comes back from there. */

int msgget(key_t key, int flags)
{
	return me ? get("msg", key, flags, SITE) : (int)syscall(SYS_msgget, key, flags);
}

int msgctl(int id, int command, struct msqid_ds *about)
{
	if (!me)
		return (int)syscall(SYS_msgctl, id, command, about);
	if (command == IPC_RMID)
		return removed(id, SITE);
	refuse("this command of msgctl is not controlled");
	errno = EINVAL;
	return -1;
}

int msgsnd(int id, const void *message, size_t length, int flags)
{
	if (!me)
		return (int)syscall(SYS_msgsnd, id, message, length, flags);
	long type;
	memcpy(&type, message, sizeof type);
	if (length > STUBBORN_DATA || type <= 0) {
		errno = EINVAL;
		return -1;
	}
	memcpy(me->data, (const char *)message + sizeof type, length);
	me->length = (uint32_t)length;
	uint32_t op = flags & IPC_NOWAIT ? OP_TRY_SEND : OP_SEND;
	if (!request(op, (uint64_t)id, (uint64_t)type, 0, SITE)) {
		errno = EAGAIN;
		return -1;
	}
	return 0;
}

ssize_t msgrcv(int id, void *message, size_t length, long type, int flags)
{
	if (!me)
		return (ssize_t)syscall(SYS_msgrcv, id, message, length, type, flags);
	uint32_t op = flags & IPC_NOWAIT ? OP_TRY_RECEIVE : OP_RECEIVE;
	uint64_t got = request(op, (uint64_t)id, (uint64_t)type, 0, SITE);
	if (!got) {
		errno = ENOMSG;
		return -1;
	}
	size_t n = me->length;
	if (n > length) {
		if (!(flags & MSG_NOERROR)) {
			refuse("a message was longer than the place for it (E2BIG), which is not controlled");
			return -1;
		}
		n = length;
	}
	long found = (long)got;
	memcpy(message, &found, sizeof found);
	memcpy((char *)message + sizeof found, me->data, n);
	return (ssize_t)n;
}

#include "streams.c"
#include "exec.c"
#include "refused.c"

/* Choices and assertions. */

int VS_toss(int n)
{
	return me && n > 0 ? (int)request(OP_TOSS, (uint64_t)n + 1, 0, 0, SITE) : 0;
}

void VS_assert(int holds)
{
	if (me)
		request(OP_ASSERT, !holds, 0, 0, SITE);
	else if (!holds)
		abort();
}

/* Accesses to memory, in programs that `stubborn cc` compiled. */
void stubborn_access(void *address, size_t size, int flags, void *site)
{
	if (me)
		request_on(OP_ACCESS, place(address, 0), size << 3 | (uint64_t)flags, (uint64_t)site);
}

/* Time goes on by itself, a little with each look, and nobody sleeps. */

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

#ifdef __x86_64__
#undef syscall
long syscall(long number, ...)
{
	va_list rest;
	va_start(rest, number);
	long all[6];
	for (int i = 0; i < 6; i++)
		all[i] = va_arg(rest, long);
	va_end(rest);
	if (me && number == SYS_futex && (all[1] & FUTEX_CMD_MASK) != FUTEX_WAKE)
		refuse("the program waits in the kernel by itself (futex), which is not controlled");
	if (me && number == SYS_gettid)
		return gettid();
	return raw_syscall(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}
#endif
