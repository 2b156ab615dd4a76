chan c = [0] of { byte }; byte x;
active proctype A() { d_step { c!1; x = 1 } }
active proctype B() { byte v; c?v; x = 2 }
