byte a[4] = 2; byte i, s; int b[3] = { 5, 6 };
active proctype A() { for (i in a) { s = s + a[i] } assert(s == 8); for (i : 0 .. 2) { s = s + b[i]; if :: i == 1 -> break :: else fi } }
