/* Two-phase commit with a coordinator that may crash (unless) and participants that time out */
#define N 2
mtype:msg = { prepare, vote_yes, vote_no, commit, abort_ };
mtype:st = { working, prepared, committed, aborted };
chan to_part[N] = [1] of { mtype:msg };
chan to_coord = [N] of { mtype:msg, byte };
mtype:st state[N] = working;
bool crashed = false;

proctype Participant(byte id) {
    mtype:msg m;
    if
    :: to_part[id]?prepare ->
        if
        :: state[id] = prepared; to_coord!vote_yes(id)
        :: state[id] = aborted; to_coord!vote_no(id)
        fi
    :: timeout -> state[id] = aborted; goto done
    fi;
    if
    :: to_part[id]?m ->
        if
        :: m == commit -> assert(state[id] == prepared); state[id] = committed
        :: m == abort_ -> state[id] = aborted
        fi
    :: timeout && crashed -> skip   /* blocked: stays prepared */
    fi;
done:
    skip
}

proctype Coordinator() {
    byte i, yes, id;
    mtype:msg v;
    {
        for (i : 0 .. N - 1) { to_part[i]!prepare };
        i = 0;
        do
        :: i < N -> to_coord?v, id; i++; if :: v == vote_yes -> yes++ :: else fi
        :: i == N -> break
        od;
        for (i in to_part) {
            to_part[i]!(yes == N -> commit : abort_)
        }
    } unless { crashed }
}

active proctype Crash() { if :: crashed = true :: skip fi }

init {
    byte k;
    atomic { run Coordinator(); for (k : 0 .. N - 1) { run Participant(k) } };
    (_nr_pr == 1);
    /* nobody commits while another aborts */
    assert(!((state[0] == committed || state[1] == committed) &&
             (state[0] == aborted || state[1] == aborted)))
}
