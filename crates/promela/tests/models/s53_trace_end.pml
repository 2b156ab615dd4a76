mtype = { a, b }; chan q = [1] of { mtype };
trace { q?a; endx: q?b; q?b }
active proctype A() { q!a; if :: q!b :: skip fi; q!b }
active proctype B() { end: do :: q?_ od }
