//! A search of a Promela model for all that may be wrong with single states, from its text to the verdict.

use stubborn_explore::{End, Limits, Stats, Unwatched};
use stubborn_network::{Network, Optimisations};
use stubborn_reduce::{NetworkReduction, Reduction};
use stubborn_system::Question;
use stubborn_verdict::{AnySystem, EngineKind, Options, ReductionKind, analyse_with};

/// How it is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As `stubborn check` does it: with stubborn sets, or without where that turns out to be less work.
    Default,
    /// With these stubborn sets in any case: `--reduction scc+deletion`.
    Reduced,
    /// Without, but with the same optimisations: `--reduction none --optimise all`.
    Optimised,
    /// Every state that SPIN has, too: `--reduction none`.
    Full,
}

/// What the last search counted; `None` if there are more states than `most`.
pub(crate) fn search(mut network: Network, way: Way, most: u64) -> Option<Stats> {
    if way != Way::Full {
        network = network.optimised(Optimisations::ALL, &[]).network;
    }
    let make = |kind: ReductionKind| {
        let make = || {
            Box::new(NetworkReduction::new(&network, &[], kind)) as Box<dyn Reduction<AnySystem<'_, [u8]>>>
        };
        (kind != ReductionKind::None).then(make)
    };
    let is_reduced = matches!(way, Way::Default | Way::Reduced);
    let options = Options {
        questions: Some(vec![Question::Safety, Question::Deadlock]),
        reduction: if is_reduced { ReductionKind::Smaller } else { ReductionKind::None },
        race: (way == Way::Default).then(Default::default),
        engine: EngineKind::Auto,
        limits: Limits { states: most, ..Limits::default() },
        all_errors: true,
        show_no_return: false,
        ..Options::default()
    };
    let analysis = analyse_with(&network, &make, &options, &mut Unwatched).expect("no fault");
    let phase = analysis.phases.last().expect("a search");
    (phase.end == End::Complete).then_some(phase.stats)
}
