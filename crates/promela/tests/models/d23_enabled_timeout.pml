byte g;
active proctype P() { byte p; if :: p = 1 :: p = 2 fi; (enabled(p) || p == 1); skip; g = 1; (g == 2) }
active proctype Q() { byte x; x = 2; (x > 1 && timeout) -> skip; x = 5; g = 2 }
active proctype O() { (g == 1) }
