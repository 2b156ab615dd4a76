byte i, x, y; byte a[3];
active proctype P() { if :: a[i] == 1 && x == 1 :: y == 0 -> y = 1 fi }
active proctype Q() { i = 5; i = 0 }
