chan q = [1] of { byte }; byte x; local byte l; show byte s;
active D_proctype A() { xr q; x = 1; l = 2; s = 3; do :: x < 3 -> x++ :: x == 3 -> break od }
