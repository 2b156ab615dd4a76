byte x, y;
active proctype A() { do :: if :: x == 1 -> y = 1 :: else -> y = 2 fi :: x < 2 -> x++ :: x == 2 -> break od }
