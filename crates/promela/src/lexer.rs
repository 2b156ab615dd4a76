//! Text to tokens with spans. Comments and joined lines are gone afterwards; `#` is a token.
//!
//! The lexer never refuses a character, because a model may hold anything in a part that `#if` removes;
//! the parser complains about [`Kind::Unknown`] where one is left (a string without end leaves its first
//! quote). It complains itself only about comments without end.

use crate::token::{Kind, Token};
use std::sync::Arc;
use stubborn_text::{Diagnostic, FileId, Span};

/// Operators and brackets, longest first.
const MARKS: [&str; 43] = [
    "<->", "::", "->", "--", "++", "<<", ">>", "<=", ">=", "==", "!=", "!!", "??", "&&", "||", "..", "##",
    "#", "{", "}", "(", ")", "[", "]", ";", ",", ":", "=", "+", "-", "*", "/", "%", "<", ">", "!", "?", "&",
    "|", "^", "~", ".", "@",
];

/// The tokens of a text, without an end token.
pub(crate) fn lex(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer =
        Lexer { file, text, at: 0, starts_line: true, spaced: false, out: Vec::new(), diagnostics };
    while lexer.at < text.len() {
        lexer.step();
    }
    lexer.out
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    starts_line: bool,
    spaced: bool,
    out: Vec<Token>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        let first = rest.chars().next().expect("not at the end");
        if first == '\n' {
            self.at += 1;
            self.starts_line = true;
        } else if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") {
            self.at += rest.find('\n').expect("just seen") + 1;
            self.spaced = true;
        } else if first.is_whitespace() {
            self.at += first.len_utf8();
            self.spaced = true;
        } else if rest.starts_with("//") {
            self.at += rest.find('\n').unwrap_or(rest.len());
            self.spaced = true;
        } else if rest.starts_with("/*") {
            self.comment();
        } else {
            self.token(first);
        }
    }

    fn comment(&mut self) {
        let end = self.rest()[2..].find("*/");
        let length = end.map_or(self.rest().len(), |end| end + 4);
        if end.is_none() {
            let span = Span::new(self.file, self.at, self.at + 2);
            self.diagnostics
                .push(Diagnostic::error("P0001", span, "comment without end").help("close it with `*/`"));
        }
        // A comment over several lines ends the line, as it does for the C preprocessor's users.
        self.starts_line |= self.rest()[..length].contains('\n');
        self.spaced = true;
        self.at += length;
    }

    fn token(&mut self, first: char) {
        let start = self.at;
        let kind = if first.is_ascii_alphabetic() || first == '_' {
            let rest = self.rest();
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let word = Kind::Word(Arc::from(&rest[..length]));
            self.at += length;
            word
        } else if first.is_ascii_digit() {
            self.number()
        } else if first == '"' {
            self.string()
        } else if let Some(kind) = self.character(first) {
            kind
        } else if let Some(mark) = MARKS.iter().find(|mark| self.rest().starts_with(**mark)) {
            self.at += mark.len();
            Kind::Mark(mark)
        } else {
            self.at += first.len_utf8();
            Kind::Unknown(first)
        };
        let span = Span::new(self.file, start, self.at);
        self.out.push(Token { kind, span, starts_line: self.starts_line, spaced: self.spaced });
        self.starts_line = false;
        self.spaced = false;
    }

    /// Decimal digits, reduced to C's `int` as SPIN does.
    fn number(&mut self) -> Kind {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let value = rest[..length].parse::<i64>().unwrap_or(i64::MAX);
        self.at += length;
        Kind::Number(value as i32)
    }

    fn string(&mut self) -> Kind {
        let body = &self.rest()[1..];
        let mut escaped = false;
        let end = body.char_indices().find(|&(_, c)| {
            let ends = (c == '"' && !escaped) || c == '\n';
            escaped = c == '\\' && !escaped;
            ends
        });
        match end {
            Some((end, '"')) => {
                let text = Kind::Text(Arc::from(&body[..end]));
                self.at += end + 2;
                text
            }
            other => {
                self.at += 1 + other.map_or(body.len(), |(end, _)| end);
                Kind::Unknown('"')
            }
        }
    }

    fn character(&mut self, first: char) -> Option<Kind> {
        let mut rest = self.rest().chars();
        if first != '\'' || rest.next().is_none() {
            return None;
        }
        let (c, value) = match rest.next()? {
            '\\' => match rest.next()? {
                'n' => ('n', '\n'),
                'r' => ('r', '\r'),
                't' => ('t', '\t'),
                'f' => ('f', '\u{c}'),
                other => (other, other),
            },
            '\n' => return None,
            plain => ('\0', plain),
        };
        if rest.next()? != '\'' {
            return None;
        }
        self.at += if c == '\0' { 2 + value.len_utf8() } else { 3 + c.len_utf8() };
        Some(Kind::Number(value as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> String {
        let mut diagnostics = Vec::new();
        let tokens = lex(FileId(0), text, &mut diagnostics);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        tokens.iter().map(|t| t.kind.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_longest_operator_wins() {
        assert_eq!(kinds("a!!b??c->d-- >>e..f::g"), "a !! b ?? c -> d -- >> e .. f :: g");
    }

    #[test]
    fn comments_and_joined_lines_vanish_and_characters_are_numbers() {
        assert_eq!(kinds("x/*1*/=// y\n'a' \\\n '\\n' \"s\\\"t\""), "x = 97 10 \"s\\\"t\"");
    }

    #[test]
    fn what_has_no_end_is_known_where_it_begins() {
        let mut diagnostics = Vec::new();
        lex(FileId(0), "ab /* c", &mut diagnostics);
        assert_eq!((diagnostics[0].code, diagnostics[0].span().unwrap().start), ("P0001", 3));
        assert_eq!(kinds("a \"b\n c"), "a \\\" c");
    }
}
