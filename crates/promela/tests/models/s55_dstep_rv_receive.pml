chan c = [0] of { byte }; byte x;
active proctype A() { c!1; x = 3 }
active proctype B() { byte v; d_step { c?v; x = 2; x = v + 4 } }
