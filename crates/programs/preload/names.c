/* Objects that processes find by a name or a key: named semaphores, System V objects, and shared memory.
 *
 * Names live in the controller, and so do the files behind shared memory, so that nothing is left behind. Opening and removing a name is
 * visible: whoever comes first creates the object.
 *
 * Part of preload.c.
 */

/* Private objects of this process, so far. */
static uint32_t n_private;
/* Whether the last object that was asked for by its name is new. */
static int is_new;

static uint32_t put_name(const char *kind, const char *name)
{
	int length = snprintf((char *)me->data, sizeof me->data, "%s:%s", kind, name);
	me->length = (uint32_t)(length < STUBBORN_DATA ? length : STUBBORN_DATA);
	return me->length;
}

/* The number of an object, or -1. */
static int open_name(const char *kind, const char *name, int creates, int is_exclusive, uint64_t site)
{
	put_name(kind, name);
	uint64_t found = request(OP_NAME_OPEN, (uint64_t)(creates != 0), (uint64_t)(is_exclusive != 0), 0, site);
	if (found == 0 || found == UINT64_MAX) {
		errno = found ? EEXIST : ENOENT;
		return -1;
	}
	is_new = found >> 32 != 0;
	return (int)(uint32_t)found;
}

static int remove_name(const char *kind, const char *name, uint64_t site)
{
	put_name(kind, name);
	if (request(OP_NAME_REMOVE, 0, 0, 0, site))
		return 0;
	errno = ENOENT;
	return -1;
}

/* What semget, msgget and shmget do. */
static int get(const char *kind, key_t key, int flags, uint64_t site)
{
	if (key == IPC_PRIVATE) {
		is_new = 1;
		return (int)(me->process * 256 + ++n_private);
	}
	char text[16];
	snprintf(text, sizeof text, "%d", key);
	return open_name(kind, text, flags & IPC_CREAT, (flags & IPC_CREAT) && (flags & IPC_EXCL), site);
}

/* What the others do for IPC_RMID. */
static int removed(int id, uint64_t site)
{
	request(OP_NAME_REMOVE, (uint64_t)id, 0, 0, site);
	return 0;
}

/* Named semaphores that this process has open. */
#define NAMED_SEMAPHORES 64
static sem_t named[NAMED_SEMAPHORES];

sem_t *sem_open(const char *name, int flags, ...)
{
	unsigned value = 0;
	if (flags & O_CREAT) {
		va_list rest;
		va_start(rest, flags);
		(void)va_arg(rest, mode_t);
		value = va_arg(rest, unsigned);
		va_end(rest);
	}
	if (!me) {
		errno = ENOSYS;
		return SEM_FAILED;
	}
	int id = open_name("semaphore", name, flags & O_CREAT, (flags & O_CREAT) && (flags & O_EXCL), SITE);
	if (id < 0)
		return SEM_FAILED;
	for (int i = 0; i < NAMED_SEMAPHORES; i++) {
		int *words = (int *)&named[i];
		if (words[1] && words[2] != id)
			continue;
		words[1] = NAMED;
		words[2] = id;
		if (is_new)
			request_on(OP_SEM_INIT, place_of_sem(&named[i]), value, 0);
		return &named[i];
	}
	refuse("more than 64 named semaphores are not controlled");
	return SEM_FAILED;
}

int sem_close(sem_t *sem)
{
	(void)sem;
	return 0;
}

int sem_unlink(const char *name)
{
	return me ? remove_name("semaphore", name, SITE) : -1;
}

/* Memory. */

static void remember(void *start, size_t length, uint64_t name, uint64_t offset)
{
	for (int i = 0; i < MAPPINGS; i++)
		if (!mappings[i].length) {
			mappings[i].start = (uintptr_t)start;
			mappings[i].length = length;
			mappings[i].name = name;
			mappings[i].offset = offset;
			return;
		}
	refuse("more than 64 mappings of shared memory are not controlled");
}

void *mmap(void *where, size_t length, int protection, int flags, int fd, off_t offset)
{
	void *start = (void *)syscall(SYS_mmap, where, length, protection, flags, fd, offset);
	int type = flags & MAP_TYPE;
	if (!me || start == MAP_FAILED || (type != MAP_SHARED && type != MAP_SHARED_VALIDATE) || !(protection & PROT_WRITE))
		return start;
	struct stat about;
	if (flags & MAP_ANONYMOUS)
		remember(start, length, 1ull << 40 | (uint64_t)me->process << 16 | ++n_private, 0);
	else if (fstat(fd, &about) == 0)
		remember(start, length, 1ull << 41 | about.st_ino, (uint64_t)offset);
	return start;
}

void *mmap64(void *where, size_t length, int protection, int flags, int fd, off_t offset)
{
	return mmap(where, length, protection, flags, fd, offset);
}

int munmap(void *start, size_t length)
{
	if (me)
		for (int i = 0; i < MAPPINGS; i++)
			if (mappings[i].start == (uintptr_t)start && mappings[i].length)
				mappings[i].length = 0;
	return (int)syscall(SYS_munmap, start, length);
}

/* The file behind a piece of shared memory, opened. */
static int open_file(int id)
{
	uint64_t fd = request(OP_FILE, (uint64_t)id, 0, 0, 0);
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", sh->controller, (int)fd);
	int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (file < 0)
		refuse("shared memory is not controlled here: the controller's files cannot be opened");
	return file;
}

int shm_open(const char *name, int flags, mode_t mode)
{
	(void)mode;
	if (!me) {
		errno = ENOSYS;
		return -1;
	}
	int id = open_name("memory", name, flags & O_CREAT, (flags & O_CREAT) && (flags & O_EXCL), SITE);
	int fd = id < 0 ? -1 : open_file(id);
	if (fd >= 0 && (flags & O_TRUNC) && syscall(SYS_ftruncate, fd, 0) < 0)
		return -1;
	return fd;
}

int shm_unlink(const char *name)
{
	return me ? remove_name("memory", name, SITE) : -1;
}

int shmget(key_t key, size_t size, int flags)
{
	if (!me)
		return (int)syscall(SYS_shmget, key, size, flags);
	int id = get("shm", key, flags, SITE);
	if (id > 0 && is_new) {
		int fd = open_file(id);
		if (fd < 0 || syscall(SYS_ftruncate, fd, size) < 0)
			return -1;
		syscall(SYS_close, fd);
	}
	return id;
}

void *shmat(int id, const void *where, int flags)
{
	if (!me)
		return (void *)syscall(SYS_shmat, id, where, flags);
	int fd = open_file(id);
	struct stat about;
	if (fd < 0 || fstat(fd, &about) < 0)
		return (void *)-1;
	int fixed = where ? MAP_FIXED : 0;
	void *start = mmap((void *)where, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, 0);
	syscall(SYS_close, fd);
	return start;
}

int shmdt(const void *start)
{
	if (!me)
		return (int)syscall(SYS_shmdt, start);
	for (int i = 0; i < MAPPINGS; i++)
		if (mappings[i].length && mappings[i].start == (uintptr_t)start)
			return munmap((void *)start, mappings[i].length);
	errno = EINVAL;
	return -1;
}

int shmctl(int id, int command, struct shmid_ds *about)
{
	if (!me)
		return (int)syscall(SYS_shmctl, id, command, about);
	if (command == IPC_RMID)
		return removed(id, SITE);
	refuse("this command of shmctl is not controlled");
	errno = EINVAL;
	return -1;
}
