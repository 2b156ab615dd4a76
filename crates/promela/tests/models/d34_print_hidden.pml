byte a[3]; byte g, h;
active proctype P() { g = 1; g = 2; printf("%d\n", g); skip }
active proctype Q() { byte x; if :: x = 1 :: x = 2 fi; h = x; printf("%d\n", a[h]); h = 7; printf("%d\n", a[h] + h); skip }
