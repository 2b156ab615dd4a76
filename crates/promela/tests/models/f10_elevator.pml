/* Elevator: floors, doors, calls; priority to the direction of travel */
#define FLOORS 3
#define TOP (FLOORS - 1)
mtype = { up, down, idle };
mtype dir = idle;
bool call[FLOORS];
bool door_open[FLOORS];
unsigned at : 3 = 0;
chan motor = [0] of { mtype };
chan arrived = [0] of { byte };

#define closed (!door_open[0] && !door_open[1] && !door_open[2])

inline look(result, from, to, by) {
    short z;
    result = false;
    z = from;
    do
    :: z == to -> break
    :: else -> result = (call[z] -> true : result); z = z + by
    od
}

active proctype Cabin() {
    mtype m;
end:
    do
    :: motor?m ->
        assert(closed);
        if
        :: m == up && at < TOP -> at++
        :: m == down && at > 0 -> at--
        :: else -> assert(false)
        fi;
        arrived!at
    od
}

active proctype Control() {
    byte floor;
    bool above, below;
end:
    do
    :: call[floor] ->
        door_open[floor] = true;
        call[floor] = false;
        door_open[floor] = false
    :: !call[floor] ->
        atomic {
            d_step { look(above, floor + 1, FLOORS, 1) };
            d_step { look(below, floor - 1, -1, -1) };
            if
            :: above && (dir == up || !below) -> dir = up; motor!up
            :: below && (dir != up || !above) -> dir = down; motor!down
            :: !above && !below -> dir = idle; (call[0] || call[1] || call[2]); goto next
            fi
        };
        arrived?floor;
        assert(floor == at);
next:   skip
    od
}

active proctype Users() {
    byte f;
    do
    :: select (f : 0 .. TOP);
       if
       :: !call[f] -> call[f] = true
       :: call[f]
       fi
    od
}
