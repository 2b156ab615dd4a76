byte g;
active proctype P() { byte x, y; if :: x = 1 :: x = 2 fi; y = x; skip; g = y; skip; (g > 0) }
