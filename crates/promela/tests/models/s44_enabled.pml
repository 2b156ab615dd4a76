byte x; chan q = [1] of { byte };
active proctype A() { byte v; q?v; x == 6; skip }
active proctype B() { if :: enabled(0) -> x = 1 :: else -> x = 2 fi; q!1; enabled(0) -> x = 3; enabled(0) -> x = 4; atomic { !enabled(2) -> x = 5 }; x = 6 }
active proctype C() { d_step { x == 4 -> x = 7 }; if :: x == 9 :: else fi }
