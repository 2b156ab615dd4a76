chan c[3] = [1] of { byte, chan }; chan d = [0] of { chan }; byte g;
proctype W(byte i; chan o) { chan z; byte v; c[i]?v,z; z!o; g = g + v }
init { chan mine = [1] of { chan }; chan got; atomic { run W(0, mine); run W(1, d) }; c[0]!1,mine; c[1]!2,mine; mine?got; mine?got }
