/* Lamport's bakery lock, bounded tickets */
#ifndef N
#define N 2
#endif
#define MAX 3

bool choosing[N];
byte number[N];
byte ncrit;

#define less(a, i, b, j) ((a) < (b) || ((a) == (b) && (i) < (j)))

inline find_max(m) {
    byte k;
    m = 0;
    for (k : 0 .. N - 1) {
        if
        :: number[k] > m -> m = number[k]
        :: else
        fi
    }
}

inline lock(me) {
    choosing[me] = true;
    d_step { find_max(mx) };
    if
    :: mx < MAX -> number[me] = mx + 1
    :: else -> number[me] = 0; choosing[me] = false; goto again
    fi;
    choosing[me] = false;
    j = 0;
    do
    :: j < N ->
        if
        :: j == me
        :: else ->
            !choosing[j];
            (number[j] == 0 || less(number[me], me, number[j], j))
        fi;
        j++
    :: else -> break
    od
}

active [N] proctype P() {
    byte mx, j;
again:
    do
    :: lock(_pid);
       ncrit++;
critical:
       assert(ncrit == 1);
       ncrit--;
       number[_pid] = 0
    od
}
