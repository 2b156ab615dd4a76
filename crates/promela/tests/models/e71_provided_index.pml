byte i; byte a[3];
active proctype P() provided (a[i] == 0) { byte k; k = 1; k = 2 }
active proctype Q() { i = 5; i = 0 }
