byte x;
active proctype A() { goto LB; LA: x = 1; goto LC; LB: if :: goto LA :: skip -> goto LD :: x == 7 fi; LC: do :: break :: x == 3 -> goto LE od; LD: skip; LE: { x = 2; { x = 3; x = 4 } } }
