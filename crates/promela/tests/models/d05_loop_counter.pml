byte n;
active proctype P() { byte i, j; do :: i < 3 -> j = i; i++; n = n + j :: i >= 3 -> break od; skip; j = 0; do :: j < 2 -> j++ :: else -> break od; (n > 0) }
active proctype Q() { byte k; for (k : 1 .. 3) { skip }; skip }
