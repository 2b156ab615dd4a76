byte x;
active proctype A() { L: { x++; { x++ ; skip } }; if :: x < 5 -> goto L :: else fi; { atomic { { x = 0; x = 1 }; x = 2 } } ; M: atomic { x = 3 } }
active proctype B() { x = x }
