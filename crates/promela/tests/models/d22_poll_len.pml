chan c = [2] of { byte, byte }; chan d[2] = [2] of { byte };
active proctype P() { byte x, y, i; if :: x = 1 :: x = 2 fi; c!1,2; (c?[eval(x),y] || x > 0); skip; y = 3; (c?[y,eval(y)] || true); skip; if :: i = 0 :: i = 1 fi; (len(d[i]) == 0); skip; if :: i = 0 :: i = 1 fi; d[i]!3; skip; (nempty(d[0]) || nempty(d[1])); d[i]?y; skip }
