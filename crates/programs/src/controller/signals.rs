//! Signals between processes: from one to another, and to a parent when a child ends.
//!
//! A signal that comes is noted. The first thread of the process takes it before whatever it was about to do, whether that could be done or had to wait: what
//! it had announced is put back, and announced again when the handler is done. So signals come between any two operations of the thread. Every operation
//! of it is one on the life of its process, with which the coming of a signal is in conflict.
//! **Differs from the text** of POSIX in that signals come to the first thread only, and that none comes in the middle of what is not visible.
//! **Checked by** `tests/programs.rs`.

use super::views::View;
use super::{AGAIN, Controller, INTERRUPT, Key, Kind, code};
use crate::objects::{EITHER, RING, TAKE};
use crate::shared::WAITED;
use stubborn_schedule::{Action, Failure, ObjectId, Op, Part, ProcessId, World};

impl Controller {
    pub(super) fn life(&mut self, process: u32, world: &mut World) -> ObjectId {
        self.object(world, Key { kind: Kind::Life, space: 0, address: u64::from(process) }, 0)
    }

    /// Signals count: if that is news, the exploration begins again.
    pub(super) fn learn_signals(&mut self, process: ProcessId) -> Result<(), Failure> {
        match std::mem::replace(&mut self.learned.has_signals, true) {
            true => Ok(()),
            false => Err(Failure::limit(process, AGAIN)),
        }
    }

    /// A signal to a process; `None` if there is none with this number.
    pub(super) fn kill(&mut self, to: u32, signal: u64, world: &mut World) -> Option<Op> {
        let (leader, _) = self.leader(to)?;
        if self.tasks[leader as usize].as_ref()?.is_reaped {
            return None;
        }
        let life = self.life(to, world);
        Some(Op::on(life, Action::Custom { code: RING, input: signal }))
    }

    /// The coming of a signal, as part of something else.
    pub(super) fn ringing(&mut self, to: u32, signal: i32, world: &mut World) -> Part {
        Part { object: self.life(to, world), action: Action::Custom { code: RING, input: signal as u64 } }
    }

    /// A signal has come to a process.
    pub(super) fn ring(&mut self, to: u32, signal: u64) {
        let Some((leader, _)) = self.leader(to) else { return };
        let Some(task) = self.tasks[leader as usize].as_ref().filter(|task| !task.is_ended) else { return };
        let bit = if (1..=64).contains(&signal) { 1 << (signal - 1) } else { 0 };
        if self.views[task.slot].ignored & bit == 0 {
            *self.pending_signals.entry(to).or_default() |= bit;
        }
    }

    /// A task takes the signal that has come; 1 in `out` if that was just before its call. Others of the same number that have come are the same.
    pub(super) fn take_signal(&mut self, process: ProcessId, out: u64) {
        let Some(task) = self.tasks[process as usize].as_ref() else { return };
        let (slot, signal, own) = (task.slot, task.signal, task.process);
        let number = signal & !WAITED;
        self.pending_signals.entry(own).and_modify(|pending| *pending &= !(1 << (number - 1)));
        self.grant_signal(slot, if out == 1 { number } else { signal });
    }

    /// Whoever has been sent a signal that it lets through takes it before anything else.
    pub(super) fn interrupt(&mut self, world: &mut World) -> Result<(), Failure> {
        let mut processes: Vec<u32> = self.pending_signals.keys().copied().collect();
        processes.sort_unstable();
        for own in processes {
            let Some((leader, _)) = self.leader(own) else { continue };
            let pending = self.pending_signals.get(&own).copied().unwrap_or(0);
            let Some(task) = self.tasks[leader as usize].as_ref() else { continue };
            let View { op, args, blocked, ignored, restarts, .. } = self.views[task.slot];
            let let_through = pending & !blocked & !ignored;
            let is_taking = matches!(task.announced, Some((INTERRUPT, _)));
            if let_through == 0 || is_taking || task.is_leaving {
                continue;
            }
            if task.is_ended {
                let others = self.tasks.iter().flatten().any(|task| task.process == own && !task.is_ended);
                if others {
                    let why = "a signal to a process whose first thread has ended is not controlled";
                    return Err(Failure::limit(leader, why));
                }
                continue;
            }
            let bit = let_through.trailing_zeros();
            let waited = if world.enabled().contains(leader) { 0 } else { WAITED };
            // Who waits for a signal and lets it through at once cannot be too late.
            let is_given_up = match op {
                code::PAUSE => args[0] == 0,
                code::SEMOP | code::SEND | code::RECEIVE | code::LISTEN => true,
                code::PIPE_READ | code::PIPE_WRITE | code::WAIT_CHILD | code::ACQUIRE => {
                    restarts >> bit & 1 == 0
                }
                _ => false,
            };
            let either = if waited > 0 && is_given_up { EITHER } else { 0 };
            let life = self.life(own, world);
            let taken = Op::on(life, Action::Custom { code: TAKE, input: u64::from(bit + 1) | either });
            let task = self.tasks[leader as usize].as_mut().expect("it is there");
            task.signal = (bit + 1) | waited;
            task.access = None;
            task.is_patient = false;
            task.asked = None;
            let taken = taken.at(task.site);
            task.announced = Some((INTERRUPT, taken.clone()));
            world.announce(leader, taken);
        }
        Ok(())
    }
}
