byte x, y, z, w;
ltl one { [] (x < 5) }
never two { do :: (y > 3) :: else od }
active proctype P() { if :: x = 1 :: x = 2 fi; if :: y = 1 :: y = 2 fi; if :: z = 1 :: z = 2 fi; if :: w = 1 :: w = 2 fi }
