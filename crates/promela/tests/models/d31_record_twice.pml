typedef R { byte a[2]; byte b[2] }
active proctype P() { R r; byte i, j; if :: j = 0 :: j = 1 fi; i = 1; skip; r.b[1] = 1; (j >= 0); if :: r.a[i] + r.b[j] > 0 -> skip :: else -> skip fi; skip }
