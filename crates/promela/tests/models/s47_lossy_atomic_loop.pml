byte x, n;
active proctype A() { do :: atomic { n < 2 -> n++; if :: x = 1 :: x = 2 :: skip fi; if :: x == 1 -> x = 3 :: else -> x = x fi } :: n >= 2 -> break od }
active proctype B() { atomic { x == 3 -> x = 0; do :: x < 2 -> x++ :: break od } }
