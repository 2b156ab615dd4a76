byte g;
active proctype P() { byte x, y; { if :: x = 1 :: x = 2 fi; x > 0; y = 1; skip; skip } unless { (g == 1) -> (x > 0); skip }; (y < 3); skip }
active proctype Q() { byte z; { z = 1; (z > 0); z = 2; skip } unless { (g == 1) }; g = 1; (z > 0) unless { z == 1 -> skip } ; skip }
