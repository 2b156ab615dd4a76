chan q = [4] of { byte, short }; byte v; short w;
active proctype A() { q!!3,-1; q!!1,7; q!!3,-5; q!!2,300; assert(q?[1,_]); assert(q??[3,-5]); assert(!(q??[9,_])); q??3,w; assert(w == -5); q??<3,w>; assert(len(q) == 3); q?v,w; q?v,w; q?v,w; assert(v == 3) }
