/* Pipes and pairs of sockets. They exist in the system, but what is written to them goes through the controller: a process that reads what
 * nobody has written waits there. A pair of sockets is two pipes. Streams (FILE) on them are given readers and writers of ours.
 *
 * Part of preload.c.
 */

static uint32_t known(const uint32_t *ends, int fd)
{
	return me && fd >= 0 && fd < FILES ? ends[fd] : 0;
}

static uint32_t reads_from(int fd) { return known(reads, fd); }
static uint32_t writes_to(int fd) { return known(writes, fd); }
static int is_ours(int fd) { return reads_from(fd) || writes_to(fd); }

/* Ends are called twice the number of the pipe, and one more for the end that is written to. */
static void open_end(uint32_t *ends, int fd, uint32_t number)
{
	if (!number)
		return;
	ends[fd] = number;
	request(OP_PIPE_END, 2 * number + (ends == writes), 0, 0, 0);
}

int pipe2(int ends[2], int flags)
{
	if (syscall(SYS_pipe2, ends, flags) < 0)
		return -1;
	if (!me || ends[0] >= FILES || ends[1] >= FILES)
		return 0;
	uint32_t number = atomic_fetch_add(&sh->n_pipes, 1) + 1;
	open_end(reads, ends[0], number);
	open_end(writes, ends[1], number);
	return 0;
}

int pipe(int ends[2]) { return pipe2(ends, 0); }

int socketpair(int domain, int type, int protocol, int ends[2])
{
	if (me && (type & 0xf) != SOCK_STREAM) {
		refuse("pairs of sockets other than streams (SOCK_STREAM) are not controlled");
		errno = EINVAL;
		return -1;
	}
	if (syscall(SYS_socketpair, domain, type, protocol, ends) < 0)
		return -1;
	if (!me || ends[0] >= FILES || ends[1] >= FILES)
		return 0;
	uint32_t number = atomic_fetch_add(&sh->n_pipes, 2) + 1;
	for (uint32_t i = 0; i < 2; i++) {
		open_end(reads, ends[i], number + i);
		open_end(writes, ends[i], number + 1 - i);
	}
	return 0;
}

/* Something came into a pipe behind our back, from what does not call the C library's functions. */
static void look_behind(int fd)
{
	int n = 0;
	if (reads_from(fd) && syscall(SYS_ioctl, fd, FIONREAD, &n) == 0 && n > 0)
		refuse("the program writes to a pipe in a way that is not controlled (C++ streams, splice, ...)");
}

static void close_end(int fd, uint64_t site)
{
	if (!is_ours(fd))
		return;
	look_behind(fd);
	uint32_t from = reads[fd], to = writes[fd];
	reads[fd] = writes[fd] = 0;
	if (from)
		request(OP_PIPE_CLOSE, 2 * from, 0, 0, site);
	if (to)
		request(OP_PIPE_CLOSE, 2 * to + 1, 0, 0, site);
}

static void close_ends(void)
{
	for (int fd = 0; fd < FILES; fd++)
		close_end(fd, 0);
}

int close(int fd)
{
	close_end(fd, SITE);
	return (int)syscall(SYS_close, fd);
}

static int copied(int from, int to)
{
	if (to < 0 || to >= FILES || !is_ours(from))
		return to;
	open_end(reads, to, reads[from]);
	open_end(writes, to, writes[from]);
	use_streams(to);
	return to;
}

int dup(int fd) { return copied(fd, (int)syscall(SYS_dup, fd)); }

int dup3(int from, int to, int flags)
{
	if (from != to)
		close_end(to, SITE);
	return copied(from, (int)syscall(SYS_dup3, from, to, flags));
}

int dup2(int from, int to)
{
	if (from == to)
		return to;
	return dup3(from, to, 0);
}

int fcntl(int fd, int command, ...)
{
	va_list rest;
	va_start(rest, command);
	long argument = va_arg(rest, long);
	va_end(rest);
	int result = (int)syscall(SYS_fcntl, fd, command, argument);
	return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, result) : result;
}

int fcntl64(int fd, int command, ...)
{
	va_list rest;
	va_start(rest, command);
	long argument = va_arg(rest, long);
	va_end(rest);
	return fcntl(fd, command, argument);
}

static int is_impatient(int fd)
{
	return (syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK) != 0;
}

static ssize_t receive(int fd, void *buffer, size_t length, int is_try, uint64_t site)
{
	size_t wanted = length < STUBBORN_DATA ? length : STUBBORN_DATA;
	int is_interrupted = 0;
	uint32_t op = is_try ? OP_PIPE_TRY_READ : OP_PIPE_READ;
	uint64_t got = request_until(op, 2 * reads[fd], wanted, 0, site, &is_interrupted);
	if (is_interrupted)
		return -1;
	if (got == UINT64_MAX) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(buffer, me->data, got);
	return (ssize_t)got;
}

/* Nobody can read any more. Who does not care ends. */
static void broken_pipe(void)
{
	struct sigaction action;
	if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
		end_of_process(128 + SIGPIPE);
	syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), SIGPIPE);
}

static ssize_t transmit(int fd, const void *buffer, size_t length, int is_try, int is_silent, uint64_t site)
{
	uint32_t op = is_try ? OP_PIPE_TRY_WRITE : OP_PIPE_WRITE;
	size_t done = 0;
	while (done < length) {
		size_t n = length - done < PIPE_BUF ? length - done : PIPE_BUF;
		memcpy(me->data, (const char *)buffer + done, n);
		me->length = (uint32_t)n;
		int is_interrupted = 0;
		uint64_t put = request_until(op, 2 * writes[fd] + 1, n, 0, site, &is_interrupted);
		if (is_interrupted)
			return done ? (ssize_t)done : -1;
		if (put == UINT64_MAX && !done) {
			errno = EAGAIN;
			return -1;
		}
		if (put == 0 && !done) {
			if (!is_silent)
				broken_pipe();
			errno = EPIPE;
			return -1;
		}
		if (put == UINT64_MAX || put == 0)
			break;
		done += n;
	}
	return (ssize_t)done;
}

ssize_t read(int fd, void *buffer, size_t length)
{
	if (!reads_from(fd) || !length)
		return syscall(SYS_read, fd, buffer, length);
	return receive(fd, buffer, length, is_impatient(fd), SITE);
}

ssize_t write(int fd, const void *buffer, size_t length)
{
	if (!writes_to(fd) || !length)
		return syscall(SYS_write, fd, buffer, length);
	return transmit(fd, buffer, length, is_impatient(fd), 0, SITE);
}

ssize_t recv(int fd, void *buffer, size_t length, int flags)
{
	if (!reads_from(fd))
		return syscall(SYS_recvfrom, fd, buffer, length, flags, NULL, NULL);
	if (flags & ~MSG_DONTWAIT)
		refuse("recv with flags other than MSG_DONTWAIT is not controlled");
	return receive(fd, buffer, length, (flags & MSG_DONTWAIT) || is_impatient(fd), SITE);
}

ssize_t send(int fd, const void *buffer, size_t length, int flags)
{
	if (!writes_to(fd))
		return syscall(SYS_sendto, fd, buffer, length, flags, NULL, 0);
	if (flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL))
		refuse("send with flags other than MSG_DONTWAIT and MSG_NOSIGNAL is not controlled");
	return transmit(fd, buffer, length, (flags & MSG_DONTWAIT) || is_impatient(fd), flags & MSG_NOSIGNAL, SITE);
}

ssize_t readv(int fd, const struct iovec *pieces, int n)
{
	if (!reads_from(fd))
		return syscall(SYS_readv, fd, pieces, n);
	/* Less than was asked for may come at any time. */
	for (int i = 0; i < n; i++)
		if (pieces[i].iov_len)
			return receive(fd, pieces[i].iov_base, pieces[i].iov_len, is_impatient(fd), SITE);
	return 0;
}

ssize_t writev(int fd, const struct iovec *pieces, int n)
{
	if (!writes_to(fd))
		return syscall(SYS_writev, fd, pieces, n);
	char text[PIPE_BUF];
	size_t length = 0;
	for (int i = 0; i < n; i++) {
		if (length + pieces[i].iov_len > sizeof text) {
			refuse("writev of more than 4,096 bytes to a pipe is not controlled");
			return -1;
		}
		memcpy(text + length, pieces[i].iov_base, pieces[i].iov_len);
		length += pieces[i].iov_len;
	}
	return length ? transmit(fd, text, length, is_impatient(fd), 0, SITE) : 0;
}

/* What is not modelled of them. */

static long refused(const char *what)
{
	refuse(what);
	errno = ENOSYS;
	return -1;
}

int shutdown(int fd, int how)
{
	return is_ours(fd) ? (int)refused("shutdown is not controlled") : (int)syscall(SYS_shutdown, fd, how);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	return is_ours(fd) ? refused("recvmsg is not controlled") : syscall(SYS_recvmsg, fd, message, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	return is_ours(fd) ? refused("sendmsg is not controlled") : syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t recvfrom(int fd, void *buffer, size_t length, int flags, struct sockaddr *from, socklen_t *size)
{
	return is_ours(fd) ? refused("recvfrom is not controlled") : syscall(SYS_recvfrom, fd, buffer, length, flags, from, size);
}

ssize_t sendto(int fd, const void *buffer, size_t length, int flags, const struct sockaddr *to, socklen_t size)
{
	return is_ours(fd) ? refused("sendto is not controlled") : syscall(SYS_sendto, fd, buffer, length, flags, to, size);
}

ssize_t splice(int from, off64_t *in, int to, off64_t *out, size_t length, unsigned flags)
{
	if (is_ours(from) || is_ours(to))
		return refused("splice is not controlled");
	return syscall(SYS_splice, from, in, to, out, length, flags);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t n)
{
	return is_ours(to) ? refused("sendfile is not controlled") : syscall(SYS_sendfile, to, from, offset, n);
}

/* Streams. */

struct stream { FILE *file; int fd; };
static struct stream streams[FILES];

static int fd_of(void *cookie) { return (int)(intptr_t)cookie; }
static ssize_t read_stream(void *cookie, char *buffer, size_t length) { return read(fd_of(cookie), buffer, length); }

static ssize_t write_stream(void *cookie, const char *buffer, size_t length)
{
	ssize_t n = write(fd_of(cookie), buffer, length);
	return n < 0 ? 0 : n;
}

static int close_stream(void *cookie)
{
	for (int i = 0; i < FILES; i++)
		if (streams[i].file && streams[i].fd == fd_of(cookie))
			streams[i].file = NULL;
	return close(fd_of(cookie));
}

static FILE *stream_on(int fd, const char *mode)
{
	cookie_io_functions_t functions = { read_stream, write_stream, NULL, close_stream };
	FILE *file = fopencookie((void *)(intptr_t)fd, mode, functions);
	for (int i = 0; file && i < FILES; i++)
		if (!streams[i].file) {
			streams[i] = (struct stream){ file, fd };
			break;
		}
	return file;
}

FILE *fdopen(int fd, const char *mode)
{
	if (!real_fdopen)
		find_functions();
	return is_ours(fd) ? stream_on(fd, mode) : real_fdopen(fd, mode);
}

int fileno(FILE *file)
{
	for (int i = 0; me && i < FILES && streams[i].file; i++)
		if (streams[i].file == file)
			return streams[i].fd;
	if (!real_fileno)
		find_functions();
	return real_fileno(file);
}

int fileno_unlocked(FILE *file) { return fileno(file); }

/* The streams that every program has, if their files have become pipes. */
static void use_streams(int fd)
{
	FILE **streams_of[] = { &stdin, &stdout, &stderr };
	if (fd < 0 || fd > 2 || !is_ours(fd))
		return;
	FILE *before = *streams_of[fd], *after = stream_on(fd, fd ? "w" : "r");
	if (!after)
		return;
	if (fd == 2)
		setvbuf(after, NULL, _IONBF, 0);
	/* What was not written yet comes first. */
	if (fd && __fpending(before)) {
		fwrite(before->_IO_write_base, 1, __fpending(before), after);
		__fpurge(before);
	}
	*streams_of[fd] = after;
}
