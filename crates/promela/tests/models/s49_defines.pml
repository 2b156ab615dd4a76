#define N 3
#if N > 2
#define BIG 1
#else
#define BIG 0
#endif
#define chk(p,q) ((p) && !(q))
#define wait(c) atomic { c -> c = 0 }
byte sem = BIG; byte n;
active [N] proctype W() { wait(sem); n++; assert(chk(n <= N, n == 0)); sem = 1 }
