/* Szymanski's mutual exclusion */
#define N 2
mtype = { outside, waiting, door_open, door_shut, inside };
mtype flag[N] = outside;
byte in_cs;

proctype Proc(byte id) {
    byte i;
    do
    :: true ->
progress_try:
        flag[id] = waiting;
        /* await all in {outside, waiting, door_open} */
        i = 0;
        do
        :: i == N -> break
        :: i < N && (flag[i] == outside || flag[i] == waiting || flag[i] == door_open) -> i++
        od;
        flag[id] = door_shut;
        i = 0;
        do
        :: i < N && flag[i] != waiting -> i++
        :: i < N && flag[i] == waiting ->
            flag[id] = door_open;
            /* wait for somebody inside */
            if
            :: flag[0] == inside
            :: flag[1] == inside
            fi;
            break
        :: i == N -> break
        od;
        flag[id] = inside;
        i = 0;
        do
        :: i < id && (flag[i] == outside || flag[i] == waiting) -> i++
        :: i >= id -> break
        od;
        in_cs++;
        assert(in_cs == 1);
        in_cs--;
        i = id + 1;
        do
        :: i < N && (flag[i] == outside || flag[i] == waiting || flag[i] == inside) -> i++
        :: i >= N -> break
        od;
        flag[id] = outside
    od
}

init {
    byte p;
    atomic {
        for (p : 0 .. N - 1) { run Proc(p) }
    }
}
