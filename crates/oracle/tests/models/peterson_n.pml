/* Peterson's algorithm for N customers, at the level where a step touches at most one variable
   that others touch, too: figure 2 of A. Valmari, "Stop It, and Be Stubborn!" (ACSD 2015), with
   the changes of its section II ("correct": gates are counted from one, customers may stop). */
#ifndef N
#define N 2
#endif

byte Q[N];      /* the gate that each customer has announced */
byte T[N];      /* the customer without priority at each gate; the last is not used */

active [N] proctype customer()
{   byte j, k;

idle:
    if
    :: j = 0
    :: goto stopped
    fi;
gate:
    if
    :: j >= N - 1 -> goto critical
    :: j < N - 1
    fi;
    Q[_pid] = j + 1;
    T[j] = _pid;
turn:
    if
    :: atomic { T[j] != _pid -> j++ }; goto gate
    :: atomic { T[j] == _pid -> k = 0 }
    fi;
others:
    if
    :: atomic { k >= N -> j++ }; goto gate
    :: k < N
    fi;
    if
    :: atomic { k == _pid || Q[k] <= j -> k++ }; goto others
    :: k != _pid && Q[k] > j -> goto turn
    fi;
critical:
    Q[_pid] = 0;
    goto idle;
stopped:
end: false
}
