byte x;
proctype W() { chan c = [2] of { byte }; c!1; c!2; x = _nr_pr }
init { run W(); run W(); _nr_pr == 1; run W(); (_nr_pr == 1) -> x = 9 }
