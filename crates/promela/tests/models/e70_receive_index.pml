byte i; byte a[3]; chan q = [1] of { byte };
active proctype P() { byte k; k = 1; if :: q?eval(a[i]) :: k == 1 fi; end: q?eval(a[k]) }
active proctype Q() { q!4; i = 5; i = 0; q?_; i = 6; i = 1 }
