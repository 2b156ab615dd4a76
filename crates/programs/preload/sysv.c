/* Semaphores and message queues of System V. What a message says goes to the controller and comes back from there.
 *
 * Part of preload.c.
 */

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

/* What this process has taken and wants to be given back when it ends (SEM_UNDO). */
#define UNDONE 64
static struct { int id; unsigned short number; long by; } undone[UNDONE];

static void note_undo(int id, const struct sembuf *operations, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int place = 0;
		if (!(operations[i].sem_flg & SEM_UNDO))
			continue;
		while (place < UNDONE && undone[place].id && (undone[place].id != id || undone[place].number != operations[i].sem_num))
			place++;
		if (place == UNDONE) {
			refuse("SEM_UNDO on more than 64 semaphores is not controlled");
			return;
		}
		undone[place].id = id;
		undone[place].number = operations[i].sem_num;
		undone[place].by -= operations[i].sem_op;
	}
}

static void forget_undo(void) { memset(undone, 0, sizeof undone); }

static int has_undo(void)
{
	for (int i = 0; i < UNDONE; i++)
		if (undone[i].by)
			return 1;
	return 0;
}

/* The process ends. */
static void undo(void)
{
	for (int i = 0; i < UNDONE && undone[i].id; i++) {
		if (undone[i].by < 0)
			refuse("SEM_UNDO that takes something when a process ends is not controlled");
		if (undone[i].by <= 0)
			continue;
		struct sembuf given = { undone[i].number, (short)undone[i].by, 0 };
		memcpy(me->data, &given, sizeof given);
		me->length = 1;
		request(OP_SEMOP, (uint64_t)undone[i].id, 1, 0, 0);
		undone[i].by = 0;
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
	int is_interrupted = 0;
	uint64_t got = request_until(OP_SEMOP, (uint64_t)id, n, 0, SITE, &is_interrupted);
	if (is_interrupted)
		return -1;
	if (got == UINT64_MAX) {
		errno = EAGAIN;
		return -1;
	}
	note_undo(id, operations, n);
	return 0;
}

/* Message queues. */

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
	int is_interrupted = 0;
	uint64_t put = request_until(op, (uint64_t)id, (uint64_t)type, 0, SITE, &is_interrupted);
	if (is_interrupted)
		return -1;
	if (!put) {
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
	int is_interrupted = 0;
	uint64_t got = request_until(op, (uint64_t)id, (uint64_t)type, 0, SITE, &is_interrupted);
	if (is_interrupted)
		return -1;
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
