//! A demand-driven token ring: whoever has the token may let its client into the critical section, and
//! the token moves only when somebody wants it.
//!
//! **From** the protocol that H. Hansen, H. Virtanen and A. Valmari describe in section 6 of "Merging
//! State-Based and Action-Based Verification" (ACSD 2003), and the measurements quoted in section VII of
//! A. Valmari, "Stop It, and Be Stubborn!" (ACSD 2015). The measured model itself was not published; this
//! one is a reconstruction that gives its four published numbers of states for ten stations: 81,933,120
//! plain, 1,514,900 with stubborn sets, 8,193,312 with symmetry, 151,490 with both.
//!
//! Each of the `n` stations has a client and a server. The token moves to the right (station `i + 1`),
//! demands move to the left: a station demands the token of its left neighbour by being in `demanding`,
//! there is no message. A client is `idle`, `requested`, `critical` or `stopped`. A server is
//!
//! * `quiet`: no token, nothing asked for;
//! * `demanding`: no token, asked for it;
//! * `holding`: has the token, nothing asked for;
//! * `needed`: has the token, and somebody wants it; also while the client is critical;
//! * `passing`: has the token and must pass it on, because its own client has just been served.
//!
//! **Expect**: everything passes, and the rotations of the ring are symmetries.

use crate::Entry;
use stubborn_model::{Array, Footprint, Layout, Model, Needs, Question, State};

pub(crate) const ENTRY: Entry = Entry {
    name: "token-ring",
    about: "mutual exclusion by a token that moves around a ring on demand",
    default_size: 5,
    sizes: 2..=MOST_STATIONS,
    size_means: "stations",
    variants: &[("correct", "the token goes to whoever demands it")],
    default_variant: "correct",
    make: |size, _| Box::new(TokenRing::new(size)),
};

const MOST_STATIONS: usize = 32;

const IDLE: usize = 0;
const REQUESTED: usize = 1;
const CRITICAL: usize = 2;
const STOPPED: usize = 3;

const QUIET: usize = 0;
const DEMANDING: usize = 1;
const HOLDING: usize = 2;
const NEEDED: usize = 3;
const PASSING: usize = 4;

/// The model.
pub struct TokenRing {
    n: usize,
    layout: Layout,
    client: Array,
    server: Array,
}

/// What a transition is about.
#[derive(Clone, Copy)]
enum Part {
    /// The client of this station asks for access.
    Request(usize),
    /// The client of this station stops for good.
    Stop(usize),
    /// The server of this station acts.
    Server(usize),
}

impl TokenRing {
    /// A ring of `n` stations.
    ///
    /// # Panics
    ///
    /// If the size is out of the range that [`crate::entries`] gives.
    pub fn new(n: usize) -> Self {
        ENTRY.expect_size(n);
        let mut layout = Layout::new();
        let client = layout.named_array("client", n, &["idle", "requested", "critical", "stopped"]);
        let labels = ["quiet", "demanding", "holding", "needed", "passing"];
        let server = layout.named_array("server", n, &labels);
        Self { n, layout, client, server }
    }

    fn part(&self, t: usize) -> Part {
        match t / self.n {
            0 => Part::Request(t),
            1 => Part::Stop(t - self.n),
            _ => Part::Server(t - 2 * self.n),
        }
    }

    fn server_of(&self, i: usize) -> usize {
        2 * self.n + i % self.n
    }

    fn right(&self, i: usize) -> usize {
        if i + 1 == self.n { 0 } else { i + 1 }
    }

    /// The idle client of station `i` becomes `next`.
    fn decide(&self, i: usize, next: usize, s: &mut State<'_>) -> bool {
        if !s.is(self.client[i], IDLE) {
            return false;
        }
        s.set(self.client[i], next);
        true
    }

    fn serve(&self, i: usize, s: &mut State<'_>) -> bool {
        match s.get(self.server[i]) {
            QUIET if self.is_wanted(i, s) => s.set(self.server[i], DEMANDING),
            HOLDING if self.is_wanted(i, s) => s.set(self.server[i], NEEDED),
            NEEDED if s.is(self.client[i], REQUESTED) => s.set(self.client[i], CRITICAL),
            NEEDED if s.is(self.client[i], CRITICAL) => {
                s.set(self.client[i], IDLE);
                s.set(self.server[i], PASSING);
            }
            NEEDED | PASSING => self.pass(i, s),
            _ => return false,
        }
        true
    }

    /// Whether the client of station `i` or its right neighbour wants the token.
    fn is_wanted(&self, i: usize, s: &State<'_>) -> bool {
        s.is(self.client[i], REQUESTED) || s.is(self.server[self.right(i)], DEMANDING)
    }

    fn pass(&self, i: usize, s: &mut State<'_>) {
        s.set(self.server[i], QUIET);
        let right = self.server[self.right(i)];
        let next = if s.is(right, DEMANDING) { NEEDED } else { HOLDING };
        s.set(right, next);
    }

    fn request_rules(&self, i: usize, s: &State<'_>, need: &mut Needs<'_>) {
        match s.get(self.client[i]) {
            IDLE => {
                need.transition(self.n + i);
                need.transition(self.server_of(i));
            }
            STOPPED => {}
            _ => need.transition(self.server_of(i)),
        }
    }

    fn stop_rules(&self, i: usize, s: &State<'_>, need: &mut Needs<'_>) {
        match s.get(self.client[i]) {
            IDLE => need.transition(i),
            STOPPED => {}
            _ => need.transition(self.server_of(i)),
        }
    }

    fn server_rules(&self, i: usize, s: &State<'_>, need: &mut Needs<'_>) {
        match s.get(self.server[i]) {
            // Should the token come first, then both orders still end in `needed`.
            QUIET | HOLDING if self.is_wanted(i, s) => {}
            QUIET | HOLDING => {
                need.transition(self.server_of(i + 1));
                self.need_request_if_idle(i, s, need);
            }
            DEMANDING => need.transition(self.server_of(i + self.n - 1)),
            // Leaving the critical section leads away from what the check looks for.
            NEEDED if s.is(self.client[i], CRITICAL) => need.all(),
            NEEDED => self.need_request_if_idle(i, s, need),
            _ => {}
        }
    }

    fn need_request_if_idle(&self, i: usize, s: &State<'_>, need: &mut Needs<'_>) {
        if s.is(self.client[i], IDLE) {
            need.transition(i);
        }
    }

    fn server_footprint(&self, i: usize) -> Footprint {
        let right = self.server[self.right(i)];
        Footprint::new()
            .reads(self.server[i])
            .tests(self.client[i], [REQUESTED])
            .tests(self.client[i], [CRITICAL])
            .tests(right, [DEMANDING])
            .writes_only(self.server[i], [QUIET, DEMANDING, NEEDED, PASSING])
            .writes_only(self.client[i], [IDLE, CRITICAL])
            .writes_only(right, [HOLDING, NEEDED])
    }
}

impl Model for TokenRing {
    fn name(&self) -> String {
        format!("token-ring {} correct", self.n)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn n_transitions(&self) -> usize {
        3 * self.n
    }

    fn questions(&self) -> Vec<Question> {
        vec![Question::Safety, Question::Deadlock]
    }

    fn initial(&self, s: &mut State<'_>) {
        s.set(self.server[0], HOLDING);
    }

    fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
        match self.part(t) {
            Part::Request(i) => self.decide(i, REQUESTED, s),
            Part::Stop(i) => self.decide(i, STOPPED, s),
            Part::Server(i) => self.serve(i, s),
        }
    }

    fn transition_name(&self, t: usize) -> String {
        match self.part(t) {
            Part::Request(i) => format!("request {i}"),
            Part::Stop(i) => format!("stop {i}"),
            Part::Server(i) => format!("server {i}"),
        }
    }

    fn check(&self, s: &State<'_>) -> Result<(), String> {
        let mut critical = (0..self.n).filter(|&i| s.is(self.client[i], CRITICAL));
        match (critical.next(), critical.next()) {
            (Some(one), Some(other)) => {
                Err(format!("mutual exclusion violated: clients {one} and {other} are both critical"))
            }
            _ => Ok(()),
        }
    }

    fn check_deadlock(&self, s: &State<'_>) -> Result<(), String> {
        match (0..self.n).find(|&i| !s.is(self.client[i], STOPPED)) {
            Some(i) => Err(format!("deadlock before client {i} has stopped")),
            None => Ok(()),
        }
    }

    fn has_symmetry(&self) -> bool {
        true
    }

    /// Rotates the ring until station 0 has the token.
    fn represent(&self, s: &mut State<'_>) {
        let has_token = |&i: &usize| s.at_least(self.server[i], HOLDING);
        let Some(holder) = (0..self.n).find(has_token).filter(|&holder| holder > 0) else { return };
        let mut stations = [(0, 0); MOST_STATIONS];
        for (i, station) in stations[..self.n].iter_mut().enumerate() {
            *station = (s.get(self.client[i]), s.get(self.server[i]));
        }
        stations[..self.n].rotate_left(holder);
        for (i, &(client, server)) in stations[..self.n].iter().enumerate() {
            s.set(self.client[i], client);
            s.set(self.server[i], server);
        }
    }

    fn has_rules(&self) -> bool {
        true
    }

    fn rules(&self, t: usize, s: &State<'_>, need: &mut Needs<'_>) {
        match self.part(t) {
            Part::Request(i) => self.request_rules(i, s, need),
            Part::Stop(i) => self.stop_rules(i, s, need),
            Part::Server(i) => self.server_rules(i, s, need),
        }
    }

    fn footprint(&self, t: usize) -> Option<Footprint> {
        let decision = |i: usize, next: usize| {
            Footprint::new().tests(self.client[i], [IDLE]).writes_only(self.client[i], [next])
        };
        Some(match self.part(t) {
            Part::Request(i) => decision(i, REQUESTED),
            Part::Stop(i) => decision(i, STOPPED),
            Part::Server(i) => self.server_footprint(i),
        })
    }

    fn check_footprint(&self) -> Option<Footprint> {
        Some(self.client.iter().fold(Footprint::new(), |f, client| f.fails_by(client, [CRITICAL])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_explore::{Mode, explore};
    use stubborn_model::RuleSource;

    fn counts(n: usize, mode: Mode) -> (usize, usize, usize) {
        let graph = explore(&TokenRing::new(n), mode);
        (graph.states.len(), graph.edges.len(), graph.terminal_states().len())
    }

    #[test]
    fn plain_counts() {
        assert_eq!(counts(2, Mode::Plain), (68, 140, 2));
        assert_eq!(counts(3, Mode::Plain), (468, 1_350, 3));
        assert_eq!(counts(4, Mode::Plain), (2_928, 10_880, 4));
        assert_eq!(counts(5, Mode::Plain), (17_280, 78_600, 5));
    }

    #[test]
    fn counts_with_symmetry() {
        assert_eq!(counts(2, Mode::Symmetric), (34, 70, 1));
        assert_eq!(counts(3, Mode::Symmetric), (156, 450, 1));
        assert_eq!(counts(4, Mode::Symmetric), (732, 2_720, 1));
        assert_eq!(counts(5, Mode::Symmetric), (3_456, 15_720, 1));
    }

    #[test]
    fn counts_with_stubborn_sets() {
        let reduced = Mode::Stubborn(RuleSource::Hand);
        assert_eq!(counts(2, reduced), (44, 60, 2));
        assert_eq!(counts(3, reduced), (219, 327, 3));
        assert_eq!(counts(4, reduced), (920, 1_432, 4));
        assert_eq!(counts(5, reduced), (3_505, 5_625, 5));
    }

    #[test]
    fn counts_with_both_up_to_the_ten_stations_of_the_publication() {
        let both = Mode::Both(RuleSource::Hand);
        assert_eq!(counts(2, both), (22, 30, 1));
        assert_eq!(counts(5, both), (701, 1_125, 1));
        assert_eq!(counts(10, both), (151_490, 298_486, 1));
    }
}
