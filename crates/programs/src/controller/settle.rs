//! From one global state to the next: one task is let go on, requests that are not visible are answered at once, and when nobody
//! moves the world knows what everybody is about to do.

use super::{AGAIN, Controller, Kind};
use crate::memory::Access;
use crate::shared::{ANNOUNCED, CRASHED, ENDED};
use stubborn_schedule::{Failure, FailureKind, Part, ProcessId, World};

impl Controller {
    /// Lets everybody go on until all have announced something visible, or have ended.
    pub(super) fn settle(&mut self, world: &mut World) -> Result<(), Failure> {
        loop {
            self.next_moment()?;
            self.meet_newcomers(world)?;
            let mut is_granted = false;
            for slot in 0..self.of_slot.len() {
                let process = self.of_slot[slot];
                match self.views[slot].state {
                    CRASHED => return Err(self.crash(slot)),
                    ENDED => self.note_end(process, world),
                    ANNOUNCED if self.is_news(process) => {
                        if let Some(out) = self.take_announcement(process, world)? {
                            self.grant(slot, out, None);
                            is_granted = true;
                            break;
                        }
                    }
                    _ => {}
                }
            }
            if is_granted {
                continue;
            }
            self.interrupt(world)?;
            self.look_for_races()?;
            self.rely_on_no_chance(world);
            if world.enabled().is_empty() {
                self.look_for_other_children()?;
                self.look_for_removed_objects()?;
                if self.lose_patience(world) {
                    return Ok(());
                }
            }
            let leaving = self.tasks.iter_mut().flatten().find(|task| task.is_leaving && !task.is_ended);
            let Some(leaving) = leaving else { return Ok(()) };
            let (slot, process) = (leaving.slot, leaving.process);
            if self.tasks.iter().flatten().any(|task| task.process != process && !task.is_ended) {
                self.learned.lives = true;
                return Err(Failure::limit(0, AGAIN));
            }
            // Nobody else is there, so nobody can tell whether a process ended before its threads did all they could.
            if !world.enabled().is_empty() {
                return Ok(());
            }
            self.tasks
                .iter_mut()
                .flatten()
                .filter(|task| task.slot == slot)
                .for_each(|task| task.is_leaving = false);
            self.grant(slot, 0, None);
        }
    }

    /// Whether two tasks are about to access the same memory, which nothing but chance orders.
    fn look_for_races(&mut self) -> Result<(), Failure> {
        let pending: Vec<(ProcessId, u64, Access)> = self
            .tasks
            .iter()
            .enumerate()
            .filter_map(|(number, task)| {
                let task = task.as_ref().filter(|task| !task.is_ended)?;
                Some((number as ProcessId, task.site, task.access?))
            })
            .collect();
        for (i, one) in pending.iter().enumerate() {
            let other = pending[..i].iter().find(|two| two.2.races_with(one.2));
            if let Some(two) = other {
                self.race = Some([*two, *one]);
                return Err(Failure::new(FailureKind::DataRace, one.0, "two accesses at the same time"));
            }
        }
        Ok(())
    }

    /// Nobody can move, and somebody waits for what was removed: the system would have said so.
    fn look_for_removed_objects(&self) -> Result<(), Failure> {
        for (number, task) in self.tasks.iter().enumerate() {
            let Some((_, op)) = task.as_ref().and_then(|task| task.announced.as_ref()) else { continue };
            let is_removed = |part: &Part| {
                self.keys.get(part.object as usize).is_some_and(|key| {
                    matches!(key.kind, Kind::SysV | Kind::Queue) && self.removed.contains(&key.address)
                })
            };
            if op.parts.iter().any(is_removed) {
                let why = "a semaphore or queue was removed while somebody waits for it (EIDRM), which is not controlled";
                return Err(Failure::limit(number as ProcessId, why));
            }
        }
        Ok(())
    }
}
