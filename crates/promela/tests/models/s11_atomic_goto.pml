byte x;
active proctype A() { atomic { x = 1; if :: x == 1 -> goto out :: x == 2 -> x = 3 fi; x = 4 }; out: x = 5; atomic { x = 6; goto in; x = 7 }; skip; atomic { x = 8; in: x = 9; x = 10 } }
active proctype B() { x == 5; x = x }
