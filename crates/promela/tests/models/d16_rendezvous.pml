chan c = [0] of { byte, byte }; chan d[2] = [0] of { byte };
active proctype S() { byte m; if :: m = 1 :: m = 2 fi; c!m,m; skip; d[m-1]!m; skip }
active proctype R() { byte i, v; if :: i = 1 :: i = 2 fi; if :: c?eval(i),v :: c?v,_ fi; skip; if :: d[v]?v :: d[1]?i :: d[0]?i fi; skip; skip }
