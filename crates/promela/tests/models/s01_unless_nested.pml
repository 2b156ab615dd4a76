byte x, y, z;
active proctype A() { { { do :: x < 3 -> x++ od } unless { y == 1 -> y = 2 }; z = 5 } unless { z == 1 -> z = 2 } }
active proctype B() { y = 1; z = 1 }
