unsigned u : 3, w : 12 = 4095; pid p = 3; bit bb[2]; bool flag = true;
active proctype A() { u = 9; assert(u == 1); u--; u--; assert(u == 7); w++; assert(w == 0); w--; assert(w == 4095); bb[0] = 5; assert(bb[0] == 5); flag = flag + 1; assert(!flag); p = p - 4; assert(p == 255) }
