active [2] proctype P() { byte x; if :: x = 1 :: x = 2 :: x = 3 fi; skip; x++; skip }
