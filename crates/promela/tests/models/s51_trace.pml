mtype = { a, b }; chan q = [2] of { mtype, byte }; chan r = [0] of { byte };
active proctype A() { byte k; q!a,1; r!3; q!b,2; q!b,3; q?_,k }
active proctype B() { byte v; q?a,v; r?v }
trace { do :: q!a,_; r!3 :: q!b,2 :: r?3 od }
