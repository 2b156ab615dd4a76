byte i, x; byte a[3];
active proctype P() { byte k; k = 1; end: a[i] == 1 && x == 1 }
active proctype Q() { atomic { x == 0; i = 5 }; atomic { x == 0; i = 0 } }
