byte x = 1;
active proctype A() { byte y = 2; { byte w = 3; y = w; { byte z; z = y; z++ }; y = w }; { byte w; w = y }; x = y; if :: byte z = 4; x = z :: x = 5 fi; z = 6 }
