//! Threads of the program, in whichever of its processes: how they are met, and how they end.

use super::server::signal_name;
use super::views::View;
use super::{Controller, Key, Kind};
use crate::memory::{Access, Spin};
use crate::objects::{CHILD_ENDS, CHILD_STARTS, GO};
use stubborn_schedule::objects::{Process, Table};
use stubborn_schedule::{Action, Failure, FailureKind, ObjectId, Op, Part, ProcessId, World};

/// A thread of the program.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(super) slot: usize,
    pub(super) process: u32,
    pub(crate) is_thread: bool,
    pub(super) object: ObjectId,
    pub(super) n_children: u32,
    /// What it has announced, and where.
    pub(super) announced: Option<(u32, Op)>,
    pub(crate) site: u64,
    pub(super) is_ended: bool,
    /// It is about to end its process, in which others are left.
    pub(super) is_leaving: bool,
    /// Its process ends; it is the only thread that is left there.
    pub(super) is_dying: bool,
    /// It has ended with its process, and what it was about to do it never will.
    pub(super) is_dead: bool,
    /// It was waited for.
    pub(super) is_reaped: bool,
    /// It waits for its children, one after the other, does not ask which, and has done nothing else since.
    pub(super) waits_for_all: bool,
    /// The access to memory that it has announced.
    pub(super) access: Option<Access>,
    pub(super) spin: Spin,
    /// Where it has waited in vain, and how often one after the other; and whether it waits without a limit now, because it
    /// would go on like that for ever.
    pub(super) timeouts: (u64, u32),
    pub(super) is_patient: bool,
    /// The signal that it is about to take.
    pub(super) signal: u32,
    /// How often it has woken up for nothing.
    pub(super) n_spurious: u32,
    /// What it asked for, if it waits without a limit although it did not ask for that.
    pub(super) asked: Option<Action>,
}

impl Controller {
    /// Whether a task has ended with its process, in the middle of something.
    pub(crate) fn is_dead(&self, process: ProcessId) -> bool {
        self.tasks.get(process as usize).and_then(Option::as_ref).is_some_and(|task| task.is_dead)
    }

    /// Gives numbers to tasks that are new.
    pub(super) fn meet_newcomers(&mut self, world: &mut World) -> Result<(), Failure> {
        while let Some(&View { process, is_thread, site, parent, .. }) = self.views.get(self.of_slot.len()) {
            let i = self.of_slot.len();
            let parent = (i > 0).then(|| self.process_of_slot(parent));
            let number = match parent {
                None => 0,
                Some(parent) => {
                    self.does_something_else(parent)?;
                    let elder = self.tasks[parent as usize].as_mut().expect("it has started another");
                    elder.n_children += 1;
                    let number = self.names.number(parent, elder.n_children);
                    world.start(number, parent);
                    number
                }
            };
            let key = Key { kind: Kind::Task, space: 0, address: u64::from(number) };
            let object = self.create(world, key, Process::new(number).into());
            if self.tasks.len() <= number as usize {
                self.tasks.resize(number as usize + 1, None);
            }
            self.tasks[number as usize] = Some(Task {
                slot: i,
                process,
                is_thread,
                object,
                n_children: 0,
                announced: None,
                site,
                is_ended: false,
                is_leaving: false,
                is_dying: false,
                is_dead: false,
                is_reaped: false,
                waits_for_all: false,
                access: None,
                spin: Spin::default(),
                timeouts: (0, 0),
                is_patient: false,
                signal: 0,
                n_spurious: 0,
                asked: None,
            });
            self.of_slot.push(number);
            if let Some(parent) = parent.filter(|_| !is_thread) {
                self.start_child(parent, number, world);
                self.copy_objects(parent, number, world);
            }
        }
        Ok(())
    }

    /// The parent's children are one more.
    fn start_child(&mut self, parent: ProcessId, child: ProcessId, world: &mut World) {
        let own = self.tasks[parent as usize].as_ref().map_or(0, |task| task.process);
        let children = self.object(world, Key { kind: Kind::Children, space: 0, address: u64::from(own) }, 0);
        let start = Action::Custom { code: CHILD_STARTS, input: u64::from(child) };
        world.change(children, |children| children.execute(parent, start, 0));
    }

    pub(super) fn is_news(&self, process: ProcessId) -> bool {
        let task = self.tasks[process as usize].as_ref();
        task.is_some_and(|task| task.announced.is_none() && !task.is_leaving && !task.is_ended)
    }

    pub(super) fn note_end(&mut self, process: ProcessId, world: &mut World) {
        if let Some(task) = self.tasks[process as usize].as_mut().filter(|task| !task.is_ended) {
            task.is_ended = true;
            // What it was about to do might have come before the end of its process.
            task.is_dead = self.learned.lives && task.announced.is_some();
            if !task.is_dead {
                world.end(process);
            }
        }
    }

    pub(super) fn crash(&self, slot: usize) -> Failure {
        let signal = self.views[slot].op as i32;
        let kind = if signal == libc::SIGABRT { FailureKind::Assertion } else { FailureKind::Panic };
        Failure::new(kind, self.process_of_slot(slot), format!("ended by {}", signal_name(signal)))
    }

    pub(super) fn slot(&self, process: ProcessId) -> usize {
        self.tasks[process as usize].as_ref().map_or(0, |task| task.slot)
    }

    pub(super) fn task_object(&self, process: ProcessId) -> ObjectId {
        self.tasks[process as usize].as_ref().map_or(0, |task| task.object)
    }

    /// The end of a process, which its parent may wait for; nothing if nobody can tell. The thread may have ended before.
    pub(super) fn end_of_process(
        &mut self,
        process: ProcessId,
        own: u32,
        has_exited: bool,
        world: &mut World,
    ) -> Option<Op> {
        let exit = Part { object: self.task_object(process), action: Action::Exit };
        let mut parts: Vec<Part> = (!has_exited).then_some(exit).into_iter().collect();
        if let Some((leader, parent)) = self.leader(own).filter(|_| own > 0) {
            let key = Key { kind: Kind::Children, space: 0, address: u64::from(parent) };
            let ends = Action::Custom { code: CHILD_ENDS, input: u64::from(leader) };
            parts.push(Part { object: self.object(world, key, 0), action: ends });
            if self.learned.has_signals {
                parts.push(self.ringing(parent, libc::SIGCHLD, world));
            }
        }
        (!parts.is_empty()).then(|| Op::on_all(&parts))
    }

    /// What a task does it does before its process ends, or never.
    pub(super) fn while_it_lives(
        &mut self,
        process: ProcessId,
        own: u32,
        mut made: Op,
        world: &mut World,
    ) -> Result<Op, Failure> {
        let has_threads = self.tasks.iter().flatten().any(|task| task.process == own && task.is_thread);
        let is_dying = self.tasks[process as usize].as_ref().is_some_and(|task| task.is_dying);
        let task = self.tasks[process as usize].as_ref();
        let takes_signals = self.learned.has_signals && task.is_some_and(|task| !task.is_thread);
        if is_dying || !(self.learned.lives && has_threads || takes_signals) {
            return Ok(made);
        }
        let life = self.life(own, world);
        // It is about its life already.
        if made.parts.iter().any(|part| part.object == life) {
            return Ok(made);
        }
        // A toss is a choice of this part.
        let input = if made.parts.is_empty() { u64::from(made.toss) } else { 0 };
        made.parts.push(Part { object: life, action: Action::Custom { code: GO, input } });
        made.toss = 1;
        Ok(made)
    }
}
