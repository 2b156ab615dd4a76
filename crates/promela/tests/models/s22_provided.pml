byte x; chan c = [0] of { byte };
active proctype A() provided (x < 2) { byte v; c?v; x++; c?v; x++ }
active proctype B() { c!1; x = 2; c!2; x = 0 }
active proctype C() provided (_pid == 2 && x != 1) { skip; x = 3 }
