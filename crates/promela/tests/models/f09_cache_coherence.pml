/* MSI cache coherence: one line, a bus as rendezvous, caches answer snoops */
#define N 2
mtype = { Invalid, Shared, Modified };
mtype = { busrd, busrdx, flush };
typedef Cache { mtype state; bit value };
Cache cache[N];
bit memory;
bit latest;
chan bus = [0] of { mtype, byte };
chan done_ = [0] of { byte };
bool locked;

inline invalidate_others(me) {
    byte q;
    for (q : 0 .. N - 1) {
        if
        :: q != me && cache[q].state == Modified -> memory = cache[q].value; cache[q].state = Invalid
        :: q != me && cache[q].state == Shared -> cache[q].state = Invalid
        :: else
        fi
    }
}

inline share_others(me) {
    byte r;
    for (r : 0 .. N - 1) {
        if
        :: r != me && cache[r].state == Modified -> memory = cache[r].value; cache[r].state = Shared
        :: else
        fi
    }
}

active proctype Bus() {
    byte who;
end:
    do
    :: bus?busrd, who ->
        atomic { share_others(who); cache[who].value = memory; cache[who].state = Shared };
        done_!who
    :: bus?busrdx, who ->
        d_step { invalidate_others(who); cache[who].value = memory; cache[who].state = Modified };
        done_!who
    od
}

proctype Cpu(byte id) {
end:
    do
    :: /* load */ skip;
        atomic {
            if
            :: cache[id].state == Invalid -> bus!busrd, id; done_?eval(id)
            :: else
            fi;
            if
            :: cache[id].state != Invalid -> assert(cache[id].value == latest)
            :: else
            fi
        }
    :: /* store */ skip;
        if
        :: cache[id].state != Modified -> bus!busrdx, id; done_?eval(id)
        :: else
        fi;
        d_step {
            if
            :: cache[id].state == Modified ->
                cache[id].value = 1 - cache[id].value;
                latest = cache[id].value
            :: else
            fi
        }
    :: /* evict */
        atomic {
            cache[id].state == Modified -> memory = cache[id].value; cache[id].state = Invalid
        }
    od
}

active proctype Watch() {
    assert(!(cache[0].state == Modified && cache[1].state == Modified))
}

init {
    byte i;
    atomic {
        for (i in cache) { cache[i].state = Invalid };
        for (i : 0 .. N - 1) { run Cpu(i) }
    }
}
