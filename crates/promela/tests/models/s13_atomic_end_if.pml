chan c = [0] of { byte }; byte x;
active proctype A() { atomic { x = 1; if :: c!1 :: x == 9 -> skip fi }; atomic { if :: x > 0 -> x = 2 :: else -> x = 3 fi } }
active proctype B() { byte v; atomic { c?v; x = 4; x == 7; x = 5 } }
active proctype C() { x = 7 }
