//! A model of one's own, in one file: a lift that must not move with its door open.
//!
//! `cargo run --example lift` verifies it; `cargo run --example lift -- --variant hasty` finds what is wrong
//! with a lift that starts to move before its door is shut; `... -- compare` shows what reduction saves.

use stubborn::prelude::*;

const SHUT: usize = 0;
const OPEN: usize = 1;

/// One lift, a door and a call button on each floor.
struct Lift {
    layout: Layout,
    floors: usize,
    /// Whether it waits for the door.
    careful: bool,
    at: Var,
    moving: Var,
    door: Var,
    called: Array,
    closed_for_the_night: Var,
}

impl Lift {
    fn new(floors: usize, careful: bool) -> Self {
        let mut layout = Layout::new();
        let at = layout.var("at", 0..=floors - 1);
        let moving = layout.named("moving", &["no", "up", "down"]);
        let door = layout.named("door", &["shut", "open"]);
        let called = layout.array("called", floors, 0..=1);
        let closed_for_the_night = layout.named("house", &["open", "closed"]);
        Self { layout, floors, careful, at, moving, door, called, closed_for_the_night }
    }

    /// Whether the lift is called to a floor above (or below) the one where it is.
    fn is_called(&self, s: &State<'_>, up: bool) -> bool {
        let at = s.get(self.at);
        (0..self.floors).any(|floor| {
            let beyond = if up { floor > at } else { floor < at };
            beyond && s.is(self.called[floor], 1)
        })
    }
}

impl Model for Lift {
    fn name(&self) -> String {
        format!("{} lift with {} floors", if self.careful { "careful" } else { "hasty" }, self.floors)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn n_transitions(&self) -> usize {
        self.floors + 6
    }

    fn transition_name(&self, t: usize) -> String {
        let rest = ["start up", "start down", "arrive", "open", "shut", "close the house"];
        t.checked_sub(self.floors).map_or_else(|| format!("call {t}"), |i| rest[i].to_owned())
    }

    fn questions(&self) -> Vec<Question> {
        vec![
            Question::Safety,
            // Whoever has called can still be served, whatever happens; or the house has closed.
            Question::MayProgress { terminal_counts: true },
            Question::MayTerminate,
        ]
    }

    fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
        if t < self.floors {
            let may = s.is(self.closed_for_the_night, 0) && s.is(self.called[t], 0);
            if may {
                s.set(self.called[t], 1);
            }
            return may;
        }
        let may_start = |s: &State<'_>| s.is(self.moving, 0) && (!self.careful || s.is(self.door, SHUT));
        match t - self.floors {
            0 if may_start(s) && self.is_called(s, true) => s.set(self.moving, 1),
            1 if may_start(s) && self.is_called(s, false) => s.set(self.moving, 2),
            2 if s.is(self.moving, 1) => {
                s.add(self.at, 1);
                s.set(self.moving, 0);
            }
            2 if s.is(self.moving, 2) => {
                s.add(self.at, -1);
                s.set(self.moving, 0);
            }
            3 if s.is(self.moving, 0) && s.is(self.door, SHUT) && s.is(self.called[s.get(self.at)], 1) => {
                s.set(self.door, OPEN);
                s.set(self.called[s.get(self.at)], 0);
            }
            4 if s.is(self.door, OPEN) => s.set(self.door, SHUT),
            5 if s.is(self.closed_for_the_night, 0) => s.set(self.closed_for_the_night, 1),
            _ => return false,
        }
        true
    }

    fn check(&self, s: &State<'_>) -> Result<(), String> {
        if s.at_least(self.moving, 1) && s.is(self.door, OPEN) {
            return Err("the lift moves with its door open".into());
        }
        Ok(())
    }

    fn is_may_progress(&self, s: &State<'_>) -> bool {
        s.is(self.called[0], 0)
    }

    fn footprint(&self, t: usize) -> Option<Footprint> {
        let f = Footprint::new();
        if t < self.floors {
            return Some(
                f.reads(self.closed_for_the_night).reads(self.called[t]).writes_only(self.called[t], [1]),
            );
        }
        let lift = f.updates(self.at).updates(self.moving).updates(self.door).reads_all(&self.called);
        Some(match t - self.floors {
            3 => self.called.iter().fold(lift, |f, call| f.writes_only(call, [0])),
            5 => Footprint::new()
                .tests(self.closed_for_the_night, [0])
                .writes_only(self.closed_for_the_night, [1]),
            _ => lift,
        })
    }

    fn check_footprint(&self) -> Option<Footprint> {
        Some(Footprint::new().fails_by(self.moving, [1, 2]).fails_by(self.door, [OPEN]))
    }
}

fn main() -> std::process::ExitCode {
    stubborn::main_with(|params| {
        let floors = params.size.unwrap_or(4);
        if !(2..=16).contains(&floors) {
            return Err(format!("--size {floors}: a lift has 2 to 16 floors"));
        }
        match params.variant.as_deref() {
            None | Some("careful") => Ok(Box::new(Lift::new(floors, true))),
            Some("hasty") => Ok(Box::new(Lift::new(floors, false))),
            Some(other) => Err(format!("--variant {other}: a lift is `careful` or `hasty`")),
        }
    })
}
