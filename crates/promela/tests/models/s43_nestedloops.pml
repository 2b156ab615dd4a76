byte i, j;
active proctype A() { do :: i < 2 -> j = 0; do :: j < 2 -> j++ :: else -> break od; i++ :: i == 2 -> break od; for (i : 1 .. 2) { for (j : i .. 2) { if :: j == 2 -> break :: else -> skip fi } } }
