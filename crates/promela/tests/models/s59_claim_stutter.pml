byte x, y;
active proctype A() { x = 1; y == 1; x = 2 }
active proctype B() { if :: y = 1 :: y = 2 fi }
never { T0: do :: x == 0 :: x == 1 && y != 1 -> goto accept :: else od; accept: do :: x == 1 od }
