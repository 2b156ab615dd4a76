/* Peterson's algorithm for four processes, every test a step of its own. */
#define N 4
byte level[N];
byte last[N];

active [N] proctype P() {
    byte k, j;
    do
    :: k = 1;
       do
       :: k < N ->
          level[_pid] = k;
          last[k] = _pid;
          j = 0;
          do
          :: j < N ->
             if
             :: j == _pid || level[j] < k || last[k] != _pid -> j++
             fi
          :: j >= N -> break
          od;
          k++
       :: k >= N -> break
       od;
       level[_pid] = 0
    od
}
