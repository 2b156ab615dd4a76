//! Programs as data: small processes over objects, for tests, measurements and first steps.
//!
//! A process is a list of instructions; what it gets goes into a register, and jumps look at the register of the
//! last operation.

use crate::objects::Object;
use crate::op::{Op, ProcessId};
use crate::program::{Failure, Program};
use crate::world::World;

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// A visible operation.
    Do(Op),
    /// Skips so many of the next instructions if the last output was this.
    SkipIf(u64, usize),
    /// Leaves the barrier at which the process has just arrived.
    Leave(u32),
}

/// Processes as lists of instructions.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The objects, with their first values.
    pub objects: Vec<Object>,
    /// The processes.
    pub processes: Vec<Vec<Instruction>>,
    places: Vec<usize>,
}

impl Script {
    /// Processes over objects.
    pub fn new(objects: Vec<Object>, processes: Vec<Vec<Instruction>>) -> Script {
        Script { objects, processes, places: Vec::new() }
    }

    fn go_on(&mut self, process: ProcessId, out: u64, world: &mut World) {
        let p = process as usize;
        loop {
            let instruction = self.processes[p].get(self.places[p]);
            self.places[p] = self.places[p].saturating_add(1);
            match instruction {
                None => return world.end(process),
                Some(Instruction::Do(op)) => return world.announce(process, op.clone()),
                Some(Instruction::Leave(object)) => {
                    let generation = crate::objects::Barrier::generation(out);
                    let op = Op::on(*object, crate::op::Action::Leave(generation));
                    return world.announce(process, op);
                }
                Some(&Instruction::SkipIf(value, n)) => {
                    if out == value {
                        self.places[p] = self.places[p].saturating_add(n);
                    }
                }
            }
        }
    }
}

impl Program for Script {
    fn reset(&mut self, world: &mut World) {
        for object in &self.objects {
            world.create(object.clone());
        }
        self.places = vec![0; self.processes.len()];
        for process in 0..self.processes.len() as ProcessId {
            self.go_on(process, u64::MAX, world);
        }
    }

    fn resume(&mut self, process: ProcessId, out: u64, world: &mut World) -> Result<(), Failure> {
        self.go_on(process, out, world);
        Ok(())
    }
}
