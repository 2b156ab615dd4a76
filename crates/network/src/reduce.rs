//! What reductions ask of a system. A network has no rules yet, so a stubborn set is everything, and no
//! symmetry.

use crate::Network;
use stubborn_system::{Fault, Requirements, Rules, Symmetric, System, TransitionId};

impl Rules for Network {
    fn require(&self, _: &[u8], _: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        out.add_all(self.n_transitions());
        Ok(())
    }
}

impl Symmetric for Network {
    fn represent(&self, _: &mut [u8]) -> Result<(), Fault> {
        Ok(())
    }
}
