byte x;
proctype W(byte n) { x = n; x = n + 1 }
init priority 3 { run W(1) priority 2; run W(5) priority 4; x = 7; run W(9) }
