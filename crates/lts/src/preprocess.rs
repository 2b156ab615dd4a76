//! TVT's preprocessor: `#{...}` in the stream of characters, within strings, too.
//!
//! **Implements** `#{SET v=expr}`, `#{EVAL expr}` (the value as a whole number, rounded), `#{LABEL l}`, `#{CB l:expr}` (goes
//! back to the label while the value is not zero), `#{SCAN}` (labels that come later are known from here on), and
//! `#{PRINT expr}`, of which nothing is seen. Names have no case. Variables are kept from one file to the next.
//! **Differs from the text** in that it knows limits, and that an expression has only the operators `+ - * / %`,
//! comparisons, `!`, `&` and `|`: which others TVT has is written nowhere.
//! **Checked by** the tests below, and by those of bad input.

use rustc_hash::FxHashMap;

/// The values of variables, by name in upper case.
pub(crate) type Variables = FxHashMap<String, f64>;

/// What is wrong, and where it begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// Largest text that may come of it.
const MAX_BYTES: usize = 1 << 28;
/// Most directives that are done: a loop must end.
const MAX_DIRECTIVES: usize = 1_000_000;
/// How deep expressions may be nested.
const MAX_DEPTH: usize = 64;

/// Whether there is anything to do.
pub(crate) fn is_needed(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"#{")
}

/// Where a label leads: the place behind it, and whether that is within a string.
type Labels = FxHashMap<String, (usize, bool)>;

/// The text with all directives done.
pub(crate) fn preprocess(bytes: &[u8], variables: &mut Variables) -> Result<Vec<u8>, Wrong> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut labels = Labels::default();
    let (mut i, mut is_string, mut n_done) = (0, false, 0);
    while let Some(piece) = piece(bytes, i, is_string) {
        let (from, end, kind) = piece;
        match kind {
            Kind::Plain => out.extend_from_slice(&bytes[from..end]),
            Kind::Quote => {
                out.push(b'"');
                is_string = !is_string;
            }
            Kind::Directive => {
                let wrong = |message: String| Wrong { at: from, message };
                n_done += 1;
                if n_done > MAX_DIRECTIVES {
                    return Err(wrong(format!("more than {MAX_DIRECTIVES} directives: does the loop end?")));
                }
                let text = directive(bytes, from, end).map_err(wrong)?;
                match done(&text, variables).map_err(wrong)? {
                    Done::Nothing => {}
                    Done::Written(value) => out.extend_from_slice(value.as_bytes()),
                    Done::Label(label) => drop(labels.insert(label, (end, is_string))),
                    Done::Scan => scan(bytes, end, is_string, &mut labels),
                    Done::Jump(label) => {
                        let Some(&target) = labels.get(&label) else {
                            return Err(wrong(format!("there is no label `{label}` before this")));
                        };
                        (i, is_string) = target;
                        continue;
                    }
                }
            }
        }
        if out.len() > MAX_BYTES {
            return Err(Wrong {
                at: from,
                message: format!("the text becomes longer than {MAX_BYTES} bytes"),
            });
        }
        i = end;
    }
    Ok(out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Quote,
    Directive,
}

/// The next piece of a text: where it begins and ends, and what it is.
fn piece(bytes: &[u8], i: usize, is_string: bool) -> Option<(usize, usize, Kind)> {
    let rest = bytes.get(i..).filter(|rest| !rest.is_empty())?;
    if rest.starts_with(b"#{") {
        let length = rest.iter().position(|&b| b == b'}').map_or(rest.len(), |end| end + 1);
        return Some((i, i + length, Kind::Directive));
    }
    if rest[0] == b'"' {
        return Some((i, i + 1, Kind::Quote));
    }
    let length = if is_string {
        if rest[0] == b'\\' { 2.min(rest.len()) } else { 1 }
    } else if rest[0] == b'#' {
        rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
    } else if rest.starts_with(b"(*") {
        comment(rest)
    } else {
        1
    };
    // As much as there is nothing to do with.
    let is_special = |b: u8| matches!(b, b'#' | b'"' | b'(' | b'\\');
    let more = bytes[i + length..].iter().take_while(|&&b| !is_special(b)).count();
    Some((i, i + length + more, Kind::Plain))
}

/// The length of a comment; comments are nested. One that does not end is the lexer's business.
fn comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0usize);
    while at < rest.len() {
        if rest[at..].starts_with(b"(*") {
            (at, depth) = (at + 2, depth + 1);
        } else if rest[at..].starts_with(b"*)") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// What is between the braces.
fn directive(bytes: &[u8], from: usize, end: usize) -> Result<String, String> {
    let Some(inside) = bytes[from + 2..end].strip_suffix(b"}") else {
        return Err("the directive does not end: `}` is missing".into());
    };
    Ok(crate::source::latin1(inside).trim().to_uppercase())
}

/// Notes the labels behind a place.
fn scan(bytes: &[u8], mut i: usize, mut is_string: bool, labels: &mut Labels) {
    while let Some((from, end, kind)) = piece(bytes, i, is_string) {
        match kind {
            Kind::Plain => {}
            Kind::Quote => is_string = !is_string,
            Kind::Directive => {
                if let Ok(text) = directive(bytes, from, end)
                    && let Some(label) = text.strip_prefix("LABEL")
                {
                    labels.entry(label.trim().to_owned()).or_insert((end, is_string));
                }
            }
        }
        i = end;
    }
}

enum Done {
    Nothing,
    Written(String),
    Label(String),
    Scan,
    Jump(String),
}

fn done(text: &str, variables: &mut Variables) -> Result<Done, String> {
    let (word, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_alphabetic).count());
    let rest = rest.trim();
    match word {
        "SET" => {
            let Some((name, expr)) = rest.split_once('=') else {
                return Err("write #{SET name=value}".into());
            };
            let name = name.trim();
            if !is_name(name) {
                return Err(format!("`{name}` is no name of a variable"));
            }
            let value = value(expr, variables)?;
            variables.insert(name.to_owned(), value);
            Ok(Done::Nothing)
        }
        "EVAL" => Ok(Done::Written(format!("{:.0}", value(rest, variables)?.round() + 0.0))),
        "PRINT" => value(rest, variables).map(|_| Done::Nothing),
        "LABEL" if is_name(rest) => Ok(Done::Label(rest.to_owned())),
        "LABEL" => Err(format!("`{rest}` is no name of a label")),
        "SCAN" if rest.is_empty() => Ok(Done::Scan),
        "CB" => {
            let Some((label, expr)) = rest.split_once(':') else {
                return Err("write #{CB label:value}".into());
            };
            let is_back = value(expr, variables)? != 0.0;
            Ok(if is_back { Done::Jump(label.trim().to_owned()) } else { Done::Nothing })
        }
        _ => Err(format!("`{word}` is no directive: they are SET, EVAL, LABEL, CB, SCAN and PRINT")),
    }
}

fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_alphabetic() || c == '_';
    text.starts_with(is_letter) && text.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

/// The value of an expression.
fn value(text: &str, variables: &Variables) -> Result<f64, String> {
    let mut parser = Parser { rest: text.trim(), variables, depth: 0 };
    let value = parser.binary(0)?;
    if !parser.rest.is_empty() {
        return Err(format!("`{}` has no meaning in the expression", parser.rest));
    }
    if value.is_finite() { Ok(value) } else { Err("the value is no finite number".into()) }
}

struct Parser<'a> {
    rest: &'a str,
    variables: &'a Variables,
    depth: usize,
}

/// Operators by how strongly they bind; longer ones first.
const OPERATORS: [&[&str]; 5] =
    [&["|"], &["&"], &["==", "!=", "<>", "<=", ">=", "=", "<", ">"], &["+", "-"], &["*", "/", "%"]];

impl Parser<'_> {
    fn pass(&mut self, words: &[&'static str]) -> Option<&'static str> {
        let word = words.iter().find(|word| self.rest.starts_with(**word))?;
        self.rest = self.rest[word.len()..].trim_start();
        Some(word)
    }

    fn binary(&mut self, level: usize) -> Result<f64, String> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.pass(operators) {
            let right = self.binary(level + 1)?;
            left = apply(operator, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("the expression is nested more than {MAX_DEPTH} deep"));
        }
        let value = match self.pass(&["-", "!", "("]) {
            Some("-") => -self.unary()?,
            Some("!") => truth(self.unary()? == 0.0),
            Some(_) => {
                let inside = self.binary(0)?;
                self.pass(&[")"]).ok_or("`)` is missing")?;
                inside
            }
            None => self.atom()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<f64, String> {
        let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let end = self.rest.find(|c: char| !is_inside(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return word.parse().map_err(|_| format!("`{word}` is no number"));
        }
        let known = self.variables.get(word).copied();
        known.ok_or_else(|| {
            if word.is_empty() { "a value is missing".into() } else { format!("`{word}` is not set") }
        })
    }
}

fn truth(is_true: bool) -> f64 {
    f64::from(u8::from(is_true))
}

fn apply(operator: &str, a: f64, b: f64) -> Result<f64, String> {
    Ok(match operator {
        "|" => truth(a != 0.0 || b != 0.0),
        "&" => truth(a != 0.0 && b != 0.0),
        "=" | "==" => truth(a == b),
        "!=" | "<>" => truth(a != b),
        "<" => truth(a < b),
        "<=" => truth(a <= b),
        ">" => truth(a > b),
        ">=" => truth(a >= b),
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        _ if b == 0.0 => return Err("division by zero".into()),
        "/" => a / b,
        _ => a % b,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, (usize, String)> {
        let out = preprocess(text.as_bytes(), &mut Variables::default());
        out.map(|bytes| crate::source::latin1(&bytes)).map_err(|wrong| (wrong.at, wrong.message))
    }

    #[test]
    fn directives_are_done_in_the_stream_of_characters() {
        assert_eq!(expanded("a #{SET n = 2} #{EVAL N*3 - 1}"), Ok("a  5".into()));
        let text = "#{SET i=1}#{LABEL l} #{EVAL i} = \"a#{EVAL i}\"#{set i=i+1}#{CB l:i<=3};";
        assert_eq!(expanded(text), Ok(" 1 = \"a1\" 2 = \"a2\" 3 = \"a3\";".into()));
        assert_eq!(expanded("#{EVAL 7/2} #{EVAL -7/2} #{EVAL !(1 & 0) | 0}"), Ok("4 -4 1".into()));
        assert_eq!(expanded("#{PRINT 1}#{SCAN}x#{LABEL y}"), Ok("x".into()));
        // Comments are left alone, and a quote in one is none.
        assert_eq!(
            expanded("# #{EVAL x} \"\n(* #{ (* *) *)\"\\\"#{EVAL 1}\""),
            Ok("# #{EVAL x} \"\n(* #{ (* *) *)\"\\\"1\"".into())
        );
        assert!(is_needed(b"x#{") && !is_needed(b"# {"));
    }

    #[test]
    fn wrong_directives_have_a_place_and_a_reason() {
        let wrong = |text: &str, at: usize, words: &str| {
            let (place, message) = expanded(text).unwrap_err();
            assert!(place == at && message.contains(words), "{text}: {place}, {message}");
        };
        wrong("ab#{EVAL x}", 2, "`X` is not set");
        wrong("#{EVAL 1/0}", 0, "division by zero");
        wrong("#{EVAL 1", 0, "does not end");
        wrong("#{CB l:1}", 0, "no label");
        wrong("#{LABEL l}#{CB l:1}", 10, "does the loop end");
        wrong("#{FOO}", 0, "is no directive");
        wrong("#{SET 1=2}", 0, "no name of a variable");
        wrong(&format!("#{{EVAL {}1}}", "(".repeat(100)), 0, "nested");
        wrong("#{EVAL 1 2}", 0, "`2` has no meaning");
        let long = format!("#{{LABEL l}}{}#{{CB l:1}}", "y".repeat(1 << 20));
        assert!(expanded(&long).unwrap_err().1.contains("longer than"));
    }
}
