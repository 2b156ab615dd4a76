/* posix_spawn: what is made of fork and exec in the C library, where they cannot be seen. What is to be done to files in between is kept here, by
 * the place of the list, in the order in which it was asked for.
 *
 * Part of preload.c.
 */

#define ACTIONS 128
#define PATH_OF_ACTION 256

struct action {
	const posix_spawn_file_actions_t *list;
	enum { CLOSES, COPIES, OPENS, MOVES } kind;
	int fd, other;
	mode_t mode;
	char path[PATH_OF_ACTION];
};

static struct action actions_asked_for[ACTIONS];

static int ask_for(struct action wanted, const char *path)
{
	for (int i = 0; i < ACTIONS; i++)
		if (!actions_asked_for[i].list) {
			if (path && strlen(path) >= PATH_OF_ACTION)
				break;
			actions_asked_for[i] = wanted;
			if (path)
				strcpy(actions_asked_for[i].path, path);
			return 0;
		}
	if (me)
		refuse("posix_spawn with that many file actions is not controlled");
	return ENOMEM;
}

static void forget_actions(const posix_spawn_file_actions_t *list)
{
	int kept = 0;
	for (int i = 0; i < ACTIONS; i++)
		if (actions_asked_for[i].list && actions_asked_for[i].list != list)
			actions_asked_for[kept++] = actions_asked_for[i];
	while (kept < ACTIONS)
		actions_asked_for[kept++].list = NULL;
}

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *list)
{
	memset(list, 0, sizeof *list);
	forget_actions(list);
	return 0;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *list)
{
	forget_actions(list);
	return 0;
}

int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *list, int fd)
{
	return ask_for((struct action){ .list = list, .kind = CLOSES, .fd = fd }, NULL);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *list, int fd, int to)
{
	return ask_for((struct action){ .list = list, .kind = COPIES, .fd = fd, .other = to }, NULL);
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *restrict list, int fd, const char *restrict path, int flags,
	mode_t mode)
{
	return ask_for((struct action){ .list = list, .kind = OPENS, .fd = fd, .other = flags, .mode = mode }, path);
}

int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *restrict list, const char *restrict path)
{
	return ask_for((struct action){ .list = list, .kind = MOVES }, path);
}

int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t *list, int fd)
{
	(void)list;
	(void)fd;
	if (me)
		refuse("posix_spawn with fchdir is not controlled");
	return ENOSYS;
}

static int act(const struct action *action)
{
	switch (action->kind) {
	case CLOSES:
		close(action->fd);
		return 0;
	case COPIES:
		/* A copy to itself is kept by the new program. */
		if (action->fd == action->other)
			return fcntl(action->fd, F_SETFD, 0);
		return dup2(action->fd, action->other) < 0 ? -1 : 0;
	case MOVES:
		return chdir(action->path);
	default:
		break;
	}
	int opened = (int)syscall(SYS_openat, AT_FDCWD, action->path, action->other, action->mode);
	if (opened < 0 || opened == action->fd)
		return opened < 0 ? -1 : 0;
	int result = dup2(opened, action->fd);
	close(opened);
	return result < 0 ? -1 : 0;
}

/* In the new process, before it becomes the other program. */
static void prepare(const posix_spawn_file_actions_t *list, const posix_spawnattr_t *how, short flags)
{
	sigset_t signals;
	if (how && (flags & POSIX_SPAWN_SETSIGMASK) && posix_spawnattr_getsigmask(how, &signals) == 0)
		sigprocmask(SIG_SETMASK, &signals, NULL);
	for (int i = 0; i < ACTIONS; i++)
		if (list && actions_asked_for[i].list == list && act(&actions_asked_for[i]) < 0)
			_exit(127);
}

static int spawn(pid_t *child, const char *name, const posix_spawn_file_actions_t *list, const posix_spawnattr_t *how,
	char *const arguments[], char *const environment[], int searches)
{
	short flags = 0;
	if (how)
		posix_spawnattr_getflags(how, &flags);
	/* Who has no special rights gives none away. */
	if (geteuid() == getuid() && getegid() == getgid())
		flags &= (short)~POSIX_SPAWN_RESETIDS;
	if (me && (flags & ~(POSIX_SPAWN_USEVFORK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)))
		refuse("posix_spawn with attributes other than those of signals is not controlled");
	if (!searches && access(name, X_OK) < 0)
		return errno;
	pid_t process = fork();
	if (process < 0)
		return errno;
	if (process == 0) {
		prepare(list, how, flags);
		if (searches)
			execvpe(name, arguments, environment);
		else
			execve(name, arguments, environment);
		_exit(127);
	}
	if (child)
		*child = process;
	return 0;
}

int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *how,
	char *const arguments[], char *const environment[])
{
	return spawn(child, path, actions, how, arguments, environment, 0);
}

int posix_spawnp(pid_t *child, const char *name, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *how,
	char *const arguments[], char *const environment[])
{
	return spawn(child, name, actions, how, arguments, environment, 1);
}
