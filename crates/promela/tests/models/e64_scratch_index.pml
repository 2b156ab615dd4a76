byte a[3];
active proctype P() { int k = 1; k = k + 3; _ = a[k]; k = 0 }
active proctype Q() { byte x; x = 1; x = 2 }
