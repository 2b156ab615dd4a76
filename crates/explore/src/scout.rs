//! Who explores packed states for a search that only asks which there are.

use crate::Visitor;
use crate::explorer::{Counts, Explorer, Unclear};
use crate::settle::nothing;
use stubborn_packed::{Odd, Packed, States};
use stubborn_system::System;

/// A packed system, and who looks at its states.
pub struct Scout<'a, 'y, Y: System + ?Sized, V, const N: usize> {
    packed: &'a Packed<'y, Y, N>,
    visitor: V,
}

impl<'a, 'y, Y: System + ?Sized, V: Visitor<[u64; N]>, const N: usize> Scout<'a, 'y, Y, V, N> {
    /// Explores this system.
    pub fn new(packed: &'a Packed<'y, Y, N>, visitor: V) -> Self {
        Self { packed, visitor }
    }
}

impl<Y: System + ?Sized, V: Visitor<[u64; N]>, const N: usize> Explorer<N> for Scout<'_, '_, Y, V, N> {
    fn expand(
        &mut self,
        states: &mut States<N>,
        n: &mut usize,
        enough: usize,
        out: &mut States<N>,
    ) -> Result<Counts, Unclear> {
        let mut terminal = 0;
        let edges = self.packed.successors_of(states, n, enough, out, &mut |key, odd| match odd {
            Odd::Terminal => {
                terminal += 1;
                nothing(self.visitor.terminal(key))
            }
            Odd::Flagged => nothing(self.visitor.flagged(key)),
            Odd::Cut => Err(Unclear::Seen),
        })?;
        Ok(Counts { edges, terminal, repairs: 0 })
    }

    fn arrive(&mut self, keys: &[[u64; N]], new: &[u32]) -> Result<(), Unclear> {
        new.iter().try_for_each(|&i| nothing(self.visitor.arrive(&keys[i as usize])))
    }

    fn looks_at_new(&self) -> bool {
        self.visitor.looks_at_found()
    }

    fn bytes(&self) -> usize {
        self.packed.bytes()
    }
}
