byte a[2], i = 3; short s = -7; int n = -7;
active proctype A() { (i > 2 || a[i] == 1); assert(!(i < 2 && a[i] == 1)); assert(s / 2 == -3 && s % 4 == -3 && (s >> 1) == -4 && (n << 2) == -28 && ~n == 6 && (5 & 3 | 8 ^ 1) == 9); n = (n < 0 -> -n : n); assert(n == 7); n = 1 - -1; assert(n == 2 && !(n == 3)) }
