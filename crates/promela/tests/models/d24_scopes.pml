byte g;
active proctype P() { byte x; x = 1; { byte w = 2; (w > 1); { byte y; y = 3; skip }; skip }; (x > 0); skip; do :: byte k; k = g; g = g + 1; if :: k > 1 -> break :: else -> skip fi; skip od; byte t = g; (t > 0); skip }
