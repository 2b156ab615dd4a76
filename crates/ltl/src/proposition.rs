//! Propositions: numbered texts. What a text means is not this crate's business.

use std::ops::Range;
use thiserror::Error;

/// At most this many propositions in one table: a letter is one word.
pub const MAX_PROPOSITIONS: usize = 64;

/// There is no number left for another proposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("more than {MAX_PROPOSITIONS} propositions")]
pub struct TooManyPropositions;

/// One proposition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposition {
    /// An identifier, or an expression of the model's language.
    pub text: String,
    /// Where it was first written, in bytes of the formula's text; empty if it was made by a program.
    pub span: Range<usize>,
}

/// The propositions of a formula or an automaton; equal texts are one proposition.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Propositions {
    list: Vec<Proposition>,
}

impl Propositions {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// These texts, in this order.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, TooManyPropositions> {
        let mut all = Self::new();
        for text in texts {
            all.number(text, 0..0)?;
        }
        Ok(all)
    }

    /// The number of `text`, which gets one if it has none.
    pub fn number(&mut self, text: &str, span: Range<usize>) -> Result<usize, TooManyPropositions> {
        if let Some(number) = self.find(text) {
            return Ok(number);
        }
        if self.list.len() == MAX_PROPOSITIONS {
            return Err(TooManyPropositions);
        }
        self.list.push(Proposition { text: text.to_owned(), span });
        Ok(self.list.len() - 1)
    }

    /// The number of `text`, if it has one.
    pub fn find(&self, text: &str) -> Option<usize> {
        self.list.iter().position(|p| p.text == text)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All, by number.
    pub fn iter(&self) -> impl Iterator<Item = &Proposition> {
        self.list.iter()
    }

    /// The text of proposition `number`; a number without text is shown as `p` and the number.
    pub fn text(&self, number: usize) -> String {
        self.list.get(number).map_or_else(|| format!("p{number}"), |p| p.text.clone())
    }

    /// The text within other operators: in parentheses unless it is an identifier.
    pub fn operand(&self, number: usize) -> String {
        let text = self.text(number);
        let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_reserved = crate::lexer::word(&text).is_some() || text == "R";
        if is_word && !is_reserved && !text.is_empty() { text } else { format!("({text})") }
    }

    /// What is true in `letter`, in words: `a !b c`.
    pub fn show_letter(&self, letter: u64) -> String {
        let literals = (0..self.len()).map(|i| {
            let sign = if letter >> i & 1 == 1 { "" } else { "!" };
            format!("{sign}{}", self.operand(i))
        });
        literals.collect::<Vec<_>>().join(" ")
    }
}
