byte g;
proctype C(byte a, b; chan q) { byte t; (a > 0); t = b; q!t; skip; g = t }
init { byte x, y, p; chan q = [2] of { byte }; if :: x = 1 :: x = 2 fi; y = 3; run C(x, y, q); skip; p = run C(1, 2, q); skip; q?y; (g > 0); (_nr_pr == 1) }
