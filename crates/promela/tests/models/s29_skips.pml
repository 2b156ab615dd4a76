byte x;
active proctype A() { do :: x < 2 -> skip; skip; skip; x++ :: x == 2 -> skip; printf("a"); skip; skip; break od; skip; skip }
