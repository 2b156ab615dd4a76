//! The way in: systems by the kind of their states.
//!
//! Searches are compiled for each kind of state that there is, here, and once: not again for every system, and not in every crate that
//! asks something. Whatever a search asks of the system itself goes through a table of functions: a call for each state as long as the system itself
//! makes the successors, and hardly any on keys, where they are remembered.
//! Rejections are those of processes, whose states are words; properties of runs those of networks, whose states are bytes
//! ([`check_runs`](crate::check_runs) takes no others).

use crate::analysis::{self, Analysis, Broken};
use crate::{Options, RejectionOptions, rejections};
use stubborn_explore::Watch;
use stubborn_system::{Rejecting, Vector, Whole, WordVector};

/// Any system with these states.
pub type AnySystem<'y, S> = dyn Whole<State = S> + 'y;

/// Makes the reduction of a kind for a system that knows better than its rules say; `None` if it does not.
pub type MakeReduction<'m, 'y, S> = analysis::Make<'m, AnySystem<'y, S>>;

/// A kind of states that systems may have.
pub trait Kind: Vector {
    /// What [`analyse_with`] does.
    fn analyse<'y>(
        system: &AnySystem<'y, Self>,
        own: &MakeReduction<'_, 'y, Self>,
        options: &Options,
        watch: &mut dyn Watch,
    ) -> Result<Analysis, Box<Broken>>;
}

/// A kind of states that systems with rejections may have.
pub trait WordKind: Kind + WordVector {
    /// What [`check_rejections`] does.
    fn check_rejections(
        system: &dyn Rejecting<State = Self>,
        rejection_options: RejectionOptions,
        options: &Options,
        watch: &mut dyn Watch,
    ) -> Result<Analysis, Box<Broken>>;
}

macro_rules! kinds {
    ($($state:ty),*) => {$(
        impl Kind for $state {
            fn analyse<'y>(
                system: &AnySystem<'y, Self>,
                own: &MakeReduction<'_, 'y, Self>,
                options: &Options,
                watch: &mut dyn Watch,
            ) -> Result<Analysis, Box<Broken>> {
                analysis::analyse(system, own, options, watch)
            }
        }
    )*};
}

macro_rules! word_kinds {
    ($($state:ty),*) => {$(
        impl WordKind for $state {
            fn check_rejections(
                system: &dyn Rejecting<State = Self>,
                rejection_options: RejectionOptions,
                options: &Options,
                watch: &mut dyn Watch,
            ) -> Result<Analysis, Box<Broken>> {
                rejections::check_rejections(system, rejection_options, options, watch)
            }
        }
    )*};
}

// Bytes for networks, words for models as code and for processes, as few as will do.
kinds!([u8], [u64; 1], [u64; 2], [u64; 4], [u64]);
word_kinds!([u64; 1], [u64; 2], [u64; 4], [u64]);

/// Answers the questions.
pub fn analyse<Y: Whole<State: Kind>>(
    system: &Y,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Analysis, Box<Broken>> {
    analyse_with(system, &|_| None, options, watch)
}

/// Answers the questions, with reductions of the system's own.
pub fn analyse_with<'y, Y: Whole<State: Kind> + 'y>(
    system: &Y,
    own: &MakeReduction<'_, 'y, Y::State>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Analysis, Box<Broken>> {
    Y::State::analyse(system, own, options, watch)
}

/// Answers for all rejections of a system, in their order.
pub fn check_rejections<Y: Rejecting<State: WordKind>>(
    system: &Y,
    rejection_options: RejectionOptions,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Analysis, Box<Broken>> {
    Y::State::check_rejections(system, rejection_options, options, watch)
}
