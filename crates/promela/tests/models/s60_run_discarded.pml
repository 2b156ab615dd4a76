/* `_ = run`: the number of the new process is thrown away. */
byte g;
chan q = [1] of { byte };

proctype P(byte x; chan c) {
    byte k = x + 1;
    c!k;
    g = x
}

init {
    byte n = 2;
    byte y;
    do
    :: n > 0 -> atomic { _ = run P(n, q); n-- }
    :: q?y -> g = y; _ = y + 1
    :: n == 0 -> break
    od
}
