//! The lexical level that all formats of TVT share.
//!
//! **Implements** names without regard to case, decimal numbers, strings with TVT's escapes (`\"`, `\!` for the
//! backslash, `\n`, two hexadecimal digits, `\^ ^` for a cut), comments (`#` to the end of the line, nested
//! `(* *)`), and `include_file "f"` anywhere between tokens.
//! Texts with directives of the preprocessor are read as what it makes of them, and places are those in that.
//! **Differs from the text** in that with `lenient` any `\c` is `c`, as fMBT has it, and bytes that TVT does not
//! print are taken as they are.
//! **Checked by** the tests below.

use crate::preprocess::{Variables, Wrong, is_needed, preprocess};
use crate::source::{Files, Refusal, Sources, latin1};
use stubborn_text::{Diagnostic, FileId, Span};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name, in upper case.
    Word(String),
    Number(u64),
    Text(String),
    /// Punctuation.
    Mark(&'static str),
    End,
}

/// Two characters first.
const MARKS: [&str; 20] =
    ["->", "..", "<|", "|>", "=", ":", ";", ",", "(", ")", "{", "}", "<", ">", ".", "&", "|", "!", "-", "+"];

/// Tokens of a text and of what it includes.
pub(crate) struct Lexer<'a> {
    pub(crate) sources: Sources<'a>,
    /// The texts that are being read, the innermost last, and where in them.
    open: Vec<(FileId, usize)>,
    lenient: bool,
    token: Token,
    span: Span,
    variables: Variables,
    has_begun: bool,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'a> Lexer<'a> {
    pub(crate) fn new(name: &str, bytes: Vec<u8>, files: &'a dyn Files, lenient: bool) -> Self {
        let (sources, file) = (Sources::new(name, bytes, files), FileId(0));
        let span = Span::new(file, 0, 0);
        Self {
            sources,
            open: vec![(file, 0)],
            lenient,
            token: Token::End,
            span,
            variables: Variables::default(),
            has_begun: false,
        }
    }

    /// The token in hand.
    pub(crate) fn token(&self) -> &Token {
        &self.token
    }

    /// Where it is.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// Goes on to the next token.
    pub(crate) fn advance(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.preprocess(FileId(0))?;
        }
        loop {
            self.token = self.scan()?;
            match &self.token {
                Token::Word(word) if word == "INCLUDE_FILE" => {
                    self.token = self.scan()?;
                    let Token::Text(name) = &self.token else {
                        return Err(self.unexpected("the name of the file to include, in quotes"));
                    };
                    let name = name.clone();
                    self.enter(&name)?;
                }
                Token::End if self.open.len() > 1 => {
                    self.open.pop();
                }
                _ => return Ok(()),
            }
        }
    }

    /// What follows comes from this file, which is named by the token in hand.
    pub(crate) fn enter(&mut self, name: &str) -> Result<()> {
        let file = self.sources.include(name, self.span)?;
        self.preprocess(file)?;
        self.open.push((file, 0));
        Ok(())
    }

    fn preprocess(&mut self, file: FileId) -> Result<()> {
        let bytes = self.sources.bytes(file);
        if !is_needed(bytes) {
            return Ok(());
        }
        let made = preprocess(bytes, &mut self.variables);
        let made = made.map_err(|Wrong { at, message }| {
            Diagnostic::error("T0007", Span::new(file, at, at + 2), message)
        })?;
        self.sources.replace(file, made);
        Ok(())
    }

    /// What is written from `start` to the token in hand; `None` if that is not in one file.
    pub(crate) fn written_since(&self, start: Span) -> Option<&[u8]> {
        let bytes = self.sources.bytes(start.file);
        let is_one = start.file == self.span.file && start.start <= self.span.start;
        is_one.then(|| bytes[start.start as usize..self.span.start as usize].trim_ascii())
    }

    pub(crate) fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, self.span, message)
    }

    pub(crate) fn unexpected(&self, wanted: &str) -> Diagnostic {
        let found = match &self.token {
            Token::Word(word) => format!("`{word}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Text(text) => format!("the string \"{text}\""),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end of the text".into(),
        };
        self.error("T0001", format!("{wanted} is expected here, not {found}"))
    }

    pub(crate) fn refuse(&self, diagnostic: Diagnostic) -> Box<Refusal> {
        self.sources.refuse(diagnostic)
    }

    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        matches!(self.token, Token::Mark(found) if found == mark)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(found) if found == word)
    }

    /// Passes the mark if it is there.
    pub(crate) fn pass(&mut self, mark: &str) -> Result<bool> {
        let is_there = self.is_mark(mark);
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }

    /// Passes the word if it is there.
    pub(crate) fn pass_word(&mut self, word: &str) -> Result<bool> {
        let is_there = self.is_word(word);
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }

    pub(crate) fn expect(&mut self, mark: &str) -> Result<()> {
        if self.pass(mark)? { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.pass_word(word)? { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        let Token::Number(number) = self.token else { return Err(self.unexpected("a number")) };
        self.advance()?;
        Ok(number)
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        let Token::Text(text) = &mut self.token else { return Err(self.unexpected("a string")) };
        let text = std::mem::take(text);
        self.advance()?;
        Ok(text)
    }

    pub(crate) fn word(&mut self) -> Result<String> {
        let Token::Word(word) = &mut self.token else { return Err(self.unexpected("a name")) };
        let word = std::mem::take(word);
        self.advance()?;
        Ok(word)
    }

    fn here(&self) -> (FileId, usize) {
        *self.open.last().expect("a text is open")
    }

    fn scan(&mut self) -> Result<Token> {
        let (file, at) = self.here();
        let start = self.skip(file, at)?;
        let bytes = self.sources.bytes(file);
        let Some(&first) = bytes.get(start) else {
            self.set(file, start, start);
            return Ok(Token::End);
        };
        let rest = &bytes[start..];
        let (token, length) = if first.is_ascii_digit() {
            let n = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            let value = rest[..n]
                .iter()
                .try_fold(0u64, |value, b| value.checked_mul(10)?.checked_add(u64::from(b - b'0')));
            let span = Span::new(file, start, start + n);
            let value = value.ok_or_else(|| Diagnostic::error("T0002", span, "the number is too large"))?;
            (Token::Number(value), n)
        } else if is_name_start(first) {
            let n = rest.iter().take_while(|&&b| is_name_start(b) || b.is_ascii_digit() || b == 0xff).count();
            (Token::Word(latin1(&rest[..n]).to_uppercase()), n)
        } else if first == b'"' {
            let (text, n) = string(rest, Span::new(file, start, start + 1), self.lenient)?;
            (Token::Text(text), n)
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes())) {
            (Token::Mark(mark), mark.len())
        } else {
            let span = Span::new(file, start, start + 1);
            return Err(Diagnostic::error("T0003", span, format!("byte {first} has no meaning here")));
        };
        self.set(file, start, start + length);
        Ok(token)
    }

    fn set(&mut self, file: FileId, start: usize, end: usize) {
        self.span = Span::new(file, start, end);
        self.open.last_mut().expect("a text is open").1 = end;
    }

    /// Behind blanks and comments.
    fn skip(&self, file: FileId, mut at: usize) -> Result<usize> {
        let bytes = self.sources.bytes(file);
        loop {
            match bytes.get(at) {
                Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => at += 1,
                Some(b'#') => at += bytes[at..].iter().take_while(|&&b| b != b'\n').count(),
                Some(b'(') if bytes.get(at + 1) == Some(&b'*') => at = skip_comment(bytes, file, at)?,
                _ => return Ok(at),
            }
        }
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || (0xa0..=0xfe).contains(&byte)
}

fn skip_comment(bytes: &[u8], file: FileId, start: usize) -> Result<usize> {
    let (mut at, mut depth) = (start, 0usize);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"(*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*)") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Ok(at);
            }
        } else {
            at += 1;
        }
    }
    Err(Diagnostic::error("T0008", Span::new(file, start, start + 2), "the comment does not end"))
}

/// A string and its length, with quotes. `quote` is where it begins.
fn string(bytes: &[u8], quote: Span, lenient: bool) -> Result<(String, usize)> {
    let at = |i: usize| Span::new(quote.file, quote.start as usize + i, quote.start as usize + i + 1);
    let mut out = String::new();
    let mut i = 1;
    loop {
        match bytes.get(i) {
            None => return Err(Diagnostic::error("T0009", quote, "the string does not end")),
            Some(b'"') => return Ok((out, i + 1)),
            Some(b'\\') => {
                let (c, next) = escape(bytes, i + 1, lenient).ok_or_else(|| bad_escape(at(i)))?;
                out.extend(c);
                i = next;
            }
            Some(&b) if matches!(b, 32..=126 | 160..=254) || lenient => {
                out.push(char::from(b));
                i += 1;
            }
            Some(&b) => {
                let message = format!("byte {b} is not allowed in a string");
                return Err(Diagnostic::error("T0010", at(i), message)
                    .help("write a newline as \\n, another byte as \\hh, or use --lenient"));
            }
        }
    }
}

fn bad_escape(span: Span) -> Diagnostic {
    Diagnostic::error("T0011", span, "this is no escape of TVT")
        .help("`\\\"`, `\\!` for a backslash, `\\n`, and two hexadecimal digits are; --lenient takes others")
}

/// What the escape behind a backslash means, and where it ends. `None` if it means nothing.
fn escape(bytes: &[u8], i: usize, lenient: bool) -> Option<(Option<char>, usize)> {
    match *bytes.get(i)? {
        b'"' => Some((Some('"'), i + 1)),
        b'!' => Some((Some('\\'), i + 1)),
        b'n' => Some((Some('\n'), i + 1)),
        b'^' => Some((None, after_cut(bytes, i)?)),
        first => {
            // A cut may stand between the two digits.
            let mut next = i + 1;
            if bytes[next.min(bytes.len())..].starts_with(b"\\^") {
                next = after_cut(bytes, next + 1)?;
            }
            let digit = |b: u8| char::from(b).to_digit(16);
            match (digit(first), bytes.get(next).copied().and_then(digit)) {
                (Some(high), Some(low)) => Some((char::from_u32(high * 16 + low), next + 1)),
                _ if lenient => Some((Some(char::from(first)), i + 1)),
                _ => None,
            }
        }
    }
}

/// Behind the `^` that ends a cut which begins with the `^` at `i`.
fn after_cut(bytes: &[u8], i: usize) -> Option<usize> {
    let blanks = bytes[i + 1..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    let end = i + 1 + blanks;
    (bytes.get(end) == Some(&b'^')).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryFiles, NoFiles};

    fn tokens(text: &[u8], lenient: bool) -> std::result::Result<Vec<Token>, &'static str> {
        let mut lexer = Lexer::new("t", text.to_vec(), &NoFiles, lenient);
        let mut out = Vec::new();
        loop {
            lexer.advance().map_err(|diagnostic| diagnostic.code)?;
            if *lexer.token() == Token::End {
                return Ok(out);
            }
            out.push(lexer.token().clone());
        }
    }

    #[test]
    fn names_have_no_case_and_blanks_are_free() {
        let found = tokens(b"Begin\r\n lsts # comment\n(* a (* b *) c *) 12..15 \xe4x", false).unwrap();
        let word = |w: &str| Token::Word(w.into());
        let expected = [
            word("BEGIN"),
            word("LSTS"),
            Token::Number(12),
            Token::Mark(".."),
            Token::Number(15),
            word("\u{c4}X"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn strings_have_the_escapes_of_tvt() {
        let text = |t: &[u8], lenient| tokens(t, lenient).map(|found| found[0].clone());
        assert_eq!(text(br#""a\"b\!c\nd\41\^  ^e\4\^ ^2""#, false), Ok(Token::Text("a\"b\\c\ndAeB".into())));
        assert_eq!(text(br#""it\'s""#, false), Err("T0011"));
        assert_eq!(text(br#""it\'s""#, true), Ok(Token::Text("it's".into())));
        assert_eq!(text(b"\"a\nb\"", false), Err("T0010"));
        assert_eq!(text(b"\"\xa7\"", false), Ok(Token::Text("\u{a7}".into())));
        assert_eq!(text(b"\"abc", false), Err("T0009"));
        assert_eq!(text(b"\"abc\\", false), Err("T0011"));
        assert_eq!(text(b"(* x", false), Err("T0008"));
        assert_eq!(text(b"#{SET v}", false), Err("T0007"));
        assert_eq!(text(b"#{SET v=6}\"a#{EVAL v+1}\"", false), Ok(Token::Text("a7".into())));
        assert_eq!(text(b"99999999999999999999999", false), Err("T0002"));
        assert_eq!(text(b"\x80", false), Err("T0003"));
    }

    #[test]
    fn files_are_included_between_tokens_and_not_in_circles() {
        let files =
            MemoryFiles(vec![("b".into(), b"2 include_file \"c\" 4".to_vec()), ("c".into(), b"3".to_vec())]);
        let mut lexer = Lexer::new("a", b"1 Include_File \"b\" 5".to_vec(), &files, false);
        let mut found = Vec::new();
        loop {
            lexer.advance().unwrap();
            match lexer.token() {
                Token::Number(n) => found.push(*n),
                _ => break,
            }
        }
        assert_eq!(found, [1, 2, 3, 4, 5]);
        let files = MemoryFiles(vec![
            ("a".into(), b"include_file \"b\"".to_vec()),
            ("b".into(), b"include_file \"a\"".to_vec()),
        ]);
        let mut lexer = Lexer::new("a", b"include_file \"b\"".to_vec(), &files, false);
        assert_eq!(lexer.advance().unwrap_err().code, "T0005");
    }
}
