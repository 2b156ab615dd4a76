/* Linked into programs that `stubborn cc` compiles: the calls that gcc's -fsanitize=thread puts before every access to
 * memory go to the library that `stubborn run` loads. Without it they are nothing. */
#include <stddef.h>
#include <stdint.h>

/* flags: 1 for writes, 2 for atomic accesses. */
extern void stubborn_access(void *address, size_t size, int flags, void *site) __attribute__((weak));

#define SITE __builtin_return_address(0)

static inline void access(void *address, size_t size, int flags, void *site)
{
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

#define FETCH(bits, name, builtin) \
	uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *a, uint##bits##_t v, int order) \
	{ \
		(void)order; \
		access((void *)a, bits / 8, 3, SITE); \
		return builtin(a, v, __ATOMIC_SEQ_CST); \
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
	FETCH(bits, exchange, __atomic_exchange_n) \
	FETCH(bits, fetch_add, __atomic_fetch_add) \
	FETCH(bits, fetch_sub, __atomic_fetch_sub) \
	FETCH(bits, fetch_and, __atomic_fetch_and) \
	FETCH(bits, fetch_or, __atomic_fetch_or) \
	FETCH(bits, fetch_xor, __atomic_fetch_xor) \
	FETCH(bits, fetch_nand, __atomic_fetch_nand) \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *a, uint##bits##_t *expected, \
		uint##bits##_t v, int order, int failure) \
	{ \
		(void)order; \
		(void)failure; \
		access((void *)a, bits / 8, 3, SITE); \
		return __atomic_compare_exchange_n(a, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
	} \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t *a, uint##bits##_t *expected, \
		uint##bits##_t v, int order, int failure) \
	{ \
		(void)order; \
		(void)failure; \
		access((void *)a, bits / 8, 3, SITE); \
		return __atomic_compare_exchange_n(a, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
	}

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order) { (void)order; }
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* Copying is done by the C library, which the compiler does not see; the linker sends these calls here. */
void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__real_memset(void *to, int byte, size_t n);

void *__wrap_memcpy(void *to, const void *from, size_t n)
{
	if (n) {
		access((void *)from, n, 0, SITE);
		access(to, n, 1, SITE);
	}
	return __real_memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n)
{
	if (n) {
		access((void *)from, n, 0, SITE);
		access(to, n, 1, SITE);
	}
	return __real_memmove(to, from, n);
}

void *__wrap_memset(void *to, int byte, size_t n)
{
	if (n)
		access(to, n, 1, SITE);
	return __real_memset(to, byte, n);
}
