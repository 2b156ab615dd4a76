chan c = [1] of { byte, byte };
active proctype P() { byte x, y; if :: x = 1 :: x = 2 fi; (x > 0); skip; _ = x; skip; y = 4; c!y,1; c?_,y; skip }
