//! Semaphores of System V, as counters of ones where that is all that they are.

use super::{AGAIN, Controller, Key, Kind};
use crate::objects::{ADD, AWAIT_ZERO, SUBTRACT};
use stubborn_schedule::{Action, Failure, Op, Part, ProcessId, World};

impl Controller {
    /// An operation on a semaphore that is more than a counter of ones.
    pub(super) fn wide(
        &mut self,
        world: &mut World,
        key: Key,
        code: u32,
        input: u64,
        by: ProcessId,
    ) -> Result<Op, Failure> {
        if self.learned.wide.insert((key.address, key.space)) {
            return Err(Failure::limit(by, AGAIN));
        }
        Ok(Op::on(self.object(world, key, 0), Action::Custom { code, input }))
    }

    /// What `semop` asks for; or its answer, if nothing is to be waited for.
    pub(super) fn semop(
        &mut self,
        process: ProcessId,
        set: u64,
        n: usize,
        world: &mut World,
    ) -> Result<Result<Op, u64>, Failure> {
        const NOWAIT: u16 = libc::IPC_NOWAIT as u16;
        let slot = self.slot(process);
        let buffers: Vec<(u64, i16, u16)> = (0..n.min(80))
            .map(|i| {
                let short = |k: usize| self.views[slot].short(6 * i + 2 * k);
                (u64::from(short(0)), short(1) as i16, short(2))
            })
            .collect();
        let mut parts = Vec::new();
        for &(number, by, flags) in &buffers {
            let key = Key { kind: Kind::SysV, space: number, address: set };
            let is_wide = self.learned.wide.contains(&(set, number));
            let is_try = flags & NOWAIT != 0;
            if buffers.iter().filter(|other| other.0 == number).count() > 1 || (is_try && n > 1) {
                return Err(Failure::limit(
                    process,
                    "semop with several operations on one semaphore, or with several and IPC_NOWAIT, is not controlled",
                ));
            }
            let action = match by {
                -1 if !is_wide && is_try => Action::TryAcquire,
                -1 if !is_wide => Action::Acquire,
                1 if !is_wide => Action::Release,
                _ if is_try && by <= 0 => {
                    return Err(Failure::limit(
                        process,
                        "semop with IPC_NOWAIT by more than one is not controlled",
                    ));
                }
                _ if !is_wide => {
                    self.learned.wide.insert((set, number));
                    return Err(Failure::limit(process, AGAIN));
                }
                0 => Action::Custom { code: AWAIT_ZERO, input: 0 },
                by if by < 0 => Action::Custom { code: SUBTRACT, input: u64::from(by.unsigned_abs()) },
                by => Action::Custom { code: ADD, input: by as u64 },
            };
            parts.push(Part { object: self.object(world, key, 0), action });
        }
        Ok(if parts.is_empty() { Err(0) } else { Ok(Op::on_all(&parts)) })
    }
}
