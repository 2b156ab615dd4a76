/* Listening to several pipes at once: a wait until one of them has something, and then a look at each. Between the looks others go on, as they do in
 * the kernel. A limit of time may be up at any moment, but not for ever while others can move. Who listens to none sleeps.
 *
 * Part of preload.c.
 */

#define LISTENED 256
/* In vain here, one after the other. */
static __thread struct { uint64_t site; uint64_t n; } listened;

static int sleeps_instead(int is_endless, uint64_t site)
{
	if (is_endless)
		return pause();
	if (sh->has_signals)
		request(OP_SLEEP, 0, 0, 0, site);
	return 0;
}

/* What there is at the ends that a file is, of what is asked for. */
static short look(int fd, short events, uint64_t site)
{
	short found = 0;
	if (reads_from(fd)) {
		uint64_t got = request(OP_PIPE_LOOK, 2 * reads[fd], 0, 0, site);
		found |= (got & 1 ? events & (POLLIN | POLLRDNORM) : 0) | (got & 2 ? POLLHUP : 0);
	}
	if (writes_to(fd)) {
		uint64_t got = request(OP_PIPE_LOOK, 2 * writes[fd] + 1, 0, 0, site);
		found |= (got & 1 ? events & (POLLOUT | POLLWRNORM) : 0) | (got & 2 ? POLLERR : 0);
	}
	return found;
}

/* Waits until there is something at one of the ends. Whether a signal came first. */
static int await_any(const struct pollfd *all, nfds_t n, int is_timed, uint64_t site)
{
	uint32_t *ends = (uint32_t *)me->data;
	uint32_t n_ends = 0;
	for (nfds_t i = 0; i < n; i++) {
		int fd = all[i].fd;
		if (reads_from(fd) && (all[i].events & (POLLIN | POLLRDNORM)))
			ends[n_ends++] = 2 * reads[fd];
		if (writes_to(fd) && (all[i].events & (POLLOUT | POLLWRNORM)))
			ends[n_ends++] = 2 * writes[fd] + 1;
	}
	if (!n_ends)
		refuse("poll for nothing but the end of a pipe is not controlled");
	me->length = n_ends * sizeof *ends;
	int is_interrupted = 0;
	uint64_t in_vain = listened.site == site ? listened.n : 0;
	request_until(OP_LISTEN, (uint64_t)is_timed, in_vain, 0, site, &is_interrupted);
	return is_interrupted;
}

/* Those that are not pipes; they are as they are. */
static int look_at_others(struct pollfd *all, nfds_t n)
{
	int n_ready = 0;
	for (nfds_t i = 0; i < n; i++) {
		all[i].revents = 0;
		if (all[i].fd >= 0 && !is_ours(all[i].fd) && syscall(SYS_poll, &all[i], 1, 0) > 0)
			n_ready++;
	}
	return n_ready;
}

/* Without a limit of time if it is negative. */
static int listen_to(struct pollfd *all, nfds_t n, int timeout, uint64_t site)
{
	nfds_t n_ours = 0;
	for (nfds_t i = 0; i < n; i++)
		n_ours += (nfds_t)is_ours(all[i].fd);
	if (!n)
		return sleeps_instead(timeout < 0, site);
	if (!n_ours)
		return (int)syscall(SYS_poll, all, n, timeout);
	if (n > LISTENED)
		refuse("poll on more than 256 files is not controlled");
	for (;;) {
		int n_ready = look_at_others(all, n);
		if (timeout != 0 && !n_ready && await_any(all, n, timeout > 0, site))
			return -1;
		for (nfds_t i = 0; i < n; i++)
			if (is_ours(all[i].fd)) {
				all[i].revents = look(all[i].fd, all[i].events, site);
				n_ready += all[i].revents != 0;
			}
		listened.n = n_ready ? 0 : listened.site == site ? listened.n + 1 : 1;
		listened.site = site;
		if (n_ready || timeout >= 0)
			return n_ready;
	}
}

int poll(struct pollfd *all, nfds_t n, int timeout)
{
	return me ? listen_to(all, n, timeout, SITE) : (int)syscall(SYS_poll, all, n, timeout);
}

static int milliseconds(long seconds, long rest) { return seconds || rest ? 1 : 0; }

int ppoll(struct pollfd *all, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	if (!me)
		return (int)syscall(SYS_ppoll, all, n, timeout, mask, _NSIG / 8);
	if (mask)
		refuse("ppoll with a mask of signals is not controlled");
	return listen_to(all, n, timeout ? milliseconds(timeout->tv_sec, timeout->tv_nsec) : -1, SITE);
}

static short events_of(int fd, const fd_set *in, const fd_set *out)
{
	return (short)((in && FD_ISSET(fd, in) ? POLLIN : 0) | (out && FD_ISSET(fd, out) ? POLLOUT : 0));
}

static int has_ours(int n, const fd_set *set)
{
	for (int fd = 0; set && fd < n && fd < FD_SETSIZE; fd++)
		if (FD_ISSET(fd, set) && is_ours(fd))
			return 1;
	return 0;
}

static int listen_to_sets(int n, fd_set *in, fd_set *out, int timeout, uint64_t site)
{
	struct pollfd all[FD_SETSIZE];
	nfds_t n_files = 0;
	for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++) {
		short events = events_of(fd, in, out);
		if (events)
			all[n_files++] = (struct pollfd){ .fd = fd, .events = events };
	}
	int n_ready = listen_to(all, n_files, timeout, site), n_found = 0;
	if (in)
		FD_ZERO(in);
	if (out)
		FD_ZERO(out);
	for (nfds_t i = 0; n_ready > 0 && i < n_files; i++) {
		if ((all[i].events & POLLIN) && (all[i].revents & (POLLIN | POLLHUP | POLLERR))) {
			FD_SET(all[i].fd, in);
			n_found++;
		}
		if ((all[i].events & POLLOUT) && (all[i].revents & (POLLOUT | POLLERR))) {
			FD_SET(all[i].fd, out);
			n_found++;
		}
	}
	return n_ready < 0 ? n_ready : n_found;
}

int select(int n, fd_set *in, fd_set *out, fd_set *odd, struct timeval *timeout)
{
	if (!me || !(has_ours(n, in) || has_ours(n, out) || has_ours(n, odd) || !n))
		return (int)syscall(SYS_select, n, in, out, odd, timeout);
	if (odd)
		FD_ZERO(odd);
	return listen_to_sets(n, in, out, timeout ? milliseconds(timeout->tv_sec, timeout->tv_usec) : -1, SITE);
}

int pselect(int n, fd_set *in, fd_set *out, fd_set *odd, const struct timespec *timeout, const sigset_t *mask)
{
	if (me && mask)
		refuse("pselect with a mask of signals is not controlled");
	struct timeval time = { 0, 0 };
	if (timeout)
		time = (struct timeval){ timeout->tv_sec, timeout->tv_nsec / 1000 + 1 };
	if (timeout && !timeout->tv_sec && !timeout->tv_nsec)
		time.tv_usec = 0;
	return select(n, in, out, odd, timeout ? &time : NULL);
}

int epoll_ctl(int poller, int command, int fd, struct epoll_event *event)
{
	return is_ours(fd) ? (int)refused("epoll on pipes and sockets is not controlled")
			   : (int)syscall(SYS_epoll_ctl, poller, command, fd, event);
}
