active [2] proctype P() { byte x; if :: x = 1 :: x = 2 fi; (x > 0); if :: false -> (x > 1) :: skip :: (1 > 2) -> skip fi; skip; x = 3; if :: false -> x > 2; skip :: skip -> skip fi; skip }
