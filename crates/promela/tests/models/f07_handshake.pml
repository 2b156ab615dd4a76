/* TCP three-way handshake with resets, simultaneous open, and loss */
mtype = { syn, syn_ack, ack, rst, fin };
mtype = { Closed, Listen, SynSent, SynRcvd, Established, CloseWait };
chan wire[2] = [2] of { mtype };
mtype st[2] = { Closed, Closed };

#define peer (1 - me)
#define both_up (st[0] == Established && st[1] == Established)

inline emit(m) {
    if
    :: wire[peer]!m
    :: skip /* lost */
    fi
}

proctype Endpoint(bit me; bool active_open) {
    if
    :: active_open -> st[me] = SynSent; emit(syn)
    :: else -> st[me] = Listen
    fi;
    do
    :: st[me] == Listen -> wire[me]?syn -> st[me] = SynRcvd; emit(syn_ack)
    :: st[me] == SynSent && wire[me]?[syn_ack] -> wire[me]?syn_ack; st[me] = Established; emit(ack)
    :: st[me] == SynSent && wire[me]?[syn] -> wire[me]?syn; st[me] = SynRcvd; emit(syn_ack)
    :: st[me] == SynRcvd && (wire[me]?[ack] || wire[me]?[syn_ack]) ->
        wire[me]?_ ; st[me] = Established
    :: st[me] == SynSent && timeout -> emit(syn)
    :: st[me] == SynRcvd && timeout -> emit(syn_ack)
    :: st[me] == Established -> break
    :: wire[me]?rst -> st[me] = Closed; goto closed
    od;
    {
        do
        :: wire[me]?_ -> skip
        od
    } unless {
        if
        :: both_up
        :: timeout
        fi
    };
    assert(st[me] == Established);
closed:
    skip
}

init {
    atomic {
        run Endpoint(0, true);
        if
        :: run Endpoint(1, true)
        :: run Endpoint(1, false)
        fi
    }
}
