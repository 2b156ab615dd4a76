chan a = [1] of { byte }; chan b = [1] of { byte }; chan c; byte v;
active proctype A() { c = a; c!1; c = b; c!2; b?v; assert(v == 2); c = a; c?v; assert(v == 1 && c != b) }
