byte g;
active proctype P() { byte x, y; if :: x = 1 :: x = 2 fi; d_step { y = x; x = 3; y > 0; x > 1 }; skip; d_step { if :: y == 1 -> g = 1 :: else -> g = 2 fi; y = 7 }; skip; (g > 0); d_step { x = 2; if :: x > 0 -> skip :: else -> skip fi }; skip }
