//! The choice as a function of the state: the same whoever makes it, and whenever.
//!
//! **Implements** [`Sieve`] with the sets of [`choose`](super::choose). What that one decides by counts is decided once for a whole search here: a set is picked in every state,
//! and deletion is tried everywhere or nowhere. Where tables would have to be refused, or hold no more rows, the choice would depend on what came before: then the sieve is given up, and
//! with it the search.
//! **Preserves** D0, D1, D2, as the sets do.
//! **Checked by** `oracle/tests/all/steady.rs`: searches that expand states in another order, or by several threads, find the same states; and by the definition, in a sample.

use super::algorithms::Purpose;
use super::choose::NetworkReduction;
use super::population::Watched;
use crate::{CheckDepth, Explored, ReductionKind, Shown, Sieve, Sieves};
use fixedbitset::FixedBitSet;
use stubborn_network::Network;
use stubborn_system::{Fault, TransitionId};

impl NetworkReduction<'_> {
    /// Whether the choice can be had as a function of the state.
    fn can_sift(&self) -> bool {
        self.purpose == Purpose::States
            && !matches!(self.kind, ReductionKind::None | ReductionKind::UpSets)
            && !self.is_off
            && self.depth != Some(CheckDepth::Everything)
    }

    /// A search begins for which the choice is a function of the state, if that is possible.
    pub(super) fn begin_sifting(&mut self) -> Option<&mut dyn Sieve<[u8]>> {
        if !self.can_sift() {
            return None;
        }
        let tries_deletion = self.tries_deletion();
        self.forget_numbers();
        self.sifts = Some(tries_deletion);
        Some(self)
    }

    /// The same for threads.
    pub(super) fn elsewhere(&self) -> Option<Box<dyn Sieves<[u8]> + '_>> {
        let make = || Elsewhere {
            network: self.network,
            watched: self.watched.clone(),
            kind: self.kind,
            burials: self.burials.clone(),
            tries_deletion: self.tries_deletion(),
            room: self.memo.room(),
        };
        self.can_sift().then(|| Box::new(make()) as Box<dyn Sieves<[u8]>>)
    }
}

impl Sieve<[u8]> for NetworkReduction<'_> {
    fn sift(
        &mut self,
        made: &[TransitionId],
        state: &mut dyn Shown<[u8]>,
    ) -> Result<Option<Explored<'_>>, Fault> {
        if self.is_to_be_checked() {
            let mut checked = Ok(());
            state.show(&mut |state| checked = self.check(state));
            // Whoever searches without order cannot tell; the search in order that follows does.
            self.fault = checked.clone().err();
            checked?;
        }
        self.made.clear();
        self.made.extend_from_slice(made);
        // Which steps made them is asked where it is not remembered what to choose.
        self.groups.clear();
        if self.burials.is_some() {
            self.note_groups();
            if let Some(burial) = self.burial() {
                self.kept.clear();
                self.kept.grow(made.len());
                self.kept.insert(burial);
                return Ok(Some(Explored::Set(&self.kept)));
            }
        }
        self.choose_everything();
        if self.network.is_of_one_process(made) {
            return Ok(Some(Explored::Everything));
        }
        self.choose(state)?;
        // What was found without tables had them when it was chosen.
        if let Some(shortcut) = self.shortcut {
            return Ok(Some(Explored::Bits(shortcut.kept)));
        }
        if !self.has_tables() {
            return Ok(None);
        }
        self.kept.clear();
        self.kept.grow(made.len());
        for i in 0..made.len() {
            self.kept.set(i, self.fate(i).0);
        }
        Ok(Some(Explored::Set(&self.kept)))
    }

    fn bytes(&self) -> usize {
        self.n_bytes()
    }

    fn work(&self) -> u64 {
        self.n_compared
    }
}

/// What it takes to choose the same in another thread.
struct Elsewhere<'n> {
    network: &'n Network,
    watched: Watched,
    kind: ReductionKind,
    burials: Option<FixedBitSet>,
    tries_deletion: bool,
    /// What a memory of choices may be, in bytes.
    room: usize,
}

impl Sieves<[u8]> for Elsewhere<'_> {
    fn lend(&self, work: &mut dyn FnMut(&mut dyn Sieve<[u8]>)) {
        let watched = self.watched.clone();
        let mut reduction = NetworkReduction::watching(self.network, watched, Purpose::States, self.kind);
        reduction.burials.clone_from(&self.burials);
        reduction.sifts = Some(self.tries_deletion);
        reduction.memo.confine(self.room);
        work(&mut reduction);
    }
}
