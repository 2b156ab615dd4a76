typedef P { byte x; short y[2] }; typedef Q { P p[2]; bit b; bool c[2]; int i };
Q q; Q r[2];
active proctype A() { q.p[1].y[0] = -3; r[1].p[0].x = 255; r[1].p[0].x++; q.b = 2; q.c[1] = 2; assert(q.b == 0 && q.c[1] == 2); q.i = q.p[1].y[0] * 1000000; r[q.c[1]-1].i = 4; assert(r[1].i == 4) }
