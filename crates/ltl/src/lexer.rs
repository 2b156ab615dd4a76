//! Formula text to tokens with their places.

use crate::parse::ParseError;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    Not,
    And,
    Or,
    Implies,
    Equivalent,
    Always,
    Eventually,
    Next,
    Until,
    WeakUntil,
    Release,
    True,
    False,
    /// A name that is no operator (`R` is one of these: it is an operator only where one is due).
    Name,
    Number,
    /// An operator between values: `==`, `<`, `+` and so on.
    Binary,
    /// `~`, which like `-` (a `Binary`) may stand before a value.
    Tilde,
    /// `?`, `??`: poll of a channel, followed by brackets.
    Poll,
    /// `@`, `:` or `.`: a part of what stands before.
    Member,
    Comma,
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

/// Operators that are words.
pub(crate) fn word(text: &str) -> Option<Kind> {
    Some(match text {
        "always" => Kind::Always,
        "eventually" => Kind::Eventually,
        "until" | "stronguntil" | "U" => Kind::Until,
        "weakuntil" | "W" => Kind::WeakUntil,
        "release" | "V" => Kind::Release,
        "next" | "X" => Kind::Next,
        "implies" => Kind::Implies,
        "equivalent" => Kind::Equivalent,
        "not" => Kind::Not,
        "true" => Kind::True,
        "false" => Kind::False,
        _ => return None,
    })
}

/// Longest first.
const SIGNS: &[(&str, Kind)] = &[
    ("<->", Kind::Equivalent),
    ("[]", Kind::Always),
    ("<>", Kind::Eventually),
    ("->", Kind::Implies),
    ("&&", Kind::And),
    ("/\\", Kind::And),
    ("||", Kind::Or),
    ("\\/", Kind::Or),
    ("==", Kind::Binary),
    ("!=", Kind::Binary),
    ("<=", Kind::Binary),
    (">=", Kind::Binary),
    ("<<", Kind::Binary),
    (">>", Kind::Binary),
    ("??", Kind::Poll),
    ("?", Kind::Poll),
    ("!", Kind::Not),
    ("(", Kind::Open),
    (")", Kind::Close),
    ("[", Kind::OpenBracket),
    ("]", Kind::CloseBracket),
    ("<", Kind::Binary),
    (">", Kind::Binary),
    ("+", Kind::Binary),
    ("-", Kind::Binary),
    ("*", Kind::Binary),
    ("/", Kind::Binary),
    ("%", Kind::Binary),
    ("&", Kind::Binary),
    ("|", Kind::Binary),
    ("^", Kind::Binary),
    ("~", Kind::Tilde),
    ("@", Kind::Member),
    (":", Kind::Member),
    (".", Kind::Member),
    (",", Kind::Comma),
];

/// The tokens, and one of kind `End` at the end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, ParseError> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let (kind, length) = if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            (word(&rest[..length]).unwrap_or(Kind::Name), length)
        } else if first.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            (Kind::Number, length)
        } else if let Some((sign, kind)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            (*kind, sign.len())
        } else {
            let span = at..at + first.len_utf8();
            let shown = first.escape_default();
            return Err(ParseError::new(span, format!("`{shown}` has no meaning in a formula")));
        };
        out.push(Token { kind, span: at..at + length });
        at += length;
    }
    out.push(Token { kind: Kind::End, span: text.len()..text.len() });
    Ok(out)
}
