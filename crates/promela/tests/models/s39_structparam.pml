typedef T { byte a; byte b }; T t; byte g;
proctype W(T u; byte k) { g = u.a + u.b + k; u.a = 9 }
init { t.a = 1; t.b = 2; run W(t, 4) }
