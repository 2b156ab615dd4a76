//! Crossing the river with a wolf, a goat and a cabbage: a puzzle solved by asking for the impossible.
//!
//! **From** the collection of problems attributed to Alcuin of York (about 800). The farmer rows; the
//! boat has the given number of seats for passengers. On a bank without the farmer the wolf eats the goat
//! and the goat eats the cabbage, so crossings that would allow it are not enabled.
//!
//! The question claims that *not* everybody gets across: the counterexample is the solution.
//!
//! **Expect**: `classic` fails safety, by seven crossings if there is one seat. In `greedy-wolf` the wolf
//! likes cabbage too; with one seat there is no solution, so safety passes.

use crate::Entry;
use stubborn_model::{Array, Footprint, Layout, Model, Question, State, Var};

pub(crate) const ENTRY: Entry = Entry {
    name: "river",
    about: "a farmer, a wolf, a goat and a cabbage cross a river; the counterexample is the solution",
    default_size: 1,
    sizes: 1..=3,
    size_means: "seats beside the farmer",
    variants: &[
        (Variant::Classic.word(), "the wolf eats the goat, the goat eats the cabbage"),
        (Variant::GreedyWolf.word(), "the wolf eats the cabbage, too: one seat is not enough"),
    ],
    default_variant: Variant::Classic.word(),
    make: |size, variant| Box::new(River::new(size, Variant::ALL[variant])),
};

/// Who eats whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The wolf eats the goat, the goat eats the cabbage.
    Classic,
    /// The wolf eats the cabbage, too.
    GreedyWolf,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::Classic, Self::GreedyWolf];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::GreedyWolf => "greedy-wolf",
        }
    }

    /// Who must not be left alone with whom.
    fn appetites(self) -> &'static [(usize, usize)] {
        match self {
            Self::Classic => &[(WOLF, GOAT), (GOAT, CABBAGE)],
            Self::GreedyWolf => &[(WOLF, GOAT), (GOAT, CABBAGE), (WOLF, CABBAGE)],
        }
    }
}

const WOLF: usize = 0;
const GOAT: usize = 1;
const CABBAGE: usize = 2;
const NAMES: [&str; 3] = ["wolf", "goat", "cabbage"];

const NEAR: usize = 0;
const FAR: usize = 1;

/// The model.
pub struct River {
    seats: usize,
    variant: Variant,
    layout: Layout,
    farmer: Var,
    /// The bank of each passenger.
    bank: Array,
    /// Who is in the boat, for each transition.
    boats: Vec<Vec<usize>>,
}

impl River {
    /// The puzzle with a boat for the farmer and this many passengers.
    ///
    /// # Panics
    ///
    /// If the size is out of the range that [`crate::entries`] gives.
    pub fn new(seats: usize, variant: Variant) -> Self {
        ENTRY.expect_size(seats);
        let mut layout = Layout::new();
        let farmer = layout.named("farmer", &["near", "far"]);
        let bank = layout.named_array("passenger", NAMES.len(), &["near", "far"]);
        let subset = |bits: usize| (0..NAMES.len()).filter(|passenger| bits >> passenger & 1 == 1).collect();
        let boats = (0..1 << NAMES.len()).map(subset).filter(|boat: &Vec<usize>| boat.len() <= seats);
        Self { seats, variant, layout, farmer, bank, boats: boats.collect() }
    }

    /// Whether all of `boat` are on this bank, and who is left behind there will not be eaten.
    fn can_cross(&self, boat: &[usize], here: usize, s: &State<'_>) -> bool {
        let is_here = |passenger: usize| s.is(self.bank[passenger], here);
        let is_left = |passenger: usize| !boat.contains(&passenger) && is_here(passenger);
        boat.iter().all(|&passenger| is_here(passenger))
            && !self.variant.appetites().iter().any(|&(eater, eaten)| is_left(eater) && is_left(eaten))
    }
}

impl Model for River {
    fn name(&self) -> String {
        format!("river {} {}", self.seats, self.variant.word())
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn n_transitions(&self) -> usize {
        self.boats.len()
    }

    fn questions(&self) -> Vec<Question> {
        vec![Question::Safety]
    }

    fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
        let boat = &self.boats[t];
        let (here, there) = if s.is(self.farmer, NEAR) { (NEAR, FAR) } else { (FAR, NEAR) };
        if !self.can_cross(boat, here, s) {
            return false;
        }
        s.set(self.farmer, there);
        for &passenger in boat {
            s.set(self.bank[passenger], there);
        }
        true
    }

    fn transition_name(&self, t: usize) -> String {
        let names: Vec<String> = self.boats[t].iter().map(|&p| format!("the {}", NAMES[p])).collect();
        match names.split_last() {
            None => "cross alone".into(),
            Some((last, [])) => format!("cross with {last}"),
            Some((last, others)) => format!("cross with {} and {last}", others.join(", ")),
        }
    }

    fn show(&self, s: &State<'_>) -> Option<String> {
        let mut sides = [Vec::new(), Vec::new()];
        sides[s.get(self.farmer)].push("farmer");
        for (passenger, name) in NAMES.iter().enumerate() {
            sides[s.get(self.bank[passenger])].push(name);
        }
        Some(format!("{} ~~~ {}", sides[NEAR].join(" "), sides[FAR].join(" ")).trim().to_owned())
    }

    fn check(&self, s: &State<'_>) -> Result<(), String> {
        let has_crossed = |who: Var| s.is(who, FAR);
        if self.bank.iter().all(has_crossed) && has_crossed(self.farmer) {
            return Err("solved: everybody is across the river, and the path here is the solution".into());
        }
        Ok(())
    }

    fn footprint(&self, t: usize) -> Option<Footprint> {
        let looks = Footprint::new().tests(self.farmer, [NEAR]).writes(self.farmer);
        let looks = self.bank.iter().fold(looks, |f, bank| f.tests(bank, [NEAR]));
        Some(self.boats[t].iter().fold(looks, |f, &passenger| f.writes(self.bank[passenger])))
    }

    fn check_footprint(&self) -> Option<Footprint> {
        let farmer = Footprint::new().fails_by(self.farmer, [FAR]);
        Some(self.bank.iter().fold(farmer, |f, bank| f.fails_by(bank, [FAR])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_explore::{path_to_violation, shown};

    #[test]
    fn the_classic_puzzle_takes_seven_crossings() {
        let (path, message) = path_to_violation(&River::new(1, Variant::Classic)).unwrap();
        assert_eq!(path.len(), 8);
        assert!(message.starts_with("solved"));
    }

    #[test]
    fn a_greedy_wolf_needs_a_second_seat() {
        assert!(path_to_violation(&River::new(1, Variant::GreedyWolf)).is_none());
        assert!(path_to_violation(&River::new(2, Variant::GreedyWolf)).is_some());
    }

    #[test]
    fn names_and_states_read_well() {
        let model = River::new(3, Variant::Classic);
        assert_eq!(model.transition_name(0), "cross alone");
        assert_eq!(model.transition_name(2), "cross with the goat");
        assert_eq!(model.transition_name(7), "cross with the wolf, the goat and the cabbage");
        let expected = ["farmer wolf goat cabbage ~~~", "wolf cabbage ~~~ farmer goat"];
        assert_eq!(shown(&model, &[2]), expected);
    }
}
