//! The kinds of token. Keywords are words: which words are reserved is the parser's business, because
//! the preprocessor must be able to define them.

use std::fmt;
use std::sync::Arc;
use stubborn_text::Span;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword.
    Word(Arc<str>),
    /// A number or a character constant.
    Number(i32),
    /// A string, without its quotes and with its escapes as written.
    Text(Arc<str>),
    /// An operator or bracket.
    Mark(&'static str),
    /// A character that belongs to no token.
    Unknown(char),
    /// The end of the model.
    End,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "{word}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Mark(mark) => write!(f, "{mark}"),
            Self::Unknown(c) => write!(f, "{}", c.escape_default()),
            Self::End => write!(f, "end of file"),
        }
    }
}

/// A token and where it is. Tokens that a macro produced are where the macro was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Kind,
    /// Where it is.
    pub(crate) span: Span,
    /// Whether it is the first on its line: a line's end may stand for a semicolon.
    pub(crate) starts_line: bool,
    /// Whether blanks come before it: `#define f (x)` has no parameters.
    pub(crate) spaced: bool,
}

impl Token {
    /// Whether it is this operator or bracket.
    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        matches!(self.kind, Kind::Mark(m) if m == mark)
    }

    /// Whether it is this word.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(w) if **w == *word)
    }

    /// The word, if it is one.
    pub(crate) fn word(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }
}
