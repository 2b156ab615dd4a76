//! A network's states part by part, and its processes as agents.
//!
//! **Implements** [`Tracer`]: parts are the elements of global variables, whole channels, and processes with their
//! locals, or each local for itself where these have too many values. An agent is a process; what it can do is one
//! unit, or where it may offer a rendezvous one per step and partner, so that what one partner does is not mixed up
//! with where the others are.
//! **Preserves** what the engine does: it is the engine, with [`notes`](super::notes) of the bytes that it touches.
//! The shape is the order of segments, which is all that is known of a state without a read.
//! **Checked by** `tests/all/packed.rs` of the oracle.

use super::moves::Wanted;
use super::program::{Act, Program};
use super::{Compiled, Engine};
use crate::{Network, Variable};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use stubborn_system::{Batch, Composed, Fault, FlatRows, Lent, Parts, Rows, Shared, Tracer, Unit};

/// An engine that tells what it looks at.
pub struct Traced<'n> {
    engine: Rc<RefCell<Engine<'n>>>,
    network: &'n Network,
    program: &'n Program,
    /// Where the elements of globals end.
    globals: Vec<usize>,
    /// By kind of process: where its parts end, from its beginning; one, unless it is split.
    kinds: Vec<Vec<usize>>,
    /// Numbers of parts from one segment to the next.
    stride: usize,
    /// The state that was taken apart last: where its segments lie and what they are, where its parts end, and the parts that processes begin with.
    segments: Vec<(u32, u8)>,
    length: usize,
    list: Vec<(u16, u32)>,
    processes: Vec<u16>,
}

impl Network {
    /// An engine that tells what it looks at; `None` if only the reference knows this network.
    pub fn traced(&self) -> Option<Traced<'_>> {
        Traced::new(self, Rc::new(RefCell::new(self.engine())))
    }
}

impl Composed for Network {
    fn tracer(&self) -> Option<Box<dyn Tracer<[u8]> + '_>> {
        self.traced().map(|traced| Box::new(traced) as Box<dyn Tracer<[u8]>>)
    }

    fn shared(&self) -> Option<Box<dyn Shared<[u8]> + '_>> {
        Some(Box::new(Lent(self)))
    }
}

/// Where the elements of variables end, in a room of `size` bytes that begins with `header` others.
fn ends(variables: &[Variable], header: usize, size: usize) -> Vec<usize> {
    let element = |v: &Variable, i: usize| header + v.offset + i * v.stride + v.width.bytes();
    let all = variables.iter().flat_map(|v| (0..v.length).map(move |i| element(v, i)));
    let mut ends: Vec<usize> = all.chain([header, size]).filter(|&end| end > 0 && end <= size).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

impl<'n> Traced<'n> {
    /// By an engine that others use, too.
    pub fn new(network: &'n Network, engine: Rc<RefCell<Engine<'n>>>) -> Option<Self> {
        let Compiled { program, .. } = &network.compiled;
        let program = program.get()?.as_deref()?;
        let globals = ends(&network.globals, 0, program.globals_size);
        let kinds: Vec<Vec<usize>> = program.kinds.iter().map(|kind| vec![kind.size]).collect();
        // Numbers must do even if everything is split.
        let widest =
            (0..kinds.len()).map(|kind| Self::finest(network, program, kind).len()).max().unwrap_or(1);
        let is_large = globals.len() + 2 * 255 * widest.max(1) > usize::from(u16::MAX);
        let made = Self {
            engine,
            network,
            program,
            globals,
            kinds,
            stride: 1,
            segments: Vec::new(),
            length: 0,
            list: Vec::new(),
            processes: Vec::new(),
        };
        (!is_large).then_some(made)
    }

    /// Where the parts of a process end if each local is one.
    fn finest(network: &Network, program: &Program, kind: usize) -> Vec<usize> {
        ends(&network.processes[kind].locals, program.header, program.kinds[kind].size)
    }

    fn pid(&self, agent: usize) -> usize {
        self.processes.len() - 1 - agent
    }

    /// Notes the parts of a state. Where segments are those of the state before, so are parts.
    fn cut(&mut self, state: &[u8]) {
        let is_there = |&(offset, tag): &(u32, u8)| state[offset as usize] == tag;
        if state.len() == self.length && !self.list.is_empty() && self.segments.iter().all(is_there) {
            return;
        }
        self.length = state.len();
        self.segments.clear();
        self.list.clear();
        self.processes.clear();
        let globals = self.globals.iter().enumerate();
        self.list.extend(globals.map(|(part, &end)| (part as u16, end as u32)));
        let mut offset = self.program.globals_size;
        let mut part = self.globals.len();
        while offset < state.len() {
            let tag = state[offset];
            self.segments.push((offset as u32, tag));
            match self.kinds.get(usize::from(tag)) {
                Some(ends) => {
                    self.processes.push(part as u16);
                    let parts = ends.iter().enumerate();
                    self.list.extend(parts.map(|(i, &end)| ((part + i) as u16, (offset + end) as u32)));
                    offset += self.program.kinds[usize::from(tag)].size;
                }
                None => {
                    offset += self.program.channels[usize::from(tag) - self.kinds.len()].size;
                    self.list.push((part as u16, offset as u32));
                }
            }
            part += self.stride;
        }
    }

    /// Whether what a process can do at a location is the sum of what each of its steps can.
    fn is_sum_of_steps(&self, location: usize) -> bool {
        let location = &self.program.locations[location];
        let first = location.first as usize;
        let steps = &self.program.steps[first..first + location.n_steps as usize];
        let is_simple = |step: &super::program::Step| step.escape == 0 && !matches!(step.act, Act::Else);
        steps.iter().all(is_simple) && steps.iter().any(|step| matches!(step.act, Act::Send(_)))
    }
}

/// Units: everything, a step, or a step and its partner.
const EVERYTHING: u32 = 0;
const ALONE: u32 = 0xff;

impl Tracer<[u8]> for Traced<'_> {
    fn take_apart(&mut self, state: &[u8], parts: &mut Parts) {
        self.cut(state);
        parts.shape.extend(self.segments.iter().map(|&(_, tag)| tag));
        parts.bytes.extend_from_slice(state);
        parts.list.extend_from_slice(&self.list);
    }

    fn put_together(&mut self, parts: &Parts, out: &mut FlatRows<u8>) {
        out.push(&parts.bytes);
    }

    fn parts_at(&mut self, state: &[u8], bytes: &[Range<usize>], touched: &mut Vec<u16>) -> bool {
        self.cut(state);
        let mut start = 0;
        for &(part, end) in &self.list {
            let end = end as usize;
            if bytes.iter().any(|range| range.start < end && start < range.end) {
                touched.push(part);
            }
            start = end;
        }
        true
    }

    fn agents(&mut self, roots: &mut Vec<u16>) {
        roots.extend(self.processes.iter().rev());
    }

    fn units(&mut self, state: &[u8], agent: usize, units: &mut Vec<Unit>) {
        self.cut(state);
        let pid = self.pid(agent);
        let mut engine = self.engine.borrow_mut();
        engine.look_at(state);
        let location = engine.room.layout.processes[pid].place(state, &engine.room.notes);
        let has_rendezvous = self.program.channels.iter().any(|kind| kind.capacity == 0);
        // Steps and processes must fit the code.
        let fits = self.program.steps.len() < 1 << 23 && self.processes.len() < ALONE as usize;
        if !(has_rendezvous && fits && self.is_sum_of_steps(location)) {
            units.push(Unit { code: EVERYTHING, goes_on: false });
            return;
        }
        let location = &self.program.locations[location];
        for step in location.first..location.first + location.n_steps {
            let code = (step + 1) << 8;
            if !matches!(self.program.steps[step as usize].act, Act::Send(_)) {
                units.push(Unit { code: code | ALONE, goes_on: false });
                continue;
            }
            for (i, partner) in (0..self.processes.len()).rev().enumerate() {
                units.push(Unit { code: code | partner as u32, goes_on: i > 0 });
            }
        }
    }

    fn expand(
        &mut self,
        state: &[u8],
        agent: usize,
        unit: Unit,
        touched: &mut Vec<u16>,
        out: &mut Batch<[u8]>,
    ) -> Result<Option<()>, Fault> {
        self.cut(state);
        let pid = self.pid(agent);
        let wanted = match (unit.code >> 8, unit.code & 0xff) {
            (0, _) => Wanted::All,
            (step, ALONE) => Wanted::Step(step - 1),
            (step, partner) => Wanted::Meeting(step - 1, partner as usize),
        };
        let mut engine = self.engine.borrow_mut();
        let room = &mut *engine.room;
        room.layout.fit(self.program, state);
        room.notes.trouble.set(false);
        room.notes.trace(state.len());
        let is_done = room.expand_process(self.program, state, pid, false, wanted, out);
        room.notes.rest();
        let mut start = 0;
        for &(part, end) in &self.list {
            if room.notes.is_touched(start, end as usize) {
                touched.push(part);
            }
            start = end as usize;
        }
        Ok(is_done.then_some(()))
    }

    fn is_complete(&self) -> bool {
        !self.program.uses_timeout
    }

    fn n_outcomes(&self) -> u32 {
        self.program.n_outcomes
    }

    fn is_by_number(&self) -> bool {
        false
    }

    fn split(&mut self, shape: &[u8], part: u16) -> bool {
        let Some(number) = usize::from(part).checked_sub(self.globals.len()) else { return false };
        let Some(&tag) = shape.get(number / self.stride) else { return false };
        let kind = usize::from(tag);
        if kind >= self.kinds.len() {
            return false;
        }
        let finest = Self::finest(self.network, self.program, kind);
        let is_finer = finest != self.kinds[kind];
        self.stride = self.stride.max(finest.len());
        self.kinds[kind] = finest;
        self.list.clear();
        is_finer
    }
}
