mtype = { red };
active proctype P() { bool b; bit c; short s; int i; unsigned u : 4; mtype m; pid p; if :: b = 1; c = 1; s = -3; i = -70000; u = 12; m = red; p = 3 :: skip fi; (b || c || s < 0 || i < 0 || u > 0 || m == red || p > 0 || true); skip; skip }
