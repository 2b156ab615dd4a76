/* Another program in the place of one that is controlled. It is controlled, too: it finds the memory that is shared with the controller
 * and the ends of pipes that it has in its environment. Its objects have names of their own, and places in it are not known.
 *
 * Part of preload.c.
 */

#define ENVIRONMENT 4096

/* Whether the file is something that will load this library. */
static void check_program(const char *path)
{
	unsigned char head[64] = { 0 };
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	ssize_t n = syscall(SYS_pread64, fd, head, sizeof head, 0L);
	int is_dynamic = n > 2 && head[0] == '#' && head[1] == '!';
	if (n == sizeof head && !memcmp(head, "\177ELF\2", 5)) {
		ElfW(Ehdr) header;
		memcpy(&header, head, sizeof header);
		for (int i = 0; i < header.e_phnum && !is_dynamic; i++) {
			ElfW(Phdr) part;
			off_t at = (off_t)(header.e_phoff + (unsigned)i * sizeof part);
			if (syscall(SYS_pread64, fd, &part, sizeof part, at) != sizeof part)
				break;
			is_dynamic = part.p_type == PT_INTERP;
		}
	}
	syscall(SYS_close, fd);
	if (!is_dynamic)
		refuse("the program starts another one that is linked statically, or is no 64-bit program");
}

/* The ends of pipes that are kept, as text. */
static void tell_ends(char *text, size_t size)
{
	size_t length = (size_t)snprintf(text, size, "STUBBORN_ENDS=%u", image + 1);
	for (int fd = 0; fd < FILES; fd++)
		if (is_ours(fd) && length < size)
			length += (size_t)snprintf(text + length, size - length, ",%d:%u:%u", fd, reads[fd], writes[fd]);
	if (length >= size)
		refuse("a program that starts another one with that many pipes is not controlled");
}

static void take_ends(const char *text)
{
	char *rest;
	image = (uint32_t)strtoul(text, &rest, 10);
	me->image = image;
	n_private = image * 64;
	while (*rest == ',') {
		long fd = strtol(rest + 1, &rest, 10);
		uint32_t from = (uint32_t)strtoul(rest + 1, &rest, 10);
		uint32_t to = (uint32_t)strtoul(rest + 1, &rest, 10);
		if (fd >= 0 && fd < FILES) {
			reads[fd] = from;
			writes[fd] = to;
		}
	}
	for (int fd = 0; fd < 3; fd++)
		use_streams(fd);
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
	if (!me || access(path, X_OK) < 0)
		return (int)syscall(SYS_execve, path, arguments, environment);
	check_program(path);
	if (has_undo())
		refuse("exec in a process that has something to give back at its end (SEM_UNDO) is not controlled");
	if (has_others())
		refuse("exec in a process with several threads is not controlled");
	for (int fd = 0; fd < FILES; fd++)
		if (is_ours(fd) && (syscall(SYS_fcntl, fd, F_GETFD) & FD_CLOEXEC))
			close_end(fd, SITE);
	char ends[ENVIRONMENT];
	tell_ends(ends, sizeof ends);
	size_t n = 0, kept = 0;
	while (environment && environment[n])
		n++;
	char *all[n + 8];
	for (size_t i = 0; i < n; i++)
		if (strncmp(environment[i], "LD_PRELOAD=", 11) && strncmp(environment[i], "STUBBORN_", 9))
			all[kept++] = environment[i];
	for (size_t i = 0; i < OWN_ENVIRONMENT; i++)
		all[kept++] = own_environment[i];
	all[kept++] = ends;
	all[kept] = NULL;
	return (int)syscall(SYS_execve, path, arguments, all);
}

int execv(const char *path, char *const arguments[]) { return execve(path, arguments, environ); }

int execvpe(const char *name, char *const arguments[], char *const environment[])
{
	if (strchr(name, '/'))
		return execve(name, arguments, environment);
	const char *directories = getenv("PATH");
	if (!directories)
		directories = "/bin:/usr/bin";
	while (*directories) {
		size_t length = strcspn(directories, ":");
		char path[PATH_MAX];
		int n = snprintf(path, sizeof path, "%.*s%s%s", (int)length, directories, length ? "/" : "", name);
		if (n > 0 && n < PATH_MAX && access(path, X_OK) == 0)
			return execve(path, arguments, environment);
		directories += length + (directories[length] == ':');
	}
	errno = ENOENT;
	return -1;
}

int execvp(const char *name, char *const arguments[]) { return execvpe(name, arguments, environ); }

/* Arguments one by one, up to a null pointer, and perhaps the environment behind it. */
#define LISTED 256
#define LIST(first) \
	char *all[LISTED] = { (char *)first }; \
	va_list rest; \
	va_start(rest, first); \
	for (int i = 1; all[i - 1] && i < LISTED - 1; i++) \
		all[i] = va_arg(rest, char *)

int execl(const char *path, const char *first, ...)
{
	LIST(first);
	va_end(rest);
	return execve(path, all, environ);
}

int execlp(const char *name, const char *first, ...)
{
	LIST(first);
	va_end(rest);
	return execvpe(name, all, environ);
}

int execle(const char *path, const char *first, ...)
{
	LIST(first);
	char **environment = va_arg(rest, char **);
	va_end(rest);
	return execve(path, all, environment);
}

int fexecve(int fd, char *const arguments[], char *const environment[])
{
	if (me)
		refuse("fexecve is not controlled");
	return (int)syscall(SYS_execveat, fd, "", arguments, environment, AT_EMPTY_PATH);
}

/* Shells, which the C library starts by itself where that cannot be seen. */

static pid_t start_shell(const char *command, int from, int to, int other)
{
	pid_t child = fork();
	if (child)
		return child;
	if (from >= 0 && from != to) {
		dup2(from, to);
		close(from);
	}
	if (other >= 0)
		close(other);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

int system(const char *command)
{
	if (!command)
		return 1;
	int status = 0;
	pid_t child = start_shell(command, -1, -1, -1);
	return child < 0 || waitpid(child, &status, 0) < 0 ? -1 : status;
}

/* Shells behind streams, by the number of the stream's file. */
static pid_t shells[FILES];

FILE *popen(const char *command, const char *mode)
{
	int ends[2], is_write = mode[0] == 'w';
	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	pid_t child = start_shell(command, ends[!is_write], !is_write, ends[is_write]);
	close(ends[!is_write]);
	FILE *file = child > 0 ? fdopen(ends[is_write], is_write ? "w" : "r") : NULL;
	if (file && ends[is_write] < FILES)
		shells[ends[is_write]] = child;
	return file;
}

int pclose(FILE *file)
{
	int fd = fileno(file), status = 0;
	if (fd < 0 || fd >= FILES || !shells[fd])
		return -1;
	pid_t child = shells[fd];
	shells[fd] = 0;
	fclose(file);
	return waitpid(child, &status, 0) < 0 ? -1 : status;
}
