chan q; chan r = [1] of { byte };
active proctype P() { byte x; x = 1; printf("%d %d\n", len(r), len(q)); x = 0 }
active proctype Q() { r!1; r?_ }
