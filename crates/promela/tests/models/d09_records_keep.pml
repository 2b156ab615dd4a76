typedef R { byte x; byte a[2] }
active proctype P() { R r, s[2]; byte i, j; if :: r.x = 1 :: r.x = 2 fi; (r.x > 0); i = 1; (r.a[i] == 0); if :: j = 0 :: j = 1 fi; (s[j].x == 0); s[j].a[j] = 1; skip }
