byte x, y;
active proctype A() { { atomic { x = 1; x = 2 }; d_step { x = 3; x = 4 }; if :: x == 4 -> x = 5 :: else -> x = 6 fi } unless { if :: y == 1 -> y = 3 :: y == 2 -> y = 4 fi } ; x = 7 }
active proctype B() { if :: y = 1 :: y = 2 fi }
