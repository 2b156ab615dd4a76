byte x, p;
active proctype A() { x = 1; if :: x == 1 -> x = 2 :: else fi; atomic { x = 3; x = 4 }; do :: x < 6 -> x++ :: x == 6 -> break od }
active proctype B() { do :: p = pc_value(0); if :: p > 20 -> break :: else fi :: x == 6 -> break od }
