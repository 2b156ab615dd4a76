byte x;
active proctype A() { do :: x < 3 -> x++; assert(x != 2) :: else -> break od; assert(false) }
active proctype B() { atomic { assert(x < 2); x = 0; assert(x) } }
