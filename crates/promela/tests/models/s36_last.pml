byte x;
active proctype A() { atomic { x = 1; x = _last }; x = 2 }
active proctype B() { do :: _last == 0 -> x = 3 :: _last != 0 && x == 3 -> break od }
