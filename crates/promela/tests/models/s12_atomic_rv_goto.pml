chan c = [0] of { byte }; byte x;
active proctype A() { atomic { x = 1; c!1; goto out }; out: x = 2; atomic { do :: c!2; break :: x == 9 -> break od; x = 3 } }
active proctype B() { byte v; c?v; x = 4; c?v; x = 5 }
