/* Readers and writers with a server process and reply channels */
#define R 2
#define W 1
mtype = { start_read, end_read, start_write, end_write, granted };
typedef Client { chan reply = [0] of { mtype } };
chan request = [2] of { mtype, byte };
Client client[R + W];
byte nr, nw;

active proctype Server() {
    byte who;
    do
    :: nw == 0 -> request?start_read(who); nr++; client[who].reply!granted
    :: nr == 0 && nw == 0 -> request?start_write(who); nw++; client[who].reply!granted
    :: request?end_read(_) -> nr--
    :: request??end_write, who -> nw--
    od unless { timeout -> goto stuck };
stuck:
    printf("server gives up with %d readers, %d writers\n", nr, nw);
    assert(nr == 0 && nw == 0)
}

active [R] proctype Reader() {
    byte me = _pid - 1;
    request!start_read(me);
    client[me].reply?granted;
    assert(nw == 0);
    request!end_read(me)
}

active [W] proctype Writer() {
    byte me = _pid - 1;
    request!start_write, me;
    client[me].reply?granted;
    assert(nr == 0 && nw == 1);
    request!end_write, me
}
