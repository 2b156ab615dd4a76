byte x;
proctype W(byte k) { byte loc[3]; L1: loc[k] = k + 1; L2: x++; M: goto E; skip; E: skip }
init { run W(1); run W(2); (W[1]@L2); assert(W[1]:loc[1] == 2); W[2]@M; x = W[2]:loc[2]; W[9]@L1 || x == 3 }
