chan c = [0] of { byte, bit }; chan d[2] = [0] of { byte }; 
active [2] proctype S() { if :: c!_pid,1 :: d[_pid]!3 :: d[1]!4 fi }
active [2] proctype R() { byte v; do :: c?eval(_pid-2),_ -> skip :: c?v,1 -> (v<9) :: d[_pid-2]?v -> (v<9) :: c?0,0 od }
