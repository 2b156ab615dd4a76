byte g;
proctype C(byte a; byte b) { skip; a > 0; skip; b = 1; skip }
init { run C(1, 2); run C(2, 3); g = 1; (g > 0) }
