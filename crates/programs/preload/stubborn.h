/* Choices and assertions for programs that `stubborn run` explores. Without it they are what they look like: every toss
 * gives 0. Include it and link nothing. */
#ifndef STUBBORN_H
#define STUBBORN_H

#include <assert.h>
#include <stdlib.h>

/* One of 0, ..., n. */
__attribute__((weak)) int VS_toss(int n);
/* A visible assertion. */
__attribute__((weak)) void VS_assert(int holds);

static inline int stubborn_toss(int n) { return VS_toss ? VS_toss(n) : 0; }

static inline void stubborn_assert(int holds)
{
	if (VS_assert)
		VS_assert(holds);
	else if (!holds)
		abort();
}

#define VS_toss(n) stubborn_toss(n)
#define VS_assert(holds) stubborn_assert(holds)

#endif
