byte g;
active [2] proctype P() { byte x, y; atomic { if :: x = 1 :: x = 2 fi; y = x; x > 0 }; skip; atomic { g = y; (y > 0); if :: y = 1 :: y = 2 fi }; (g > 0) }
