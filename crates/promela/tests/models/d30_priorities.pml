byte g;
active proctype P() priority 2 { byte p, x; if :: x = 1 :: x = 2 fi; p = _pid; set_priority(p, x); skip; (get_priority(p) > 0); skip; g = 1 }
active proctype Q() { byte y; if :: y = 1 :: y = 2 fi; (y > 0); (g == 1) }
