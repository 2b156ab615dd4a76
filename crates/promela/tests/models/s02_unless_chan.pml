chan q = [1] of { byte }; chan r = [0] of { byte }; byte v, w;
active proctype A() { { do :: r!1 :: q!2 :: w < 2 -> w++ od } unless { q?v -> w = 9 } }
active proctype B() { byte k; r?k; r?k }
