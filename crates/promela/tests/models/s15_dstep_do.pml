byte x, y;
active proctype A() { do :: d_step { do :: x < 3 -> x++ :: y < 2 -> y++; break :: else -> break od } :: x == 3 && y == 2 -> break od }
