/* Linked into programs that `stubborn cc` compiles: the calls that gcc's -fsanitize=thread puts before every access to
 * memory go to the library that `stubborn run` loads. Without it they are nothing. */
#include <stddef.h>
#include <stdint.h>

/* flags: 1 for writes, 2 for atomic accesses, 4 for the thread's own stack. */
extern void stubborn_access(void *address, size_t size, int flags, void *site) __attribute__((weak));

#define SITE __builtin_return_address(0)

/* What cannot be written is between these. */
extern char __executable_start __attribute__((weak)), __data_start __attribute__((weak));

static inline void access(void *address, size_t size, int flags, void *site)
{
	if ((char *)address >= &__executable_start && (char *)address < &__data_start)
		return;
	/* Near above this frame is the thread's own stack. */
	if ((uintptr_t)address - (uintptr_t)__builtin_frame_address(0) < 1 << 16)
		flags |= 4;
	if (stubborn_access)
		stubborn_access(address, size, flags, site);
}

void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

#define PLAIN(size) \
	void __tsan_read##size(void *a) { access(a, size, 0, SITE); } \
	void __tsan_write##size(void *a) { access(a, size, 1, SITE); } \
	void __tsan_unaligned_read##size(void *a) { access(a, size, 0, SITE); } \
	void __tsan_unaligned_write##size(void *a) { access(a, size, 1, SITE); } \
	void __tsan_volatile_read##size(void *a) { access(a, size, 0, SITE); } \
	void __tsan_volatile_write##size(void *a) { access(a, size, 1, SITE); } \
	void __tsan_read##size##_pc(void *a, void *pc) { access(a, size, 0, pc); } \
	void __tsan_write##size##_pc(void *a, void *pc) { access(a, size, 1, pc); }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *a, unsigned long size) { access(a, size, 0, SITE); }
void __tsan_write_range(void *a, unsigned long size) { access(a, size, 1, SITE); }
void __tsan_vptr_read(void **a) { access(a, sizeof *a, 0, SITE); }

void __tsan_vptr_update(void **a, void *value)
{
	if (*a != value)
		access(a, sizeof *a, 1, SITE);
}

/* A loop that tries to change a variable and does not, such as a lock that is taken by test-and-set, would go on for ever. Where a thread
 * has tried three times in vain, it looks first: a look that shows that nothing would change is the whole operation, and a loop of
 * looks is known to wait. */
static __thread struct { void *site; unsigned n; } in_vain;

static int looks_first(void *site) { return in_vain.site == site && in_vain.n >= 3; }

static void note(void *site, int is_unchanged)
{
	in_vain.n = is_unchanged ? (in_vain.site == site ? in_vain.n + 1 : 1) : 0;
	in_vain.site = site;
}

#define FETCH(bits, name, builtin, changed) \
	uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *a, uint##bits##_t v, int order) \
	{ \
		uint##bits##_t old; \
		(void)order; \
		if (looks_first(SITE)) { \
			access((void *)a, bits / 8, 2, SITE); \
			old = *a; \
			if ((uint##bits##_t)(changed) == old) \
				return old; \
		} \
		access((void *)a, bits / 8, 3, SITE); \
		old = builtin(a, v, __ATOMIC_SEQ_CST); \
		note(SITE, (uint##bits##_t)(changed) == old); \
		return old; \
	}

#define COMPARE(bits, name) \
	int __tsan_atomic##bits##_##name(volatile uint##bits##_t *a, uint##bits##_t *expected, \
		uint##bits##_t v, int order, int failure) \
	{ \
		(void)order; \
		(void)failure; \
		if (looks_first(SITE)) { \
			access((void *)a, bits / 8, 2, SITE); \
			if (*a != *expected) { \
				*expected = *a; \
				return 0; \
			} \
		} \
		access((void *)a, bits / 8, 3, SITE); \
		int done = __atomic_compare_exchange_n(a, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		note(SITE, !done); \
		return done; \
	}

#define ATOMIC(bits) \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *a, int order) \
	{ \
		(void)order; \
		access((void *)a, bits / 8, 2, SITE); \
		return __atomic_load_n(a, __ATOMIC_SEQ_CST); \
	} \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *a, uint##bits##_t v, int order) \
	{ \
		(void)order; \
		access((void *)a, bits / 8, 3, SITE); \
		__atomic_store_n(a, v, __ATOMIC_SEQ_CST); \
	} \
	FETCH(bits, exchange, __atomic_exchange_n, v) \
	FETCH(bits, fetch_add, __atomic_fetch_add, old + v) \
	FETCH(bits, fetch_sub, __atomic_fetch_sub, old - v) \
	FETCH(bits, fetch_and, __atomic_fetch_and, old & v) \
	FETCH(bits, fetch_or, __atomic_fetch_or, old | v) \
	FETCH(bits, fetch_xor, __atomic_fetch_xor, old ^ v) \
	FETCH(bits, fetch_nand, __atomic_fetch_nand, ~(old & v)) \
	COMPARE(bits, compare_exchange_strong) \
	COMPARE(bits, compare_exchange_weak)

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order) { (void)order; }
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* What the C library does to memory the compiler does not see; the linker sends these calls here. The list is in `deep.rs`. */

#define WRAPPED(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

static void reads(const void *from, size_t n, void *site)
{
	if (n)
		access((void *)from, n, 0, site);
}

static void writes(void *to, size_t n, void *site)
{
	if (n)
		access(to, n, 1, site);
}

/* Reads a string, of which it may be known that no more than so many bytes are looked at. Gives its length. */
static size_t reads_string(const char *from, size_t most, void *site)
{
	for (size_t seen = 0;;) {
		size_t n = 0;
		while (n < most && ((const volatile char *)from)[n])
			n++;
		size_t looked_at = n < most ? n + 1 : n;
		/* It may have become longer in the meantime. */
		if (looked_at <= seen)
			return n;
		reads(from, looked_at, site);
		seen = looked_at;
	}
}

WRAPPED(void *, memcpy, void *to, const void *from, size_t n)
{
	reads(from, n, SITE);
	writes(to, n, SITE);
	return __real_memcpy(to, from, n);
}

WRAPPED(void *, memmove, void *to, const void *from, size_t n)
{
	reads(from, n, SITE);
	writes(to, n, SITE);
	return __real_memmove(to, from, n);
}

WRAPPED(void *, memset, void *to, int byte, size_t n)
{
	writes(to, n, SITE);
	return __real_memset(to, byte, n);
}

WRAPPED(int, memcmp, const void *one, const void *two, size_t n)
{
	reads(one, n, SITE);
	reads(two, n, SITE);
	return __real_memcmp(one, two, n);
}

WRAPPED(size_t, strlen, const char *text) { return reads_string(text, SIZE_MAX, SITE); }

WRAPPED(char *, strcpy, char *to, const char *from)
{
	writes(to, reads_string(from, SIZE_MAX, SITE) + 1, SITE);
	return __real_strcpy(to, from);
}

WRAPPED(char *, strncpy, char *to, const char *from, size_t n)
{
	reads_string(from, n, SITE);
	writes(to, n, SITE);
	return __real_strncpy(to, from, n);
}

WRAPPED(char *, strcat, char *to, const char *from)
{
	size_t before = reads_string(to, SIZE_MAX, SITE);
	writes(to + before, reads_string(from, SIZE_MAX, SITE) + 1, SITE);
	return __real_strcat(to, from);
}

WRAPPED(int, strcmp, const char *one, const char *two)
{
	reads_string(one, SIZE_MAX, SITE);
	reads_string(two, SIZE_MAX, SITE);
	return __real_strcmp(one, two);
}

WRAPPED(int, strncmp, const char *one, const char *two, size_t n)
{
	reads_string(one, n, SITE);
	reads_string(two, n, SITE);
	return __real_strncmp(one, two, n);
}

WRAPPED(char *, strchr, const char *text, int byte)
{
	reads_string(text, SIZE_MAX, SITE);
	return __real_strchr(text, byte);
}

WRAPPED(char *, strdup, const char *text)
{
	reads_string(text, SIZE_MAX, SITE);
	return __real_strdup(text);
}

WRAPPED(void, qsort, void *all, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	reads(all, n * size, SITE);
	writes(all, n * size, SITE);
	__real_qsort(all, n, size, compare);
}

WRAPPED(long, read, int fd, void *to, size_t n)
{
	long got = __real_read(fd, to, n);
	writes(to, got > 0 ? (size_t)got : 0, SITE);
	return got;
}

WRAPPED(long, write, int fd, const void *from, size_t n)
{
	reads(from, n, SITE);
	return __real_write(fd, from, n);
}
