byte x;
active proctype A(){ x = 1; set_priority(1, 5); x = 2; x=3 }
active proctype B(){ x = 4; x=5; set_priority(0, get_priority(1)+1); x=6; _priority = 2; x = 7 }
