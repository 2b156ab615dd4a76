active proctype P() { byte x; if :: x = 1 :: x = 2 fi; x > 0; L: skip; skip }
active proctype Q() { byte y; if :: y = 1 :: y = 2 fi; y > 0; (P@L); skip }
