/* Texts that the C library makes and takes apart, in programs that `stubborn cc` compiles: what is written to memory, and the strings that are read.
 * Numbers are read by the program itself, which the compiler sees.
 *
 * Behind deep.c, in one file.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* Behind the flags, width and precision of a conversion. A star takes a number from the arguments. */
static const char *behind_numbers(const char *at, va_list *all, long *precision)
{
	*precision = -1;
	for (; *at && ((*at >= '0' && *at <= '9') || *at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '\''
		|| *at == '*' || *at == '.'); at++) {
		if (*at == '*')
			(void)va_arg(*all, int);
		if (*at == '.' && at[1] == '*') {
			*precision = va_arg(*all, int);
			at++;
		} else if (*at == '.') {
			*precision = 0;
			while (at[1] >= '0' && at[1] <= '9')
				*precision = *precision * 10 + (*++at - '0');
		}
	}
	return at;
}

/* Reads the strings among the arguments of a format. What is not known ends it. */
static void reads_strings(const char *format, va_list *all, void *site)
{
	for (const char *at = format; *at; at++) {
		if (*at != '%')
			continue;
		long precision, n_long = 0;
		at = behind_numbers(at + 1, all, &precision);
		int is_wide = 0;
		for (; *at == 'l' || *at == 'h' || *at == 'z' || *at == 'j' || *at == 't' || *at == 'q' || *at == 'L'; at++) {
			n_long += *at != 'h';
			is_wide |= *at == 'L';
		}
		switch (*at) {
		case '%':
			break;
		case 's': {
			if (n_long)
				return;
			const char *text = va_arg(*all, const char *);
			if (text)
				reads_string(text, precision < 0 ? SIZE_MAX : (size_t)precision, site);
			break;
		}
		case 'd': case 'i': case 'o': case 'u': case 'x': case 'X': case 'c': case 'p':
			if (n_long || *at == 'p')
				(void)va_arg(*all, long);
			else
				(void)va_arg(*all, int);
			break;
		case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
			if (is_wide)
				(void)va_arg(*all, long double);
			else
				(void)va_arg(*all, double);
			break;
		default:
			return;
		}
	}
}

#define STRINGS(format) \
	va_list all, again; \
	va_start(all, format); \
	va_copy(again, all); \
	reads_strings(format, &again, SITE); \
	va_end(again)

WRAPPED(int, printf, const char *format, ...)
{
	STRINGS(format);
	int n = vprintf(format, all);
	va_end(all);
	return n;
}

WRAPPED(int, fprintf, FILE *file, const char *format, ...)
{
	STRINGS(format);
	int n = vfprintf(file, format, all);
	va_end(all);
	return n;
}

WRAPPED(int, sprintf, char *to, const char *format, ...)
{
	STRINGS(format);
	va_copy(again, all);
	int n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	writes(to, n < 0 ? 0 : (size_t)n + 1, SITE);
	n = vsprintf(to, format, all);
	va_end(all);
	return n;
}

WRAPPED(int, snprintf, char *to, size_t size, const char *format, ...)
{
	STRINGS(format);
	va_copy(again, all);
	int n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	size_t length = n < 0 ? 0 : (size_t)n + 1;
	writes(to, length < size ? length : size, SITE);
	n = vsnprintf(to, size, format, all);
	va_end(all);
	return n;
}

WRAPPED(int, puts, const char *text)
{
	reads_string(text, SIZE_MAX, SITE);
	return __real_puts(text);
}

WRAPPED(int, fputs, const char *text, FILE *file)
{
	reads_string(text, SIZE_MAX, SITE);
	return __real_fputs(text, file);
}

WRAPPED(size_t, fwrite, const void *from, size_t size, size_t n, FILE *file)
{
	reads(from, size * n, SITE);
	return __real_fwrite(from, size, n, file);
}

WRAPPED(size_t, fread, void *to, size_t size, size_t n, FILE *file)
{
	size_t got = __real_fread(to, size, n, file);
	writes(to, size * got, SITE);
	return got;
}

WRAPPED(char *, fgets, char *to, int size, FILE *file)
{
	char *got = __real_fgets(to, size, file);
	size_t n = 0;
	while (got && n < (size_t)size && got[n])
		n++;
	writes(to, got ? n + 1 : 0, SITE);
	return got;
}

WRAPPED(char *, strncat, char *to, const char *from, size_t n)
{
	size_t before = reads_string(to, SIZE_MAX, SITE), length = reads_string(from, n, SITE);
	writes(to + before, (length < n ? length : n) + 1, SITE);
	return __real_strncat(to, from, n);
}

WRAPPED(char *, strrchr, const char *text, int byte)
{
	reads_string(text, SIZE_MAX, SITE);
	return __real_strrchr(text, byte);
}

WRAPPED(char *, strstr, const char *text, const char *part)
{
	reads_string(text, SIZE_MAX, SITE);
	reads_string(part, SIZE_MAX, SITE);
	return __real_strstr(text, part);
}

WRAPPED(int, atoi, const char *text)
{
	reads_string(text, SIZE_MAX, SITE);
	return __real_atoi(text);
}

WRAPPED(long, strtol, const char *text, char **end, int base)
{
	reads_string(text, SIZE_MAX, SITE);
	return __real_strtol(text, end, base);
}
