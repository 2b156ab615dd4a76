chan q = [2] of { bit }; chan r = [0] of { byte }; byte n;
active proctype A() { do :: nfull(q) -> q!n; n++ :: full(q) -> break od; assert(len(q) == 2 && nempty(q) && !(n == 3)); do :: empty(q) -> break :: q?_ od; assert(empty(r) && nfull(r) && len(r) == 0) }
