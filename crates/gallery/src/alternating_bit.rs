//! The alternating bit protocol: reliable delivery over two channels that may lose what they carry.
//!
//! **From** K. A. Bartlett, R. A. Scantlebury and P. T. Wilkinson, "A Note on Reliable Full-Duplex
//! Transmission over Half-Duplex Links" (1969). The sender repeats a message until an acknowledgement with
//! the same bit comes back, then flips the bit. The receiver delivers a message whose bit it expects and
//! discards any other as a repetition; it acknowledges both.
//!
//! The channels are queues of the given capacity that may lose their oldest element. The data are the
//! letters a, b, c in turn, so that the check can tell repeated and missing deliveries from right ones;
//! three letters and two bits have no common period. A message is written as its letter and its bit. The
//! sender may stop before it accepts a message, so termination always remains possible.
//!
//! **Expect**: `correct` passes, also in that the receiver delivers for ever if acknowledgements arrive
//! for ever (the kind of question that theorem 6 of A. Valmari, "Stop It, and Be Stubborn!", ACSD 2015, is
//! about). In `no-bit-check` the receiver delivers whatever arrives, and so fails safety.

use crate::Entry;
use stubborn_model::{Array, Footprint, Layout, Model, Question, State, TransitionId, Var};

pub(crate) const ENTRY: Entry = Entry {
    name: "alternating-bit",
    about: "a sender and a receiver over two lossy channels",
    default_size: 2,
    sizes: 1..=8,
    size_means: "capacity of each channel",
    variants: &[
        (Variant::Correct.word(), "the receiver discards messages with the bit that it does not expect"),
        (Variant::NoBitCheck.word(), "the receiver delivers whatever arrives: repetitions too"),
    ],
    default_variant: Variant::Correct.word(),
    make: |size, variant| Box::new(AlternatingBit::new(size, Variant::ALL[variant])),
};

/// What the receiver does with the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// It tells new messages from repetitions.
    Correct,
    /// Nothing.
    NoBitCheck,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::Correct, Self::NoBitCheck];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Correct => "correct",
            Self::NoBitCheck => "no-bit-check",
        }
    }
}

/// The sender may accept a message.
const READY: usize = 0;
/// The sender has a message that is not yet acknowledged.
const SENDING: usize = 1;
const STOPPED: usize = 2;

/// No message in this place of a channel; no acknowledgement to send.
const EMPTY: usize = 0;

/// Deliveries came in order so far.
const IN_ORDER: usize = 0;
/// A delivery was wrong.
const WRONG: usize = 1;

/// The number of letters.
const LETTERS: usize = 3;

const ACCEPT: usize = 0;
const SEND: usize = 1;
const LOSE_MESSAGE: usize = 2;
const DELIVER: usize = 3;
const DISCARD: usize = 4;
const ACKNOWLEDGE: usize = 5;
const LOSE_ACKNOWLEDGEMENT: usize = 6;
const RECEIVE_ACKNOWLEDGEMENT: usize = 7;
const STOP: usize = 8;

const NAMES: [&str; 9] = [
    "accept a message",
    "send",
    "lose a message",
    "deliver",
    "discard a repetition",
    "acknowledge",
    "lose an acknowledgement",
    "receive an acknowledgement",
    "stop",
];

/// The model.
pub struct AlternatingBit {
    capacity: usize,
    variant: Variant,
    layout: Layout,
    sender: Var,
    /// Bit and letter of the sender's message.
    bit: Var,
    letter: Var,
    /// Bit and letter that the receiver expects.
    expected_bit: Var,
    expected_letter: Var,
    /// The acknowledgement that the receiver owes.
    reply: Var,
    deliveries: Var,
    /// From sender to receiver; place 0 is the oldest.
    messages: Array,
    /// From receiver to sender.
    acknowledgements: Array,
}

impl AlternatingBit {
    /// The protocol over channels of this capacity.
    ///
    /// # Panics
    ///
    /// If the size is out of the range that [`crate::entries`] gives.
    pub fn new(capacity: usize, variant: Variant) -> Self {
        ENTRY.expect_size(capacity);
        let letters = ["a", "b", "c"];
        let mut layout = Layout::new();
        Self {
            capacity,
            variant,
            sender: layout.named("sender", &["ready", "sending", "stopped"]),
            bit: layout.var("bit", 0..=1),
            letter: layout.named("letter", &letters),
            expected_bit: layout.var("expected bit", 0..=1),
            expected_letter: layout.named("expected letter", &letters),
            reply: layout.named("reply", &["none", "0", "1"]),
            deliveries: layout.named("deliveries", &["in order", "wrong"]),
            messages: layout.named_array("message", capacity, &["-", "a0", "a1", "b0", "b1", "c0", "c1"]),
            acknowledgements: layout.named_array("acknowledgement", capacity, &["-", "0", "1"]),
            layout,
        }
    }

    fn send(&self, s: &mut State<'_>) -> bool {
        if !s.is(self.sender, SENDING) {
            return false;
        }
        let Some(place) = free_place(&self.messages, s) else { return false };
        let message = 1 + 2 * s.get(self.letter) + s.get(self.bit);
        s.set(place, message);
        true
    }

    fn deliver(&self, s: &mut State<'_>) -> bool {
        let Some((letter, bit)) = self.arrived(s) else { return false };
        if self.variant == Variant::Correct {
            if !s.is(self.expected_bit, bit) {
                return false;
            }
            s.set(self.expected_bit, 1 - bit);
        }
        if s.is(self.expected_letter, letter) {
            s.set(self.expected_letter, (letter + 1) % LETTERS);
        } else {
            s.set(self.deliveries, WRONG);
        }
        remove_oldest(&self.messages, s);
        s.set(self.reply, 1 + bit);
        true
    }

    fn discard(&self, s: &mut State<'_>) -> bool {
        if self.variant == Variant::NoBitCheck {
            return false;
        }
        let Some((_, bit)) = self.arrived(s) else { return false };
        if s.is(self.expected_bit, bit) {
            return false;
        }
        remove_oldest(&self.messages, s);
        s.set(self.reply, 1 + bit);
        true
    }

    /// Letter and bit of the message that the receiver may take, if there is one and it has replied to
    /// the one before.
    fn arrived(&self, s: &State<'_>) -> Option<(usize, usize)> {
        if !s.is(self.reply, EMPTY) {
            return None;
        }
        let code = s.get(self.messages[0]).checked_sub(1)?;
        Some((code / 2, code % 2))
    }

    fn acknowledge(&self, s: &mut State<'_>) -> bool {
        let reply = s.get(self.reply);
        if reply == EMPTY {
            return false;
        }
        let Some(place) = free_place(&self.acknowledgements, s) else { return false };
        s.set(place, reply);
        s.set(self.reply, EMPTY);
        true
    }

    fn receive_acknowledgement(&self, s: &mut State<'_>) -> bool {
        let Some(bit) = s.get(self.acknowledgements[0]).checked_sub(1) else { return false };
        remove_oldest(&self.acknowledgements, s);
        if s.is(self.sender, SENDING) && s.is(self.bit, bit) {
            let letter = s.get(self.letter);
            s.set(self.sender, READY);
            s.set(self.bit, 1 - bit);
            s.set(self.letter, (letter + 1) % LETTERS);
        }
        true
    }

    fn become_if_ready(&self, next: usize, s: &mut State<'_>) -> bool {
        if !s.is(self.sender, READY) {
            return false;
        }
        s.set(self.sender, next);
        true
    }

    /// What taking a message touches, apart from judging it.
    fn arrival_footprint(&self) -> Footprint {
        let queue = removal_footprint(&self.messages);
        queue.tests(self.reply, [EMPTY]).writes_only(self.reply, [1, 2]).tests(self.expected_bit, [0])
    }

    fn delivery_footprint(&self) -> Footprint {
        self.arrival_footprint()
            .writes(self.expected_bit)
            .updates(self.expected_letter)
            .writes_only(self.deliveries, [WRONG])
    }

    fn sender_footprint(&self, t: usize) -> Footprint {
        let begin = Footprint::new().tests(self.sender, [READY]);
        match t {
            ACCEPT => begin.writes_only(self.sender, [SENDING]),
            STOP => begin.writes_only(self.sender, [STOPPED]),
            SEND => appending_footprint(&self.messages)
                .tests(self.sender, [SENDING])
                .reads(self.bit)
                .reads(self.letter),
            _ => removal_footprint(&self.acknowledgements)
                .tests(self.sender, [SENDING])
                .writes_only(self.sender, [READY])
                .updates(self.bit)
                .updates(self.letter),
        }
    }
}

/// The first free place of a queue, unless it is full.
fn free_place(queue: &Array, s: &State<'_>) -> Option<Var> {
    queue.iter().find(|&place| s.is(place, EMPTY))
}

/// Removes the oldest element of a queue; false if there is none.
fn remove_oldest(queue: &Array, s: &mut State<'_>) -> bool {
    if s.is(queue[0], EMPTY) {
        return false;
    }
    for i in 1..queue.len() {
        let moved = s.get(queue[i]);
        s.set(queue[i - 1], moved);
        if moved == EMPTY {
            return true;
        }
    }
    s.set(queue[queue.len() - 1], EMPTY);
    true
}

fn appending_footprint(queue: &Array) -> Footprint {
    queue
        .iter()
        .fold(Footprint::new(), |f, place| f.tests(place, [EMPTY]).writes_only(place, 1..=2 * LETTERS))
}

fn removal_footprint(queue: &Array) -> Footprint {
    queue.iter().fold(Footprint::new(), Footprint::updates)
}

impl Model for AlternatingBit {
    fn name(&self) -> String {
        format!("alternating-bit {} {}", self.capacity, self.variant.word())
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn n_transitions(&self) -> usize {
        NAMES.len()
    }

    fn questions(&self) -> Vec<Question> {
        let often = TransitionId::from(RECEIVE_ACKNOWLEDGEMENT);
        let rarely = vec![TransitionId::from(DELIVER)];
        vec![Question::Safety, Question::Deadlock, Question::MayTerminate, Question::Fair { often, rarely }]
    }

    fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
        match t {
            ACCEPT => self.become_if_ready(SENDING, s),
            SEND => self.send(s),
            LOSE_MESSAGE => remove_oldest(&self.messages, s),
            DELIVER => self.deliver(s),
            DISCARD => self.discard(s),
            ACKNOWLEDGE => self.acknowledge(s),
            LOSE_ACKNOWLEDGEMENT => remove_oldest(&self.acknowledgements, s),
            RECEIVE_ACKNOWLEDGEMENT => self.receive_acknowledgement(s),
            _ => self.become_if_ready(STOPPED, s),
        }
    }

    fn transition_name(&self, t: usize) -> String {
        NAMES[t].into()
    }

    fn check(&self, s: &State<'_>) -> Result<(), String> {
        if s.is(self.deliveries, IN_ORDER) {
            return Ok(());
        }
        Err("a message was delivered twice or out of order".into())
    }

    fn check_deadlock(&self, s: &State<'_>) -> Result<(), String> {
        if !s.is(self.sender, STOPPED) {
            return Err("deadlock before the sender has stopped".into());
        }
        if s.get(self.letter) != s.get(self.expected_letter) {
            return Err("the sender has stopped and not every message is delivered".into());
        }
        Ok(())
    }

    fn footprint(&self, t: usize) -> Option<Footprint> {
        Some(match t {
            LOSE_MESSAGE => removal_footprint(&self.messages),
            DELIVER => self.delivery_footprint(),
            DISCARD => self.arrival_footprint(),
            ACKNOWLEDGE => {
                appending_footprint(&self.acknowledgements).reads(self.reply).writes_only(self.reply, [EMPTY])
            }
            LOSE_ACKNOWLEDGEMENT => removal_footprint(&self.acknowledgements),
            _ => self.sender_footprint(t),
        })
    }

    fn check_footprint(&self) -> Option<Footprint> {
        Some(Footprint::new().fails_by(self.deliveries, [WRONG]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_explore::{Mode, answers, path_to_violation};

    #[test]
    fn the_answers_are_as_announced() {
        for capacity in 1..=3 {
            let model = AlternatingBit::new(capacity, Variant::Correct);
            let expected = [("safety", true), ("deadlock", true), ("may-terminate", true), ("fair", true)];
            assert_eq!(answers(&model, Mode::Plain), expected);
            let model = AlternatingBit::new(capacity, Variant::NoBitCheck);
            let expected = [("safety", false), ("deadlock", true), ("may-terminate", true), ("fair", true)];
            assert_eq!(answers(&model, Mode::Plain), expected);
        }
    }

    #[test]
    fn without_the_bit_a_repetition_is_enough() {
        let (path, message) = path_to_violation(&AlternatingBit::new(1, Variant::NoBitCheck)).unwrap();
        let repetition = [ACCEPT, SEND, DELIVER, SEND, ACKNOWLEDGE, DELIVER];
        assert_eq!(path.len(), 1 + repetition.len());
        assert_eq!(message, "a message was delivered twice or out of order");
    }
}
