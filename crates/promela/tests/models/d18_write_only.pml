mtype = { red, green };
byte pick_ed; byte plus = 1, sum, copied, arr[3], one[1], printed, received, looped, chosen, child; show byte shown; int self; bit b; short s; unsigned u : 3; mtype m; pid who;
typedef R { byte f } R r; chan c = [1] of { byte };
proctype C() { skip }
active proctype P() {
  if :: plus++ :: sum = sum + 1 :: arr[2] = 1 :: one[0] = 3 fi;
  arr[0]++; printed = 2; printf("%d %d\n", printed, arr[0]); c!1; c?received;
  for (looped : 1 .. 2) { skip }; select (chosen : 1 .. 3); select (pick_ed : 1 .. 2); child = run C(); who = _pid;
  if :: shown = 1 :: shown = 2 fi; if :: b = 1 :: s = -2 :: u = 9 :: m = red :: m = green fi; self = 7; self--; r.f = 2; copied = self
}
