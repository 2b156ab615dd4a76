byte x;
active proctype A() { progress: x = 1; end1: if :: x == 2 -> L: x = 3 :: x == 3 -> accept_a: goto L fi; end: x == 9 }
active proctype B() { do :: endx: x == 8 -> skip od }
