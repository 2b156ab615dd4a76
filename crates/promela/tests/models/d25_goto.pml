byte g;
active proctype P() { byte x, y; again: x = g; if :: x > 1 -> goto out :: x <= 1 -> y = x; g = g + 1 fi; if :: y > 0 -> goto again :: y == 0 -> y = 1; goto again fi; out: y = 3; if :: goto fin :: y > 0 -> skip fi; fin: skip }
