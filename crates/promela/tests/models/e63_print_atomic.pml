byte a[3];
active proctype P() { int k = 1; atomic { k = k + 3; printf("%d\n", a[k]); k = 0 } }
active proctype Q() { byte x; x = 1; x = 2 }
