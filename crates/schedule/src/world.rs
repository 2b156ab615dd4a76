//! The global state of a run: objects with their values, and what each process is about to do.

use crate::objects::{Effect, Label, Object, Relation, Table};
use crate::op::{ObjectId, Op, Part, ProcessId};
use crate::set::Set;
use smallvec::SmallVec;

/// Where a process stands.
#[derive(Clone, Debug, Default)]
pub enum Standing {
    /// It has not been started in this run.
    #[default]
    Absent,
    /// It is about to do this, when it may.
    Announced(Op),
    /// It moves, and has not announced its next operation.
    Moving,
    /// It has ended.
    Ended,
}

/// What came of an operation: one effect per part.
pub type Effects = SmallVec<[Effect; 1]>;

/// What is known of a process besides where it stands.
#[derive(Clone, Debug, Default)]
struct Life {
    /// The event after which it was started, and who did it.
    started: Option<u32>,
    parent: Option<ProcessId>,
    /// Its last event.
    last: Option<u32>,
    /// Processes that had ended before what it will do next.
    joined: Joined,
    /// The event that let it go on without an event of its own.
    woken: Option<u32>,
    /// How many operations it has announced.
    n_announced: u32,
}

impl Life {
    /// Nothing is known; what was allocated is kept.
    #[inline]
    fn clear(&mut self) {
        (self.started, self.parent, self.last, self.woken, self.n_announced) = (None, None, None, None, 0);
        self.joined.clear();
    }
}

/// Processes whose end a process has waited for since its last event.
pub(crate) type Joined = SmallVec<[ProcessId; 4]>;

/// Objects and processes.
#[derive(Clone, Debug, Default)]
pub struct World {
    objects: Vec<Object>,
    /// Processes of this run, and room that those of earlier runs have left: so many are of this run.
    processes: Vec<Standing>,
    n_processes: usize,
    /// Per process, the object that its pending operation touches, or one of the two constants below.
    touched: Vec<ObjectId>,
    /// The same as bits, for processes below 64: per object, who touches it alone; who touches several; who touches none.
    near: Vec<u64>,
    scattered: u64,
    idle: u64,
    /// Who can move, but for those who wait for an object that has changed since: they are asked again when somebody wants to know.
    enabled: Set,
    changed: Vec<ObjectId>,
    /// What is known of each process besides.
    lives: Vec<Life>,
    /// How many events there have been.
    pub(crate) now: u32,
    /// Whose move the last event was.
    mover: Option<ProcessId>,
    /// What the mover has done since, as part of that event.
    sequel: Sequel,
}

/// Actions that belong to an event without being its operation, with what came of them.
pub(crate) type Sequel = SmallVec<[(Part, Effect); 2]>;

/// Of a process that has announced nothing, or nothing that touches an object.
const NONE: ObjectId = ObjectId::MAX;
/// Of a process whose operation touches several objects.
const SEVERAL: ObjectId = ObjectId::MAX - 1;

impl World {
    /// A world with nothing in it.
    pub fn new() -> World {
        World::default()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.objects.clear();
        self.near.clear();
        self.scattered = 0;
        self.processes[..self.n_processes].fill_with(Standing::default);
        self.touched[..self.n_processes].fill(NONE);
        self.lives[..self.n_processes].iter_mut().for_each(Life::clear);
        self.n_processes = 0;
        self.enabled.clear();
        self.changed.clear();
        self.now = 0;
        self.mover = None;
        self.sequel.clear();
    }

    /// Adds an object.
    pub fn create(&mut self, object: impl Into<Object>) -> ObjectId {
        self.objects.push(object.into());
        self.near.push(0);
        self.objects.len() as ObjectId - 1
    }

    /// How many objects there are.
    pub fn n_objects(&self) -> u32 {
        self.objects.len() as u32
    }

    /// An object.
    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id as usize]
    }

    /// Changes an object in a way that commutes with everything.
    pub fn change<R>(&mut self, id: ObjectId, change: impl FnOnce(&mut Object) -> R) -> R {
        let result = change(&mut self.objects[id as usize]);
        self.ask_again(id);
        result
    }

    /// An object has changed: those who wait for it may be able to move, or not any more.
    #[inline]
    fn ask_again(&mut self, id: ObjectId) {
        let is_watched = self.near[id as usize] | self.scattered != 0 || self.n_processes > 64;
        if is_watched && self.changed.last() != Some(&id) {
            self.changed.push(id);
        }
    }

    /// Asks those who wait for what has changed.
    fn settle(&mut self) {
        while let Some(id) = self.changed.pop() {
            let mut near = self.near[id as usize] | self.scattered;
            while near != 0 {
                self.ask(near.trailing_zeros() as usize);
                near &= near - 1;
            }
            for i in 64..self.n_processes {
                if self.touched[i] == id || self.touched[i] == SEVERAL {
                    self.ask(i);
                }
            }
        }
    }

    /// Whether a process can move.
    #[inline]
    fn ask(&mut self, i: usize) {
        if let Standing::Announced(op) = &self.processes[i] {
            match is_enabled(&self.objects, i as ProcessId, op) {
                true => self.enabled.insert(i as ProcessId),
                false => self.enabled.remove(i as ProcessId),
            }
        }
    }

    /// Notes which object a process is about to touch.
    #[inline]
    fn set_touched(&mut self, i: usize, object: ObjectId) {
        let before = std::mem::replace(&mut self.touched[i], object);
        if i < 64 {
            *self.bits(before) &= !(1 << i);
            *self.bits(object) |= 1 << i;
        }
    }

    /// Who touches an object alone, or several.
    #[inline]
    fn bits(&mut self, object: ObjectId) -> &mut u64 {
        match object {
            SEVERAL => &mut self.scattered,
            NONE => &mut self.idle,
            object => &mut self.near[object as usize],
        }
    }

    #[inline]
    fn room(&mut self, process: ProcessId) -> usize {
        let i = process as usize;
        if i >= self.n_processes {
            self.n_processes = i + 1;
            if i >= self.processes.len() {
                self.make_room(i);
            }
        }
        i
    }

    #[cold]
    fn make_room(&mut self, i: usize) {
        self.processes.resize(i + 1, Standing::Absent);
        self.touched.resize(i + 1, NONE);
        self.lives.resize(i + 1, Life::default());
    }

    /// Says that a process is started by another: whatever it does comes after all that the other has done.
    pub fn start(&mut self, process: ProcessId, parent: ProcessId) {
        let (i, p) = (self.room(process), self.room(parent));
        // A process that has done nothing was started after what its parent was started after.
        let started = self.lives[p].last.or(self.lives[p].started);
        let life = &mut self.lives[i];
        life.clear();
        (life.started, life.parent) = (started, Some(parent));
        self.inherit(i, p);
    }

    /// What a process does next comes after the ends that another has waited for since its last event.
    fn inherit(&mut self, heir: usize, from: usize) {
        for k in 0..self.lives[from].joined.len() {
            let process = self.lives[from].joined[k];
            if !self.lives[heir].joined.contains(&process) {
                self.lives[heir].joined.push(process);
            }
        }
    }

    /// Says that whatever a process does next comes after all that another has done, which has ended.
    pub fn join(&mut self, process: ProcessId, ended: ProcessId) {
        let (i, e) = (self.room(process), self.room(ended));
        if !self.lives[i].joined.contains(&ended) {
            self.lives[i].joined.push(ended);
        }
        // What the other had waited for without doing anything afterwards.
        self.inherit(i, e);
    }

    /// Says that the last event has let a process go on: its next event comes after that one. It must have one.
    pub fn wake(&mut self, process: ProcessId) {
        let i = self.room(process);
        self.lives[i].woken = self.now.checked_sub(1);
    }

    /// Says what a process is about to do.
    #[inline]
    pub fn announce(&mut self, process: ProcessId, op: Op) {
        let i = self.room(process);
        self.lives[i].n_announced += 1;
        let touched = match op.parts.as_slice() {
            [] => NONE,
            [part] => part.object,
            _ => SEVERAL,
        };
        self.set_touched(i, touched);
        match is_enabled(&self.objects, process, &op) {
            true => self.enabled.insert(process),
            false => self.enabled.remove(process),
        }
        self.processes[i] = Standing::Announced(op);
    }

    /// The same for an action on one object, at a site.
    #[inline]
    pub fn announce_on(&mut self, process: ProcessId, part: Part, site: u64) {
        let i = self.room(process);
        self.lives[i].n_announced += 1;
        self.set_touched(i, part.object);
        match self.objects[part.object as usize].enabled(process, part.action) {
            true => self.enabled.insert(process),
            false => self.enabled.remove(process),
        }
        self.processes[i] = Standing::Announced(Op::on(part.object, part.action).at(site));
    }

    /// Says that a process has ended.
    pub fn end(&mut self, process: ProcessId) {
        if let Some(standing) = self.processes.get_mut(process as usize) {
            *standing = Standing::Ended;
            self.set_touched(process as usize, NONE);
            self.enabled.remove(process);
        }
    }

    /// One more than the largest number of a process.
    pub fn n_processes(&self) -> u32 {
        self.n_processes as u32
    }

    /// What a process is about to do.
    #[inline]
    pub fn pending(&self, process: ProcessId) -> Option<&Op> {
        match self.processes.get(process as usize) {
            Some(Standing::Announced(op)) => Some(op),
            _ => None,
        }
    }

    /// Takes what a process has announced, because it is about to move.
    pub(crate) fn take_pending(&mut self, process: ProcessId) -> Option<Op> {
        let standing = self.processes.get_mut(process as usize)?;
        match std::mem::replace(standing, Standing::Moving) {
            Standing::Announced(op) => {
                self.set_touched(process as usize, NONE);
                self.enabled.remove(process);
                Some(op)
            }
            other => {
                *standing = other;
                None
            }
        }
    }

    /// Where a process stands.
    pub fn standing(&self, process: ProcessId) -> &Standing {
        self.processes.get(process as usize).unwrap_or(&Standing::Absent)
    }

    /// The event after which a process was started.
    pub(crate) fn started(&self, process: ProcessId) -> Option<u32> {
        self.lives.get(process as usize).and_then(|life| life.started)
    }

    /// Who started a process, if anybody did.
    pub(crate) fn parent(&self, process: ProcessId) -> Option<ProcessId> {
        self.lives.get(process as usize).and_then(|life| life.parent)
    }

    /// How many operations a process has announced.
    pub(crate) fn n_announced(&self, process: ProcessId) -> u32 {
        self.lives.get(process as usize).map_or(0, |life| life.n_announced)
    }

    /// Whose end a process has waited for since its last event.
    pub(crate) fn joined(&self, process: ProcessId) -> &[ProcessId] {
        self.lives.get(process as usize).map_or(&[], |life| &life.joined)
    }

    /// The event that has let a process go on since its last one.
    pub(crate) fn woken(&self, process: ProcessId) -> Option<u32> {
        self.lives.get(process as usize).and_then(|life| life.woken)
    }

    /// Processes with something to do.
    pub fn waiting(&self) -> impl Iterator<Item = (ProcessId, &Op)> {
        self.processes[..self.n_processes].iter().enumerate().filter_map(|(i, standing)| match standing {
            Standing::Announced(op) => Some((i as ProcessId, op)),
            _ => None,
        })
    }

    /// All objects, in the order of their numbers.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Whether somebody is about to do something to this object and to no other.
    #[inline]
    pub fn is_waited_for(&self, id: ObjectId) -> bool {
        self.near[id as usize] != 0 || self.n_processes > 64 && self.waiting_for(id).next().is_some()
    }

    /// Processes that are about to do something to this object and to no other.
    pub fn waiting_for(&self, id: ObjectId) -> impl Iterator<Item = (ProcessId, &Op)> {
        let touching =
            self.touched[..self.n_processes].iter().enumerate().filter(move |&(_, &touched)| touched == id);
        touching.filter_map(|(i, _)| self.pending(i as ProcessId).map(|op| (i as ProcessId, op)))
    }

    /// Whether an operation can be done now.
    pub fn is_enabled(&self, process: ProcessId, op: &Op) -> bool {
        is_enabled(&self.objects, process, op)
    }

    /// Whether a process can move.
    pub fn can_move(&self, process: ProcessId) -> bool {
        self.pending(process).is_some_and(|op| self.is_enabled(process, op))
    }

    /// The processes that can move.
    #[inline]
    pub fn enabled(&mut self) -> &Set {
        if !self.changed.is_empty() {
            self.settle();
        }
        debug_assert_eq!(
            self.enabled,
            self.waiting().filter(|(process, op)| self.is_enabled(*process, op)).map(|(p, _)| p).collect()
        );
        &self.enabled
    }

    /// Between how many outcomes an operation can choose.
    #[inline]
    pub fn choices(&self, op: &Op) -> u32 {
        if let ([part], 1) = (op.parts.as_slice(), op.toss) {
            return match &self.objects[part.object as usize] {
                object @ (Object::Condvar(_) | Object::Custom(_)) => object.choices(part.action),
                _ => 1,
            };
        }
        let parts = op.parts.iter().map(|part| self.objects[part.object as usize].choices(part.action));
        parts.product::<u32>() * op.toss
    }

    /// What would come of an operation.
    pub fn peek(&self, process: ProcessId, op: &Op, choice: u32) -> Effects {
        let peek = |p: &Part| self.objects[p.object as usize].peek(process, p.action, choice);
        op.parts.iter().map(peek).collect()
    }

    /// Does what a process has announced, and forgets it: a step of which nothing is kept. Gives what the process gets,
    /// and whether the operation is an assertion that fails; nothing if nothing was announced.
    #[inline]
    pub(crate) fn perform(&mut self, process: ProcessId, choice: u32) -> Option<(u64, bool)> {
        let i = process as usize;
        let Some(Standing::Announced(op)) = self.processes.get(i) else { return None };
        let [part] = op.parts.as_slice() else {
            let op = self.take_pending(process)?;
            return Some((self.execute(process, &op, choice).0, op.fails));
        };
        let Part { object, action } = *part;
        let fails = op.fails;
        let effect = self.objects[object as usize].execute(process, action, choice);
        self.enabled.remove(process);
        self.set_touched(i, NONE);
        self.processes[i] = Standing::Moving;
        self.ask_again(object);
        self.has_moved(process);
        Some((effect.out, fails))
    }

    /// Does something at once, as part of the event in which the process moved; only if that is the last event.
    ///
    /// What is done must be possible always and must commute to the left: whatever others could do between the event and it they can do
    /// after it, with the same outcomes. The end of a critical section is such a thing if nobody asks whether a lock is held: who waits
    /// for the lock cannot tell when it became free. Then every run has an equivalent one in which it comes at once (Lipton).
    #[inline]
    pub fn follow(&mut self, process: ProcessId, part: Part) -> Option<u64> {
        if self.mover != Some(process) {
            return None;
        }
        let effect = self.objects[part.object as usize].execute(process, part.action, 0);
        self.ask_again(part.object);
        self.sequel.push((part, effect));
        Some(effect.out)
    }

    /// Whose move the last event was.
    #[inline]
    pub fn mover(&self) -> Option<ProcessId> {
        self.mover
    }

    /// What was done as part of the last event.
    #[inline]
    pub(crate) fn sequel(&self) -> &Sequel {
        &self.sequel
    }

    #[inline]
    fn has_moved(&mut self, process: ProcessId) {
        self.mover = Some(process);
        self.sequel.clear();
        let life = &mut self.lives[process as usize];
        life.last = Some(self.now);
        life.joined.clear();
        life.woken = None;
        self.now += 1;
    }

    /// Does what a process has announced. Gives what the process gets, and what came of each part.
    pub(crate) fn execute(&mut self, process: ProcessId, op: &Op, choice: u32) -> (u64, Effects) {
        let mut effects = Effects::new();
        for part in &op.parts {
            effects.push(self.objects[part.object as usize].execute(process, part.action, choice));
            self.ask_again(part.object);
        }
        self.has_moved(process);
        (effects.first().map_or(u64::from(choice), |effect| effect.out), effects)
    }

    /// How two operations relate, in the order in which they occurred.
    #[inline]
    pub fn relation(
        &self,
        first: (ProcessId, &Op, &Effects),
        second: (ProcessId, &Op, &Effects),
    ) -> Relation {
        self.relation_with_sequel(first, &[], second)
    }

    /// The same, if the first operation had a sequel.
    pub(crate) fn relation_with_sequel(
        &self,
        first: (ProcessId, &Op, &Effects),
        sequel: &[(Part, Effect)],
        second: (ProcessId, &Op, &Effects),
    ) -> Relation {
        let mut worst = Relation::Independent;
        let done =
            first.1.parts.iter().zip(first.2).chain(sequel.iter().map(|(part, effect)| (part, effect)));
        for (one, &effect) in done {
            let one_label = Label { process: first.0, action: one.action, effect };
            for (two, &effect) in second.1.parts.iter().zip(second.2) {
                if one.object == two.object {
                    let label = Label { process: second.0, action: two.action, effect };
                    worst = worst.max(self.objects[one.object as usize].relation(&one_label, &label));
                }
            }
        }
        // One of several changes let the process go on: none of them was needed.
        let awaits_several = |op: &Op| op.parts.len() > 1 && op.parts[0].action.only_waits();
        if worst == Relation::Ordered && awaits_several(second.1) { Relation::Doubtful } else { worst }
    }

    /// Whether two operations are independent whatever comes of them.
    pub(crate) fn commutes(&self, one: &Op, two: &Op) -> bool {
        one.parts.iter().all(|a| {
            let same = |b: &&Part| a.object == b.object;
            two.parts.iter().filter(same).all(|b| self.object(a.object).commutes(a.action, b.action))
        })
    }

    /// Whether two operations are dependent whatever comes of them.
    pub(crate) fn never_commutes(&self, one: &Op, two: &Op) -> bool {
        one.parts.iter().any(|a| {
            let same = |b: &&Part| a.object == b.object;
            two.parts.iter().filter(same).any(|b| self.object(a.object).never_commutes(a.action, b.action))
        })
    }
}

/// Whether an operation can be done, given the objects.
#[inline]
fn is_enabled(objects: &[Object], process: ProcessId, op: &Op) -> bool {
    let enabled = |part: &Part| objects[part.object as usize].enabled(process, part.action);
    match op.parts.as_slice() {
        [] => true,
        [part] => enabled(part),
        // Waiting for one of several objects to change, while the others allow it.
        parts if parts[0].action.only_waits() => {
            let waits = |part: &&Part| part.action.only_waits();
            parts.iter().filter(waits).any(enabled) && parts.iter().filter(|part| !waits(part)).all(enabled)
        }
        parts => parts.iter().all(enabled),
    }
}
