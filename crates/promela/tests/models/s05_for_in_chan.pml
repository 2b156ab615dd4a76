typedef M { byte a; bit b };
chan q = [3] of { M }; M m; byte s;
active proctype A() { m.a = 1; q!m; m.a = 2; m.b = 1; q!m; for (m in q) { s = s + m.a }; assert(s == 3) }
