byte g;
active proctype P() { byte a[2], b[1], i; if :: a[0] = 1; b[0] = 1 :: a[1] = 2; b[0] = 2 fi; (a[0] + b[0] > 0); if :: i = 0 :: i = 1 fi; (a[i] < 9); skip; a[i] = 0; skip; (g == 0) }
