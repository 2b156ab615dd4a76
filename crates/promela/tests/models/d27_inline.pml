byte g;
inline bump(v) { byte t; t = v; t++; v = t }
active [2] proctype P() { byte x; bump(x); (x > 0); bump(g); skip; (g > 0) }
