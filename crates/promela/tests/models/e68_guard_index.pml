byte i, x; byte a[3];
active proctype P() { a[i] == 1 || x == 0 }
active proctype Q() { i = 5; i = 0 }
