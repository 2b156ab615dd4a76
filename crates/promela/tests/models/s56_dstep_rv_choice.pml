chan c = [0] of { byte }; chan e = [0] of { byte }; byte x;
active proctype A() { c!1; x = 3; e!2; c!4 }
active proctype B() { byte v; do :: d_step { if :: c?1 -> x = 7 :: e?v -> x = v :: x == 9 -> x = 1 fi; x = x + 1 } :: d_step { c?v; x = x + v } od }
