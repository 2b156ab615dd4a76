/* Sliding window (go back N), lossy and duplicating medium */
#define W 2
#define M 4
#define K 6     /* messages in all */
#define inc(x) x = (x + 1) % M

chan data = [2] of { byte, byte };
chan data_out = [2] of { byte, byte };
chan acks = [2] of { byte };

#define within(a, b, c) (((a) <= (b) && (b) < (c)) || ((c) < (a) && (a) <= (b)) || ((b) < (c) && (c) < (a)))

active proctype Sender() {
    byte base, next_seq, sent, acked, a, i;
    do
    :: acked == K -> break
    :: acked < K ->
        if
        :: sent < K && (next_seq - base + M) % M < W ->
            data!next_seq, sent;
            inc(next_seq); sent++
        :: acks?a ->
            do
            :: base != next_seq && within(base, a, next_seq) && base != (a + 1) % M -> inc(base); acked++
            :: else -> break
            od
        :: timeout ->
            next_seq = base; sent = acked
        fi
    od
}

active proctype Medium() {
    byte s, v;
end:
    do
    :: data?s, v ->
        if
        :: data_out!s, v
        :: printf("lost %d\n", v)
        fi
    od
}

active proctype Receiver() {
    byte expected, s, v, want;
end:
    do
    :: data_out?s, v ->
        if
        :: s == expected ->
            assert(v == want);
            want++;
            inc(expected);
        :: else
        fi;
        acks!(expected + M - 1) % M
    od
}
