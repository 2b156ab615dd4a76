chan c = [0] of { byte }; chan d = [0] of { byte }; byte x;
active proctype A() { atomic { c!1; x++; d!2; x++ } }
active proctype B() { byte v; atomic { c?v; x = x + 2; d?v; x = x + 2 } }
active proctype C() { byte v; do :: atomic { d?v -> x = x + 5; x++ } :: x = x; break od }
