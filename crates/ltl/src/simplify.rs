//! Smaller automata of the same language, until nothing changes.

use crate::Automaton;
use crate::acceptance::{normalise, trim};
use crate::simulation::{reduce_backwards, reduce_forwards};
use crate::translate::size;

/// An automaton for the same language, hardly ever larger: without useless states, marks and sets, reduced by
/// simulation in both directions. Acceptance on states stays acceptance on states.
pub fn simplify(automaton: &Automaton) -> Automaton {
    let mut best = normalise(&trim(automaton));
    loop {
        let forwards = reduce_forwards(&best).map_or_else(|| best.clone(), |a| normalise(&trim(&a)));
        let backwards =
            reduce_backwards(&forwards).map_or_else(|| forwards.clone(), |a| normalise(&trim(&a)));
        if size(&backwards) >= size(&best) {
            return if size(&forwards) < size(&best) { forwards } else { best };
        }
        best = backwards;
    }
}
