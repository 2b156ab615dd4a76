chan c = [2] of { byte }; byte seen;
active proctype S() { c!1; c!2; c!3 }
active proctype R() { byte v; c?v; skip; c?v; seen = v; c?v; skip }
active proctype O() { (seen > 0) }
