/* Go-back-n with a window of three over channels that lose messages. */
#define W 3
#define M 5
chan data = [3] of { byte };
chan acks = [3] of { byte };

active proctype Sender() {
    byte base, next, a;
    do
    :: (next + M - base) % M < W && nfull(data) -> data!next; next = (next + 1) % M
    :: acks?a ->
       if
       :: (a + M - base) % M <= W -> base = a
       :: else
       fi;
       a = 0
    :: next != base -> next = base
    od
}

active proctype Receiver() {
    byte want, got;
    do
    :: data?got ->
       if
       :: got == want -> want = (want + 1) % M
       :: else
       fi;
       got = 0;
       if
       :: nfull(acks) -> acks!want
       :: true
       fi
    od
}

active proctype Loss() {
    do
    :: data?_
    :: acks?_
    od
}
