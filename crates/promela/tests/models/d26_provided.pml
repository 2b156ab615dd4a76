byte g = 1;
proctype P(byte a) provided (g > 0) { byte x; x = a; (x > 0); skip; a > 0; g = 0; skip }
init { run P(1); run P(2); (g == 0); g = 1 }
