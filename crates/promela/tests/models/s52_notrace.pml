mtype = { a, b }; chan q = [1] of { mtype };
notrace { q!a; q?a; q!b }
active proctype A() { do :: q!a :: q!b; break od }
active proctype B() { end: do :: q?_ od }
