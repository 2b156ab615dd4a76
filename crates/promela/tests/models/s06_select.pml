byte i, i_x, k = 5; byte g;
inline pick(v) { select (v : 1 .. 3) }
active proctype A() { select (i : 2 .. 5); select (i_x : 0 .. 2); pick(g); select (k : i .. 4) }
