byte x;
inline add(a, b) { return a + b }
active proctype A() { x = add(2, 3); assert(x == 5) }
