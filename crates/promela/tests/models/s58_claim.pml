byte x; chan q = [1] of { byte };
active proctype A() { do :: x < 3 -> x++ :: x == 3 -> x = 0; L: q!1 od }
active proctype B() { byte v; q?v; q?v; timeout -> x = 9 }
never { do :: skip :: x == 2 -> goto accept1 od; accept1: do :: x < 3 || A@L :: nempty(q) -> break :: else -> assert(x != 3) od }
