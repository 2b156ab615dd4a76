byte x, y;
active proctype P() {
  L: { { x = 1 } unless { x = 2 } } unless { x = 3 };
  if :: x == 2 -> goto L :: else fi
}
active proctype Q() {
  y = 1;
  M: { { do :: y < 3 -> y++ :: else -> break od } unless { x == 3; y = 5 } } unless { x == 2 };
  if :: y == 5 -> goto M :: else fi
}
