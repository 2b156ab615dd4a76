/* Raft: leader election, terms bounded */
#define N 2
#define MAXTERM 2
#define MAJORITY (N / 2 + 1)
#define send_to(p, t, from, term) if :: nfull(box[p]) -> box[p]!t, from, term :: full(box[p]) fi

mtype = { request_vote, vote, follower, candidate, leader };
typedef Node { mtype role; byte term; byte voted_for; byte votes }
Node node[N];
chan box[N] = [2] of { mtype, byte, byte };
byte leader_of[MAXTERM + 1];   /* 255: none */

inline step_down(me, t) {
    atomic { node[me].role = follower; node[me].term = t; node[me].voted_for = 255; node[me].votes = 0 }
}

proctype Server(byte me) {
    byte from, t, i;
end_idle:
    do
    :: node[me].role != leader && node[me].term < MAXTERM ->
        atomic {
            node[me].role = candidate;
            node[me].term++;
            node[me].voted_for = me;
            node[me].votes = 1;
        }
        for (i : 0 .. N - 1) {
            if
            :: i != me -> send_to(i, request_vote, me, node[me].term)
            :: else
            fi
        }
    :: box[me]?request_vote, from, t ->
        if
        :: t > node[me].term -> step_down(me, t)
        :: else
        fi;
        if
        :: t == node[me].term && (node[me].voted_for == 255 || node[me].voted_for == from) ->
            node[me].voted_for = from;
            send_to(from, vote, me, t)
        :: else
        fi
    :: box[me]?vote, from, t ->
        if
        :: t == node[me].term && node[me].role == candidate ->
            node[me].votes++;
            if
            :: node[me].votes >= MAJORITY ->
                node[me].role = leader;
                assert(leader_of[t] == 255 || leader_of[t] == me);
                leader_of[t] = me
            :: else
            fi
        :: else
        fi
    od
}

init {
    byte i;
    atomic {
        for (i in node) { node[i].role = follower; node[i].voted_for = 255 }
        for (i in leader_of) { leader_of[i] = 255 }
        for (i : 0 .. N - 1) { run Server(i) }
    }
}
