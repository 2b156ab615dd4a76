/* A toss and an assertion that one outcome violates. */
#include "stubborn.h"

int main(void)
{
	int a = VS_toss(2), b = VS_toss(3);
	VS_assert(a + b != 5);
	return 0;
}
