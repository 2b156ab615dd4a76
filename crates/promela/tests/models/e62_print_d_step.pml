byte a[3];
active proctype P() { int k = 1; d_step { k = k + 3; printf("%d %d\n", k, a[k]); k = 0 } }
active proctype Q() { byte x; x = 1; x = 2 }
