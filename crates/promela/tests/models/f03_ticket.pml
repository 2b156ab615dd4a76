/* Ticket lock with fetch-and-add, wrapping counters */
#define N 2
#define WRAP 8
typedef Lock { byte next; byte owner; bit taken };
Lock l;
int counter;

inline fetch_and_inc(field, result) {
    d_step { result = field; field = (field + 1) % WRAP }
}

active [N] proctype Worker() {
    byte my;
    byte rounds = 0;
    do
    :: rounds < 2 ->
        fetch_and_inc(l.next, my);
        (l.owner == my);
        assert(!l.taken);
        l.taken = 1;
        counter = counter + 1;
        l.taken = 0;
        fetch_and_inc(l.owner, my);
        rounds++
    :: else -> break
    od;
end:
    assert(counter <= 2 * N)
}
