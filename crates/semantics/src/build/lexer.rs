//! Words, strings and signs of a text that builds.
//!
//! A word is letters, digits, `_` and `.`, and does not begin with a digit or `.`; what else names may be is written in
//! quotes, where `\"` and `\\` stand for themselves. `#` begins a comment.

use stubborn_text::{Diagnostic, FileId, Span};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    Sign(char),
    End,
}

/// The tokens of a text with their places; the last one is its end.
pub(super) fn tokens(text: &str, file: FileId) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let place = |end: usize| Span::new(file, at, end);
        if c.is_whitespace() {
            continue;
        }
        if c == '#' {
            while rest.next_if(|&(_, c)| c != '\n').is_some() {}
        } else if c.is_alphabetic() || c == '_' {
            let mut end = at + c.len_utf8();
            while let Some((i, c)) = rest.next_if(|&(_, c)| c.is_alphanumeric() || c == '_' || c == '.') {
                end = i + c.len_utf8();
            }
            found.push((Token::Word(text[at..end].to_owned()), place(end)));
        } else if c == '"' {
            let mut inside = String::new();
            let end = loop {
                match rest.next() {
                    Some((i, '"')) => break i + 1,
                    Some((_, '\\')) => match rest.next() {
                        Some((_, c @ ('"' | '\\'))) => inside.push(c),
                        _ => return Err(open_string(place(at + 1))),
                    },
                    Some((_, '\n')) | None => return Err(open_string(place(at + 1))),
                    Some((_, c)) => inside.push(c),
                }
            };
            found.push((Token::Text(inside), place(end)));
        } else if "=|(),;".contains(c) {
            found.push((Token::Sign(c), place(at + 1)));
        } else {
            let message = format!("`{}` means nothing here", c.escape_default());
            return Err(Diagnostic::error("T0401", place(at + c.len_utf8()), message));
        }
    }
    found.push((Token::End, Span::new(file, text.len(), text.len())));
    Ok(found)
}

fn open_string(span: Span) -> Diagnostic {
    let help =
        "strings end in the line where they begin; inside, only \\\" and \\\\ are written with a backslash";
    Diagnostic::error("T0402", span, "the string does not end").help(help)
}
