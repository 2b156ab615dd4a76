byte a[3];
byte i;
active proctype P() { int k = 5; if :: k = 2 :: k = i fi; printf("%d\n", a[k]); k = 0 }
active proctype Q() { i = 7; i = 1 }
