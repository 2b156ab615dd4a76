//! Waiting for children: for one of them, for any, or for all one after the other.

use super::{AGAIN, Controller, Key, Kind, Task};
use crate::objects::{AWAIT_ANY, AWAIT_CHILD, LOOK_AT_CHILD};
use stubborn_schedule::{Action, Failure, Op, ProcessId, World};

/// What a call of `waitpid` asks for.
pub(super) struct Asked {
    /// Which process, or `u64::MAX` for any.
    pub(super) wanted: u64,
    pub(super) only_looks: bool,
    pub(super) for_status: bool,
    /// Where it returns to.
    pub(super) site: u64,
}

impl Controller {
    /// The first task of a process, and the process that started it.
    pub(super) fn leader(&self, process: u32) -> Option<(ProcessId, u32)> {
        let is_leader = |task: &Task| task.process == process && !task.is_thread;
        let number = self.tasks.iter().position(|task| task.as_ref().is_some_and(is_leader))?;
        let slot = self.tasks[number].as_ref()?.slot;
        let parent = self.process_of_slot(self.views[slot].parent);
        Some((number as ProcessId, self.tasks[parent as usize].as_ref()?.process))
    }

    /// Children of a process that nobody has waited for.
    fn children(&self, process: u32) -> impl Iterator<Item = (ProcessId, &Task)> {
        let tasks =
            self.tasks.iter().flatten().filter(|task| !task.is_thread && !task.is_reaped && task.process > 0);
        tasks.filter_map(move |task| {
            let (leader, _) = self.leader(task.process).filter(|&(_, parent)| parent == process)?;
            Some((leader, task))
        })
    }

    /// Waiting for a child; `None` if there is none.
    ///
    /// Who waits for all children one after the other, does not ask which, and does nothing in between cannot tell in which order they end: then
    /// the eldest is waited for. That nothing else is done is watched (see [`Controller::does_something_else`]); that nobody looks at what the call
    /// returns is in the code.
    pub(super) fn await_child(
        &mut self,
        process: ProcessId,
        own: u32,
        asked: Asked,
        world: &mut World,
    ) -> Result<Option<Op>, Failure> {
        let is_wanted = |task: &Task| asked.wanted == u64::MAX || u64::from(task.process) == asked.wanted;
        let wanted = self.children(own).filter(|(_, task)| is_wanted(task)).map(|(leader, _)| leader).min();
        let Some(first) = wanted else { return Ok(None) };
        let children = self.object(world, Key { kind: Kind::Children, space: 0, address: u64::from(own) }, 0);
        let is_any = asked.wanted == u64::MAX;
        if !is_any || asked.only_looks {
            self.does_something_else(process)?;
        }
        let (code, input) = match (is_any, asked.only_looks) {
            (true, true) => (AWAIT_ANY, 1),
            (true, false) if self.learned.asks_which_child => (AWAIT_ANY, 0),
            (true, false) => {
                let returns_to = asked.site.wrapping_sub(self.base());
                if asked.for_status || !self.code.ignores_result(returns_to) {
                    return Err(self.which_child_matters(process));
                }
                self.tasks[process as usize].iter_mut().for_each(|task| task.waits_for_all = true);
                (AWAIT_CHILD, u64::from(first))
            }
            (false, true) => (LOOK_AT_CHILD, u64::from(first)),
            (false, false) => (AWAIT_CHILD, u64::from(first)),
        };
        Ok(Some(Op::on(children, Action::Custom { code, input })))
    }

    pub(super) fn which_child_matters(&mut self, process: ProcessId) -> Failure {
        self.learned.asks_which_child = true;
        Failure::limit(process, AGAIN)
    }

    /// A task does something other than waiting. If it was taken to wait for all of its children, and some are left, it was not so.
    pub(super) fn does_something_else(&mut self, process: ProcessId) -> Result<(), Failure> {
        let Some(task) = self.tasks[process as usize].as_mut() else { return Ok(()) };
        let own = task.process;
        if std::mem::take(&mut task.waits_for_all) && self.children(own).next().is_some() {
            return Err(self.which_child_matters(process));
        }
        Ok(())
    }

    /// Nobody can move. If one of those who wait for the eldest child has another that has ended, it could.
    pub(super) fn look_for_other_children(&mut self) -> Result<(), Failure> {
        let waits = |(number, task): (usize, &Option<Task>)| {
            let task = task.as_ref().filter(|task| task.waits_for_all && !task.is_ended)?;
            let has_other = self.children(task.process).any(|(_, child)| child.is_ended);
            has_other.then_some(number as ProcessId)
        };
        match self.tasks.iter().enumerate().find_map(waits) {
            Some(process) => Err(self.which_child_matters(process)),
            None => Ok(()),
        }
    }
}
