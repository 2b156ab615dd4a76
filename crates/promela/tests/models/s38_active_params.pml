byte x;
active [2] proctype W(byte k; chan q; bit b) { x = x + k + b + 1; byte late = 3; k = late }
proctype V(bit b; short s; chan q) { assert(b == 0 && s == -1); q!b }
init { chan q = [1] of { byte }; run V(2, 65535, q); q?_ }
