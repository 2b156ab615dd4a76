mtype = { a, b, c }; mtype:fruit = { apple, pear }; mtype = { d };
mtype m = b; mtype:fruit f = pear; chan q = [2] of { mtype, byte };
active proctype A() { byte n; assert(a == 3 && c == 1 && d == 4 && apple == 2); q!a(4); q!d,5; q?a(n); assert(n == 4); if :: q?a,n :: q?d,n fi; assert(n == 5); m = d; printm(m); printf("%e\n", m) }
