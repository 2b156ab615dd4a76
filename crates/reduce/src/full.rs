//! No reduction: the baseline.

use crate::{Preserves, Reduction};
use stubborn_system::{Batch, Fault, System, TransitionId};

/// Fires everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Full;

impl<Y: System + ?Sized> Reduction<Y> for Full {
    fn name(&self) -> String {
        "none".into()
    }

    fn preserves(&self) -> Preserves {
        Preserves::Everything
    }

    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        system.successors(state, out)
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn is_partial(&self) -> bool {
        false
    }

    fn is_steady(&self) -> bool {
        true
    }

    fn stubborn_set(&mut self, system: &Y, _: &Y::State, out: &mut Vec<TransitionId>) -> Result<(), Fault> {
        out.extend((0..system.n_transitions()).map(TransitionId::from));
        Ok(())
    }
}
