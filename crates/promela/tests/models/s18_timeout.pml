byte x; chan q = [1] of { byte };
active proctype A() { byte v; do :: q?v -> x = v :: timeout -> x = 9; break od }
active proctype B() { q!1; q!2; timeout -> atomic { x = 3; timeout; x = 4 } }
