//! What tasks have said, as the controller sees it; and runs whose beginnings are repeated.
//!
//! A run is a sequence of moments in which nobody moves. In each one task is let go on, and until the next some say something else: both are
//! written down. If the next run begins with the same steps, the program gets the turns of that beginning all at once and takes them without asking
//! (`preload/turns.c`), which is one switch of processes per step instead of two, or none; the controller then reads what it wrote down.
//! That everybody has said the same as before is compared on both sides. If it is not so, the run is made again step by
//! step, and the engine finds what differs.
//! **Checked by** `tests/repeated.rs`: the same runs, failures and reports with and without.

use super::{Controller, code};
use crate::shared::{ANNOUNCED, MOVING, SLOTS, Slot, TEXT, TURNS, wake};
use std::sync::atomic::Ordering::SeqCst;
use stubborn_schedule::Failure;

/// A program in which beginnings differ so often is not worth the trouble.
const MOST_LOST: u32 = 3;

/// What a task has said last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) state: u32,
    pub(super) op: u32,
    pub(super) args: [u64; 4],
    pub(super) site: u64,
    pub(super) parent: usize,
    pub(super) process: u32,
    pub(super) is_thread: bool,
    pub(super) image: u32,
    serial: u32,
    print: u64,
    pub(super) blocked: u64,
    pub(super) ignored: u64,
    pub(super) restarts: u64,
    pub(super) data: Vec<u8>,
}

impl View {
    fn of(slot: &Slot) -> View {
        let op = slot.op.load(SeqCst);
        let length = slot.length.load(SeqCst) as usize;
        let n_bytes = match op {
            code::SEMOP => length.saturating_mul(6),
            code::SEND | code::TRY_SEND | code::PIPE_WRITE | code::PIPE_TRY_WRITE => length,
            code::NAME_OPEN | code::NAME_REMOVE | code::LISTEN => length,
            _ => 0,
        };
        View {
            state: slot.state.load(SeqCst),
            op,
            args: std::array::from_fn(|i| slot.arg(i)),
            site: slot.site.load(SeqCst),
            parent: slot.parent.load(SeqCst) as usize,
            process: slot.process.load(SeqCst),
            is_thread: slot.is_thread.load(SeqCst) == 1,
            image: slot.image.load(SeqCst),
            serial: slot.serial.load(SeqCst),
            print: slot.print.load(SeqCst),
            blocked: slot.blocked.load(SeqCst),
            ignored: slot.ignored.load(SeqCst),
            restarts: slot.restarts.load(SeqCst),
            data: slot.bytes(n_bytes),
        }
    }

    /// Whether the task has said nothing since.
    fn is_of(&self, slot: &Slot) -> bool {
        self.state == slot.state.load(SeqCst) && self.serial == slot.serial.load(SeqCst)
    }

    /// Two bytes of the data, as a number.
    pub(super) fn short(&self, at: usize) -> u16 {
        let byte = |i: usize| self.data.get(i).copied().unwrap_or(0);
        u16::from_le_bytes([byte(at), byte(at + 1)])
    }
}

/// A task is let go on: what it had announced, and what it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Grant {
    slot: usize,
    print: u64,
    out: u64,
    data: Option<Vec<u8>>,
    /// A signal that comes first, as the program is told.
    signal: u32,
}

/// Nobody moves: who was let go on before, and who has said something else since.
#[derive(Clone, Debug)]
struct Moment {
    grant: Option<Grant>,
    changes: Vec<(usize, View)>,
}

/// What was written down of a run.
#[derive(Debug, Default)]
pub(super) struct Log {
    moments: Vec<Moment>,
    /// How many of them are over. Those that are not are of a beginning that is repeated.
    at: usize,
    /// How many were over when each step was made.
    steps: Vec<usize>,
    granted: Option<Grant>,
    /// How many steps of the next run are those of the last.
    n_repeated: usize,
    /// Turns that the program knew before, in all.
    n_known: u64,
    /// Beginnings that were not the same when they were repeated.
    n_lost: u32,
}

impl Log {
    /// The next run begins with so many steps of the last.
    pub(super) fn repeat(&mut self, steps: usize) {
        self.n_repeated = steps;
    }

    pub(super) fn begin_step(&mut self) {
        self.steps.push(self.at);
    }

    /// Keeps the beginning that is repeated.
    fn cut(&mut self, repeats: bool) {
        let n = std::mem::take(&mut self.n_repeated);
        let kept = match self.steps.get(n) {
            _ if !repeats || n == 0 || self.n_lost >= MOST_LOST => 0,
            Some(&kept) => kept,
            None if n == self.steps.len() => self.at,
            None => 0,
        };
        self.moments.truncate(kept);
        self.steps.clear();
        self.at = 0;
        self.granted = None;
    }

    /// What everybody has said when the beginning that is repeated is over.
    fn last_views(&self) -> Vec<&View> {
        let mut last: Vec<&View> = Vec::new();
        for (slot, view) in self.moments.iter().flat_map(|moment| &moment.changes) {
            match last.get_mut(*slot) {
                Some(place) => *place = view,
                None => last.push(view),
            }
        }
        last
    }
}

impl Controller {
    /// Lets a task go on.
    pub(super) fn grant(&mut self, slot: usize, out: u64, data: Option<Vec<u8>>) {
        self.let_go_on(Grant { slot, print: self.views[slot].print, out, data, signal: 0 });
    }

    /// Lets a task take a signal.
    pub(super) fn grant_signal(&mut self, slot: usize, signal: u32) {
        self.let_go_on(Grant { slot, print: self.views[slot].print, out: 0, data: None, signal });
    }

    fn let_go_on(&mut self, grant: Grant) {
        if self.log.at >= self.log.moments.len() {
            let slot = &self.shared.slots[grant.slot];
            if let Some(data) = &grant.data {
                slot.set_bytes(data);
            }
            slot.out.store(grant.out, SeqCst);
            slot.signal.store(grant.signal, SeqCst);
            self.shared.running.fetch_add(1, SeqCst);
            slot.state.store(MOVING, SeqCst);
            wake(&slot.state);
        }
        self.log.granted = Some(grant);
    }

    /// Waits until nobody moves, and looks who has said what.
    pub(super) fn next_moment(&mut self) -> Result<(), Failure> {
        let grant = self.log.granted.take();
        if let Some(moment) = self.log.moments.get(self.log.at) {
            if moment.grant != grant {
                let why = "a beginning was repeated in another way, which is a mistake of the verifier";
                return Err(Failure::limit(0, why));
            }
        } else {
            self.wait_until_quiet()?;
            let n = (self.shared.n_slots.load(SeqCst) as usize).min(SLOTS);
            let slots = self.shared.slots[..n].iter().enumerate();
            let has_changed =
                |(i, slot): &(usize, &Slot)| self.views.get(*i).is_none_or(|view| !view.is_of(slot));
            let changes = slots.filter(has_changed).map(|(i, slot)| (i, View::of(slot))).collect();
            self.log.moments.push(Moment { grant, changes });
        }
        for (slot, view) in &self.log.moments[self.log.at].changes {
            match self.views.get_mut(*slot) {
                Some(place) => place.clone_from(view),
                None => self.views.push(view.clone()),
            }
        }
        self.log.at += 1;
        Ok(())
    }

    /// Begins a run; if it begins like the last one, with all turns of that beginning at once.
    pub(super) fn begin_run(&mut self) -> Result<(), Failure> {
        self.views.clear();
        self.log.cut(!self.settings.is_stepwise);
        self.give_turns();
        self.start_main();
        if self.log.moments.is_empty() {
            return Ok(());
        }
        if self.wait_until_quiet().is_ok() && self.is_repeated() {
            return Ok(());
        }
        self.log.n_lost += 1;
        self.log.moments.clear();
        self.clear();
        if self.server.is_none() {
            self.begin_server().map_err(|trouble| Failure::limit(0, trouble.to_string()))?;
        }
        self.give_turns();
        self.start_main();
        Ok(())
    }

    /// Tells the program the turns of the beginning, as many as there is room for.
    fn give_turns(&mut self) {
        let (mut n_turns, mut n_bytes) = (0, 0);
        let mut kept = 0;
        for moment in &self.log.moments {
            if let Some(Grant { slot, print, out, data, signal }) = &moment.grant {
                let length = data.as_ref().map_or(0, Vec::len);
                if n_turns == TURNS || n_bytes + length > TEXT {
                    break;
                }
                let data = data.as_ref().map(|data| (n_bytes, data.as_slice()));
                self.shared.set_turn(n_turns, (*slot, *print), (*out, *signal), data);
                (n_turns, n_bytes) = (n_turns + 1, n_bytes + length);
            }
            kept += 1;
        }
        self.log.moments.truncate(kept);
        self.log.n_known += n_turns as u64;
        self.shared.taken.store(0, SeqCst);
        self.shared.n_turns.store(n_turns as u32, SeqCst);
    }

    /// Whether all turns were taken, and everybody has said what was written down.
    fn is_repeated(&self) -> bool {
        let last = self.log.last_views();
        let said = |(slot, view): (&Slot, &&View)| {
            view.is_of(slot) && (view.state != ANNOUNCED || view.print == slot.print.load(SeqCst))
        };
        self.shared.taken.load(SeqCst) == self.shared.n_turns.load(SeqCst)
            && self.shared.n_slots.load(SeqCst) as usize == last.len()
            && self.shared.slots.iter().zip(&last).all(said)
    }

    /// Starts the program once more.
    fn start_main(&mut self) {
        let main = &self.shared.slots[0];
        main.process.store(0, SeqCst);
        main.is_thread.store(0, SeqCst);
        main.site.store(0, SeqCst);
        main.os_pid.store(0, SeqCst);
        main.os_tid.store(0, SeqCst);
        main.image.store(0, SeqCst);
        main.serial.store(0, SeqCst);
        main.args[3].store(0, SeqCst);
        main.state.store(MOVING, SeqCst);
        self.shared.has_signals.store(u32::from(self.learned.has_signals), SeqCst);
        self.shared.n_slots.store(1, SeqCst);
        self.shared.n_processes.store(1, SeqCst);
        self.shared.n_sets.store(0, SeqCst);
        self.shared.n_pipes.store(0, SeqCst);
        self.shared.running.store(1, SeqCst);
        self.run += 1;
        self.shared.wanted.store(self.run, SeqCst);
        wake(&self.shared.wanted);
    }
}

#[cfg(test)]
mod tests {
    use crate::Run;
    use crate::controller::Controller;
    use std::path::Path;
    use std::process::Command;
    use stubborn_schedule::{Algorithm, Explorer, Options};

    /// Explores, and gives how many turns were known before and how many beginnings were not the same.
    fn known_turns(name: &str, words: &[&str]) -> (u64, u32, u64) {
        let own = format!("stubborn-views-{}-{name}", std::process::id());
        let program = std::env::temp_dir().join(own);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(format!("{name}.c"));
        let status = Command::new("gcc").args(["-w", "-pthread", "-o"]).arg(&program).arg(source).status();
        assert!(status.expect("gcc").success());
        let path = program.to_string_lossy().into_owned();
        let run = Run::new(std::iter::once(&*path).chain(words.iter().copied()));
        let code = run.binary().expect("a program").code;
        let mut controller = Controller::new(run.settings, code).expect("it starts");
        let options =
            Options { algorithm: Algorithm::Dfs, max_runs: Some(50), keep_going: true, ..Options::default() };
        let steps = Explorer::new(&mut controller, options).explore().stats.steps;
        // What is temporary; nobody needs it any more.
        let _ = std::fs::remove_file(&program);
        (controller.log.n_known, controller.log.n_lost, steps)
    }

    #[test]
    fn most_turns_are_known_before() {
        for (name, words) in
            [("pphil", vec!["3", "ordered"]), ("phil", vec!["3"]), ("named", vec!["counting"])]
        {
            let (n_known, n_lost, steps) = known_turns(name, &words);
            assert!(n_lost == 0 && 2 * n_known > steps, "{name}: {n_known} of {steps}, {n_lost} lost");
        }
    }

    #[test]
    fn a_beginning_that_differs_is_not_taken_for_the_same() {
        let file = std::env::temp_dir().join(format!("stubborn-views-{}", std::process::id()));
        let (_, n_lost, _) = known_turns("odd", &["wanders", &file.to_string_lossy()]);
        let _ = std::fs::remove_file(&file);
        assert!(n_lost > 0);
    }
}
