chan c = [0] of { byte, byte }; byte x;
active proctype A() { c!1; x = 3 }
active proctype B() { byte v, w; c?v,w; x = v }
