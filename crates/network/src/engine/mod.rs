//! The engine: the successors of a state, fast.
//!
//! **Implements** what [`Network::expand`] means, on a compiled program: the same successors with the same
//! numbers in the same order, and nothing allocated per state. Where something goes wrong in a state, or a
//! thing occurs that is too rare to be compiled, the state is left to the reference, so the engine itself
//! knows no events.
//! **Differs** from the reference in how it notices an atomic sequence that does not end: a state on the way
//! is compared with one earlier state only, whose depth is a power of two. That finds every endless sequence
//! sooner or later, and then the reference judges.
//! **Checked by** `tests/all/engine.rs` of the Promela front-end, which compares both state by state.

mod compile;
mod evaluate;
mod layout;
mod moves;
mod notes;
mod perform;
mod program;
mod traced;

use crate::check::is_safety;
use crate::expand::{LONGEST_ATOMIC, MOST_ATOMIC};
use crate::{Expr, Network};
use layout::Layout;
use moves::{Move, Moves, Wanted};
use notes::Notes;
use program::{Code, Program};
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};
use stubborn_system::{Batch, Fault, TransitionId};
pub use traced::Traced;

/// Makes successors, and notes which steps were done.
#[derive(Debug)]
pub struct Engine<'n> {
    network: &'n Network,
    program: Option<&'n Program>,
    room: Box<Room>,
    n_referred: u64,
}

/// An expression over globals and remote references, compiled.
#[derive(Debug)]
pub struct Condition(Code);

/// What an engine works in.
#[derive(Debug, Default)]
struct Room {
    layout: Layout,
    moves: Moves,
    /// The state on the way of an atomic sequence that is looked at, and its segments.
    current: Vec<u8>,
    current_layout: Layout,
    path: Vec<Node>,
    notes: Notes,
}

/// The moves from a state on the way of an atomic sequence.
#[derive(Debug)]
struct Node {
    /// The first of them, and where its bytes begin.
    first: usize,
    bytes: usize,
    /// The next to be looked at.
    next: usize,
    end: usize,
}

/// A program that is made when it is first needed, and room to run it in. Copies begin without.
#[derive(Default)]
pub struct Compiled {
    program: OnceLock<Option<Box<Program>>>,
    room: Mutex<Option<Box<Room>>>,
}

impl Clone for Compiled {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The program adds nothing to what a network is.
impl PartialEq for Compiled {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compiled")
    }
}

impl Network {
    /// A new engine for this network.
    pub fn engine(&self) -> Engine<'_> {
        let program = self.compiled.program.get_or_init(|| compile::program(self).map(Box::new));
        let mut room = Box::<Room>::default();
        room.moves.executed = vec![false; self.n_steps];
        Engine { network: self, program: program.as_deref(), room, n_referred: 0 }
    }

    /// The successors by an engine that is kept.
    pub(crate) fn successors_by_engine(&self, state: &[u8], out: &mut Batch<[u8]>) -> Result<(), Fault> {
        let kept = self.compiled.room.try_lock().ok().and_then(|mut room| room.take());
        let mut engine = match kept {
            Some(room) => {
                let program = self.compiled.program.get().and_then(|program| program.as_deref());
                Engine { network: self, program, room, n_referred: 0 }
            }
            None => self.engine(),
        };
        let result = engine.successors(state, out);
        if let Ok(mut room) = self.compiled.room.try_lock() {
            *room = Some(engine.room);
        }
        result
    }
}

impl Engine<'_> {
    /// Appends all successors: the youngest process first, its steps in their order. Flags the batch if
    /// safety is violated in a step.
    pub fn successors(&mut self, state: &[u8], out: &mut Batch<[u8]>) -> Result<(), Fault> {
        let before = out.len();
        if let Some(program) = self.program {
            if self.room.expand(program, state, out) {
                return Ok(());
            }
            out.truncate(before);
        }
        self.refer(state, |_| true, out)
    }

    /// Appends those successors that begin with a step of one of the processes `pids`, in the order in which
    /// [`Engine::successors`] would. Flags the batch if safety is violated in a step of theirs.
    pub fn successors_of(
        &mut self,
        state: &[u8],
        pids: &[usize],
        out: &mut Batch<[u8]>,
    ) -> Result<(), Fault> {
        let before = out.len();
        if let Some(program) = self.program {
            let is_done = self.room.expand_some(program, state, |pid| pids.contains(&pid), out);
            // Whether it is time for `timeout` the others must tell.
            if is_done && (out.len() > before || !program.uses_timeout) {
                return Ok(());
            }
            out.truncate(before);
        }
        self.refer(state, |pid| pids.contains(&pid), out)
    }

    /// By number of the step: whether it was done in some state that was expanded here. Steps within a
    /// sequence that is one step are not told apart.
    pub fn executed(&self) -> &[bool] {
        &self.room.moves.executed
    }

    /// How many states were left to the reference.
    pub fn n_referred(&self) -> u64 {
        self.n_referred
    }

    /// Compiles an expression; `None` if only the reference can evaluate it.
    pub fn condition(&self, expr: &Expr) -> Option<Condition> {
        self.program?;
        compile::code(expr).map(Condition)
    }

    /// Whether an expression holds in a state.
    pub fn holds(&mut self, state: &[u8], condition: &Condition) -> bool {
        self.holds_for(state, 0, condition)
    }

    /// The same. Appends the bytes of the state on which it depends; besides these, it depends on the order of segments.
    pub fn holds_noting(
        &mut self,
        state: &[u8],
        condition: &Condition,
        bytes: &mut Vec<Range<usize>>,
    ) -> bool {
        self.holds_for_noting(state, 0, condition, bytes)
    }

    /// The same of an expression of a process.
    pub fn holds_for_noting(
        &mut self,
        state: &[u8],
        pid: usize,
        condition: &Condition,
        bytes: &mut Vec<Range<usize>>,
    ) -> bool {
        self.room.notes.trace(state.len());
        let holds = self.holds_for(state, pid, condition);
        self.room.notes.rest();
        bytes.extend(self.room.notes.ranges(state.len()));
        holds
    }

    /// Whether an expression of a process holds in a state.
    pub fn holds_for(&mut self, state: &[u8], pid: usize, condition: &Condition) -> bool {
        let Some(program) = self.program else { return false };
        self.room.layout.fit(program, state);
        self.holds_here(state, pid, condition)
    }

    /// Prepares for [`Engine::holds_here`].
    pub fn look_at(&mut self, state: &[u8]) {
        if let Some(program) = self.program {
            self.room.layout.fit(program, state);
        }
    }

    /// The same in the state that was looked at last.
    pub fn holds_here(&mut self, state: &[u8], pid: usize, condition: &Condition) -> bool {
        let Some(program) = self.program else { return false };
        let room = &self.room;
        evaluate::View::new(program, &room.layout, state, pid, false, &room.notes).holds(&condition.0)
    }

    /// The successors by the reference.
    #[cold]
    fn refer(
        &mut self,
        state: &[u8],
        is_wanted: impl Fn(usize) -> bool,
        out: &mut Batch<[u8]>,
    ) -> Result<(), Fault> {
        self.n_referred += 1;
        let mut expansion = self.network.expand(state);
        expansion.successors.retain(|successor| is_wanted(successor.trail[0].pid));
        expansion.events.retain(|event| event.step.is_none_or(|(pid, _)| is_wanted(pid)));
        if expansion.all_events().any(is_safety) {
            out.flag();
        }
        expansion.all_events().filter_map(|event| event.trouble.too_much()).for_each(|what| out.cut(what));
        let successors = expansion.successors;
        if successors.windows(2).any(|pair| pair[0].transition == pair[1].transition) {
            let message = format!("one step has more than {} outcomes", self.network.n_outcomes);
            return Err(Fault::Model(message));
        }
        for successor in &successors {
            out.push(successor.transition, &successor.state);
            for micro in &successor.trail {
                self.room.moves.executed[micro.step.0 as usize] = true;
            }
        }
        Ok(())
    }
}

impl Room {
    /// Appends all successors; `false` if the reference must do it.
    fn expand(&mut self, program: &Program, state: &[u8], out: &mut Batch<[u8]>) -> bool {
        let before = out.len();
        if !self.expand_some(program, state, |_| true, out) {
            return false;
        }
        if out.len() == before && program.uses_timeout {
            return (0..self.layout.processes.len())
                .rev()
                .all(|pid| self.expand_process(program, state, pid, true, Wanted::All, out));
        }
        true
    }

    /// Appends the successors by some processes where it is not time for `timeout`.
    fn expand_some(
        &mut self,
        program: &Program,
        state: &[u8],
        is_wanted: impl Fn(usize) -> bool,
        out: &mut Batch<[u8]>,
    ) -> bool {
        self.layout.fit(program, state);
        self.notes.trouble.set(false);
        let pids = (0..self.layout.processes.len()).rev().filter(|&pid| is_wanted(pid));
        pids.into_iter().all(|pid| self.expand_process(program, state, pid, false, Wanted::All, out))
    }

    /// Appends the successors that begin with a step of one process.
    #[allow(clippy::too_many_arguments)]
    fn expand_process(
        &mut self,
        program: &Program,
        state: &[u8],
        pid: usize,
        is_timeout: bool,
        wanted: Wanted,
        out: &mut Batch<[u8]>,
    ) -> bool {
        self.moves.truncate(0, 0);
        self.moves.add(program, state, &self.layout, pid, is_timeout, wanted, &self.notes);
        if self.notes.trouble.get() {
            return false;
        }
        let (mut outcome, mut last) = (0, u32::MAX);
        for i in 0..self.moves.list.len() {
            let first = self.moves.list[i];
            // A rendezvous with several receivers begins several times with the same step.
            if first.step != last {
                (outcome, last) = (0, first.step);
            }
            let group = (pid * program.steps.len()) as u32 + first.step;
            let mut emit = |state: &[u8]| {
                out.push(TransitionId(group.wrapping_mul(program.n_outcomes).wrapping_add(outcome)), state);
                outcome += 1;
                outcome <= program.n_outcomes
            };
            let is_done = match first.keeper {
                None => emit(&self.moves.bytes[first.start..first.end]),
                Some(_) => self.follow(program, i, &mut emit),
            };
            if !is_done {
                return false;
            }
        }
        true
    }

    /// Follows an atomic sequence from a move to all its ends.
    fn follow(&mut self, program: &Program, from: usize, emit: &mut impl FnMut(&[u8]) -> bool) -> bool {
        let (n_moves, n_bytes) = (self.moves.list.len(), self.moves.bytes.len());
        self.path.clear();
        self.path.push(Node { first: n_moves, bytes: n_bytes, next: from, end: from + 1 });
        // A state passed on the way, and how deep it lies; for finding sequences without an end.
        let mut passed: Option<(usize, Move)> = None;
        let mut n_followed = 0;
        while let Some(node) = self.path.last_mut() {
            if node.next == node.end {
                self.moves.truncate(node.first, node.bytes);
                self.path.pop();
                passed = passed.filter(|(depth, _)| *depth < self.path.len());
                continue;
            }
            let at = self.moves.list[node.next];
            node.next += 1;
            n_followed += 1;
            if n_followed > MOST_ATOMIC || self.path.len() > LONGEST_ATOMIC {
                return false;
            }
            if let Some(keeper) = at.keeper {
                self.current.clear();
                self.current.extend_from_slice(&self.moves.bytes[at.start..at.end]);
                self.current_layout.fit(program, &self.current);
                let (first, bytes) = (self.moves.list.len(), self.moves.bytes.len());
                let layout = &self.current_layout;
                let keeper = keeper as usize;
                self.moves.add(program, &self.current, layout, keeper, false, Wanted::All, &self.notes);
                if self.notes.trouble.get() {
                    return false;
                }
                let end = self.moves.list.len();
                if end > first {
                    if passed.is_some_and(|(_, p)| self.moves.bytes[p.start..p.end] == self.current[..]) {
                        return false;
                    }
                    let depth = self.path.len();
                    if depth.is_power_of_two() {
                        passed = Some((depth, at));
                    }
                    self.path.push(Node { first, bytes, next: first, end });
                    continue;
                }
            }
            if !emit(&self.moves.bytes[at.start..at.end]) {
                return false;
            }
        }
        true
    }
}
