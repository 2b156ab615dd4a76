active proctype P() { byte x, y; if :: x = 1 :: x = 2 fi; if :: y = 1 :: y = 2 fi; (x + y > 0); printf("%d\n", x); skip; skip }
active proctype Q() { mtype m; byte i; if :: i = 1 :: i = 2 fi; (i > 0); printm(m); printf("%d %d\n", i, i) }
mtype = { a, b };
