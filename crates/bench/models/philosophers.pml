/* Thirteen philosophers who put the first fork back if they have waited long enough. */
#define N 13
byte fork[N];

active [N] proctype P() {
    do
    :: atomic { fork[_pid] == 0 -> fork[_pid] = 1 };
       if
       :: atomic { fork[(_pid + 1) % N] == 0 -> fork[(_pid + 1) % N] = 1 };
          fork[(_pid + 1) % N] = 0
       :: true
       fi;
       fork[_pid] = 0
    od
}
