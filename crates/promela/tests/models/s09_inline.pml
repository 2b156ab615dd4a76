byte x, y;
inline swap(a, b) { byte t; t = a; a = b; b = t }
inline loop(n) { byte j; j = 0; again: if :: j < n -> j++; goto again :: else fi }
active proctype A() { x = 1; y = 2; swap(x, y); loop(2); loop(1); swap(y,x); assert(x == 1) }
active proctype B() { loop(1) }
