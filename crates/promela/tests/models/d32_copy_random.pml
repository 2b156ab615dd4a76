chan c = [3] of { byte, byte };
active proctype S() { byte x = 1; do :: x < 3 -> c!x,x; x++ :: else -> break od }
active proctype R() { byte a, b; c?<a,b>; skip; c??2,a; skip; if :: b = 1 :: b = 2 fi; c??eval(b),a; skip; (a >= 0) }
