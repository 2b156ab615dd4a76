byte p[3]; byte n;
proctype W(byte i) { n = n + i }
init { p[0] = run W(1); p[1] = run W(2); assert(p[0] == 1); if :: run W(3) -> n = 0 :: n == 1 -> n = 20 fi }
