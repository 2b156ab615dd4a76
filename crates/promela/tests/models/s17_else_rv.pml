chan c = [0] of { byte }; byte x;
active proctype A() { do :: c!1 -> x++ :: else -> break od }
active proctype B() { byte v; do :: c?v :: x == 1 -> break od; if :: c?v -> x = 9 :: else -> x = 8 fi }
