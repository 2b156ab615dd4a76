chan c = [0] of { byte, bit }; chan d[2] = [0] of { byte }; byte x;
active [2] proctype S() { if :: c!_pid,1 :: d[_pid]!3 :: d[1]!4 fi }
active [2] proctype R() { byte v; do :: c?eval(_pid-2),_ -> x = 1 :: c?v,1 -> x = v :: d[_pid-2]?v -> x = v :: c?0,0 od }
