byte a[3]; byte x;
active proctype P() { int k = 5; if :: x = 1; skip; _ = a[k]; skip;  printf("%d\n", a[k]); x = 2 fi }
