/* Calls of the kernel. The function of this name is ours, too, for programs that call the kernel by themselves.
 *
 * Part of preload.c.
 */

#ifdef __x86_64__
/* The arguments of a call, as many as there can be. */
#define SIX(all, number) \
	long all[6]; \
	va_list rest; \
	va_start(rest, number); \
	for (int i = 0; i < 6; i++) \
		all[i] = va_arg(rest, long); \
	va_end(rest)

static long raw_syscall(long number, ...)
{
	SIX(all, number);
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

static int is_controlled(void);
static void refuse(const char *what);

long syscall(long number, ...)
{
	SIX(all, number);
	if (is_controlled() && number == SYS_futex && (all[1] & FUTEX_CMD_MASK) != FUTEX_WAKE)
		refuse("the program waits in the kernel by itself (futex), which is not controlled");
	if (is_controlled() && number == SYS_gettid)
		return gettid();
	return raw_syscall(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

/* From here on it is the kernel itself. */
#define syscall raw_syscall
#endif
