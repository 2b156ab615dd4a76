byte x, a[4], i; chan q = [2] of { byte };
active proctype A() { d_step { i = 0; do :: i < 4 -> a[i] = i * i; i++ :: i >= 4 -> break od; q!a[3]; if :: a[2] == 4 -> x = 1 :: else -> x = 2 fi; i = 0 }; d_step { q?x; x++; skip }; d_step { if :: x == 0 -> x = 1 :: x == 10 -> x = 11 :: else -> x = 3 fi } ; atomic { d_step { x = 1; x = 2 }; x = 3; d_step { x = 4; x = 5 } } }
active proctype B() { x = x; x = x }
