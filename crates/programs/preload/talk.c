/* Talking to the controller: a task announces an operation, sleeps, and goes on with what came of it. What cannot be controlled is said.
 *
 * Part of preload.c.
 */

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
static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);

/* Threads of this process, by slot. */
static pthread_t threads[STUBBORN_SLOTS];
/* Pipes that this process reads from and writes to, by file descriptor; 0 for other files. */
static uint32_t reads[FILES], writes[FILES];
/* How many programs there were in this process before this one. */
static uint32_t image;
/* What this library needs in the environment. */
#define OWN_ENVIRONMENT 4
static char *own_environment[OWN_ENVIRONMENT];
/* Locks that this thread holds and whose kind or mode matters. */
static __thread struct { void *lock; int count; } held[HELD];

#define SITE ((uint64_t)__builtin_return_address(0))

static int is_controlled(void) { return me != NULL; }

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#include "turns.c"

static void stop_moving(void)
{
	uint32_t n = atomic_load(&sh->running);
	while (n > 1)
		if (atomic_compare_exchange_weak(&sh->running, &n, n - 1))
			return;
	if (take_known_turn())
		return;
	atomic_store(&sh->running, 0);
	atomic_fetch_add(&sh->event, 1);
	futex_wake(&sh->event);
}

static void describe_signals(void);
static int take_signal(uint32_t signal, uint32_t op);

static void announce(uint32_t op, uint64_t a, uint64_t b, uint64_t c, uint64_t site)
{
	me->op = op;
	me->args[0] = a;
	me->args[1] = b;
	me->args[2] = c;
	/* Places in another program than the first are not known. */
	me->site = image ? 0 : site;
	describe_signals();
	me->serial++;
	me->print = print_of(me);
	atomic_store(&me->state, ANNOUNCED);
	stop_moving();
	uint32_t state;
	while ((state = atomic_load(&me->state)) != MOVING)
		futex_wait(&me->state, state);
}

/* Announces an operation, waits for its turn, and gives what came of it. Signals that come before are taken, and it is announced again; or, if it
 * had to wait and the caller wants to know, it is given up. */
static uint64_t request_until(uint32_t op, uint64_t a, uint64_t b, uint64_t c, uint64_t site, int *is_interrupted)
{
	int saved = errno;
	announce(op, a, b, c, site);
	while (me->signal) {
		size_t n = announced_bytes(me);
		uint32_t length = me->length;
		uint64_t last = me->args[3];
		uint8_t data[n + 1];
		memcpy(data, me->data, n);
		if (take_signal(me->signal, op) && is_interrupted) {
			*is_interrupted = 1;
			errno = EINTR;
			return 0;
		}
		memcpy(me->data, data, n);
		me->length = length;
		me->args[3] = last;
		announce(op, a, b, c, site);
	}
	errno = saved;
	return me->out;
}

static uint64_t request(uint32_t op, uint64_t a, uint64_t b, uint64_t c, uint64_t site)
{
	return request_until(op, a, b, c, site, NULL);
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
	/* What was here in another run is gone; who looks for the dead must not look there. */
	slot->os_pid = 0;
	slot->os_tid = 0;
	slot->serial = 0;
	slot->args[3] = 0;
	atomic_store(&slot->state, MOVING);
	atomic_fetch_add(&sh->running, 1);
	return slot;
}

static void give_back(struct slot *slot)
{
	atomic_store(&slot->state, ENDED);
	atomic_fetch_sub(&sh->running, 1);
}
