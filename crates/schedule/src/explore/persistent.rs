//! Persistent sets of processes, from what each process was seen to do.
//!
//! **Implements** VS, "Computing Persistent Sets", algorithms 1, 2 (VeriSoft's) and 3, for processes as wholes: a set of
//! processes is closed under "may later do something that interferes with what a member is about to do".
//! What a process may still do is learned: the table holds everything that was ever announced, and how late. The
//! search begins with an empty table, and begins again whenever somebody announces what the table does not have.
//! **Preserves** deadlocks and failures of programs all of whose runs end. Suppose that a chosen set is not
//! persistent. Take a shortest sequence outside the set whose last announcement shows it; none of it
//! interferes with the members, so it remains possible after their moves, and the search makes it, sees that
//! announcement, and begins again.
//! **Differs from the text** in that objects are known by who met them: in another run the same object may have
//! another number. Each process numbers the objects that it meets, and numbers that meant the same object once are
//! merged for ever (another reason to begin again); numbers that mean different objects in different runs
//! are merged by the same rule, which loses some reduction and nothing else.
//! **Checked by** `tests/all/random_programs.rs`.

use super::Algorithm;
use super::search::Explorer;
use crate::objects::Table;
use crate::op::{Action, ObjectId, Op, ProcessId};
use crate::program::Program;
use crate::set::Set;
use crate::world::{Standing, World};
use rustc_hash::FxHashMap;

/// A class of objects that may be the same.
type Class = u32;

/// What processes were seen to do.
#[derive(Clone, Debug, Default)]
pub(super) struct Futures {
    /// Per process: what it does to which class, and the last of its steps at which it does so.
    seen: Vec<FxHashMap<(Class, Action), u32>>,
    /// Who started a process.
    parents: Vec<Option<ProcessId>>,
    /// Per process and number of an object that it meets, the class.
    met: FxHashMap<(ProcessId, u32), Class>,
    /// Classes that were merged.
    merged: Vec<Class>,
    /// Of the present run: classes of objects; steps of processes; who met what; whose announcement was seen.
    objects: Vec<Option<Class>>,
    steps: Vec<u32>,
    n_met: Vec<u32>,
    acquainted: FxHashMap<(ProcessId, ObjectId), ()>,
    announced: Vec<Option<u32>>,
}

impl Futures {
    fn begin_run(&mut self) {
        self.objects.clear();
        self.steps.clear();
        self.n_met.clear();
        self.acquainted.clear();
        self.announced.clear();
    }

    fn root(&self, mut class: Class) -> Class {
        while self.merged[class as usize] != class {
            class = self.merged[class as usize];
        }
        class
    }

    /// The class of an object that a process meets. True if two classes were merged.
    fn meet(&mut self, process: ProcessId, object: ObjectId) -> (Class, bool) {
        let i = object as usize;
        if self.objects.len() <= i {
            self.objects.resize(i + 1, None);
        }
        let mut merges = false;
        if self.acquainted.insert((process, object), ()).is_none() {
            let number = self.n_met[process as usize];
            self.n_met[process as usize] += 1;
            let fresh = self.merged.len() as Class;
            let class = *self.met.entry((process, number)).or_insert(fresh);
            if class == fresh {
                self.merged.push(fresh);
            }
            match self.objects[i] {
                None => self.objects[i] = Some(class),
                Some(other) => {
                    let (one, two) = (self.root(class), self.root(other));
                    // A class that nobody has used is no news.
                    merges = one != two && class != fresh;
                    self.merged[one.max(two) as usize] = one.min(two);
                }
            }
        }
        (self.objects[i].map_or(0, |class| self.root(class)), merges)
    }

    /// Notes an announcement. True if it is news.
    fn note(&mut self, process: ProcessId, n_announced: u32, op: &Op) -> bool {
        let p = process as usize;
        let step = self.steps[p];
        if self.announced[p] == Some(n_announced) {
            return false;
        }
        self.announced[p] = Some(n_announced);
        let mut news = false;
        for part in &op.parts {
            let (class, merged) = self.meet(process, part.object);
            news |= merged;
            match self.seen[p].get_mut(&(class, part.action)) {
                Some(last) if *last >= step => {}
                Some(last) => {
                    *last = step;
                    news = true;
                }
                None => {
                    self.seen[p].insert((class, part.action), step);
                    news = true;
                }
            }
        }
        if news {
            self.canonicalise();
        }
        news
    }

    /// After a merge, entries of both classes are entries of one.
    fn canonicalise(&mut self) {
        for p in 0..self.seen.len() {
            let entries = std::mem::take(&mut self.seen[p]);
            for ((class, action), step) in entries {
                let class = self.root(class);
                let last = self.seen[p].entry((class, action)).or_insert(step);
                *last = (*last).max(step);
            }
        }
    }

    fn grow(&mut self, n: usize) {
        if self.steps.len() < n {
            self.steps.resize(n, 0);
            self.n_met.resize(n, 0);
            self.announced.resize(n, None);
        }
        if self.seen.len() < n {
            self.seen.resize(n, FxHashMap::default());
            self.parents.resize(n, None);
        }
    }

    /// Who would act for a process: itself, or who is to start it.
    fn agent(&self, world: &World, mut process: ProcessId) -> Option<ProcessId> {
        loop {
            match world.standing(process) {
                Standing::Announced(_) => return Some(process),
                Standing::Ended | Standing::Moving => return None,
                Standing::Absent => process = self.parents[process as usize]?,
            }
        }
    }
}

impl<P: Program + ?Sized> Explorer<'_, P> {
    /// Notes what was announced after a move, or at the beginning. True if something is news.
    pub(super) fn learn(&mut self, mover: Option<ProcessId>) -> bool {
        let futures = &mut self.futures;
        match mover {
            None => {
                futures.begin_run();
                futures.grow(self.world.n_processes() as usize);
            }
            Some(process) => {
                futures.grow(self.world.n_processes() as usize);
                futures.steps[process as usize] += 1;
            }
        }
        let mut news = false;
        for (process, op) in self.world.waiting() {
            if futures.announced[process as usize].is_none() && futures.parents[process as usize].is_none() {
                futures.parents[process as usize] = self.world.parent(process);
            }
            news |= futures.note(process, self.world.n_announced(process), op);
        }
        news
    }

    /// A persistent set, as small as the algorithm finds one.
    pub(super) fn persistent_set(&self, enabled: &Set) -> Set {
        let mut best = enabled.clone();
        for seed in enabled.iter() {
            if let Some(set) = self.closure(seed, enabled).filter(|set| set.len() < best.len()) {
                best = set;
            }
            if best.len() == 1 {
                break;
            }
        }
        best
    }

    /// The closure of one process; none if algorithm 1 gives up.
    fn closure(&self, seed: ProcessId, enabled: &Set) -> Option<Set> {
        let mut members = Set::single(seed);
        let mut work = vec![seed];
        while let Some(member) = work.pop() {
            for process in 0..self.futures.seen.len() as ProcessId {
                let Some(agent) = self.futures.agent(&self.world, process) else { continue };
                if members.contains(agent) {
                    continue;
                }
                match self.interference(member, process, agent, enabled) {
                    Interference::None => {}
                    Interference::Later if self.options.algorithm == Algorithm::Persistent1 => return None,
                    _ => {
                        members.insert(agent);
                        work.push(agent);
                    }
                }
            }
        }
        Some(members.iter().filter(|&process| enabled.contains(process)).collect())
    }

    /// Whether what a process may do interferes with what a member is about to do.
    fn interference(
        &self,
        member: ProcessId,
        process: ProcessId,
        agent: ProcessId,
        enabled: &Set,
    ) -> Interference {
        let Some(op) = self.world.pending(member) else { return Interference::None };
        let asks_who_enables = self.options.algorithm == Algorithm::Persistent3
            && !enabled.contains(member)
            && !op.parts.is_empty();
        let step = if agent == process { self.futures.steps[process as usize] } else { 0 };
        let mut found = Interference::None;
        for part in &op.parts {
            let object = self.world.object(part.object);
            // The end of a process need not be an operation.
            if part.action == Action::Join && object.holders(part.action).contains(&process) {
                found = Interference::Later;
            }
            if asks_who_enables && object.enabled(member, part.action) {
                continue;
            }
            let Some(Some(class)) = self.futures.objects.get(part.object as usize) else { continue };
            let class = self.futures.root(*class);
            for (&(other, action), &last) in &self.futures.seen[process as usize] {
                if self.futures.root(other) != class || last < step {
                    continue;
                }
                let interferes = match asks_who_enables {
                    true => object.enables(part.action, action, process),
                    false => object.interferes(part.action, action),
                };
                if interferes {
                    let is_next = agent == process && enabled.contains(process) && last == step;
                    found = found.max(if is_next { Interference::Next } else { Interference::Later });
                }
            }
        }
        found
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Interference {
    None,
    /// By its next operation, which is enabled.
    Next,
    /// By a later one, or one that is blocked.
    Later,
}
