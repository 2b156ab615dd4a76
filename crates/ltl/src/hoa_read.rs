//! Reads the Hanoi Omega-Automata format, version 1 (<https://adl.github.io/hoaf/>).
//!
//! Accepted: Büchi, generalised Büchi and trivial acceptance (a conjunction of `Inf` of all sets, or `t`), on states and edges; explicit labels on edges or states, implicit labels; aliases; several initial
//! states; one automaton. Refused, each with its line: other acceptance conditions, `Fin`, complemented sets,
//! alternation (conjunctions of states), several automata, more than 64 propositions or sets, `--ABORT--`.
//! Headers that are not known are skipped if they begin with a small letter, as the format demands, and
//! refused otherwise.
//!
//! A reader of our own: the one that is published panics on large numbers and overflows the stack on deep
//! labels. Checked by `tests/all/hoa.rs`.

use crate::{Automaton, Cube, Guard, MAX_PROPOSITIONS, MAX_SETS, Propositions, State};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use thiserror::Error;

/// Labels may be nested this deep.
const MAX_DEPTH: usize = 250;

/// A label may have this many cubes.
const MAX_CUBES: usize = 4096;

/// States may have numbers below this.
const MAX_STATES: usize = 1 << 20;

/// Implicit labels are read for up to this many propositions.
const MAX_IMPLICIT: usize = 10;

/// A state may have this many edges.
const MAX_EDGES: usize = 8192;

const ONLY_BUCHI: &str = "only Büchi and generalised Büchi acceptance is read";

/// What is wrong with a HOA text, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct HoaError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// `name:`.
    Header(String),
    Word(String),
    Alias(String),
    Number(usize),
    Text(String),
    /// `--BODY--` and the like.
    Mark(String),
    Sign(char),
}

/// Reads one automaton.
pub fn from_hoa(text: &str) -> Result<Automaton, HoaError> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, at: 0 };
    let header = reader.header()?;
    let automaton = reader.body(&header)?;
    match reader.peek() {
        None => Ok(automaton),
        Some(_) => reader.fail("there is more than one automaton"),
    }
}

/// A line and a column, from 1.
type Place = (usize, usize);

fn tokens(text: &str) -> Result<Vec<(Token, Place)>, HoaError> {
    let mut out = Vec::new();
    let (mut at, mut before, mut place) = (0, 0, (1, 1));
    let fail =
        |(line, column): Place, message: &str| Err(HoaError { line, column, message: message.to_owned() });
    while let Some(first) = text[at..].chars().next() {
        for c in text[before..at].chars() {
            place = if c == '\n' { (place.0 + 1, 1) } else { (place.0, place.1 + 1) };
        }
        before = at;
        let rest = &text[at..];
        let until = |end: fn(char) -> bool| rest.find(end).unwrap_or(rest.len());
        let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-';
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if rest.starts_with("/*") {
            let Some(length) = comment(rest) else { return fail(place, "a comment does not end") };
            at += length;
        } else if first == '"' {
            let Some((content, length)) = string(rest) else { return fail(place, "a string does not end") };
            out.push((Token::Text(content), place));
            at += length;
        } else if let Some(word) = rest.strip_prefix("--") {
            let length = 2 + word.find("--").map_or(word.len(), |i| i + 2);
            out.push((Token::Mark(rest[..length].to_owned()), place));
            at += length;
        } else if first.is_ascii_digit() {
            let length = until(|c| !c.is_ascii_digit());
            let Ok(number) = rest[..length].parse() else { return fail(place, "the number is too large") };
            out.push((Token::Number(number), place));
            at += length;
        } else if first == '@' {
            let length = 1 + rest[1..].find(is_other).unwrap_or(rest.len() - 1);
            out.push((Token::Alias(rest[1..length].to_owned()), place));
            at += length;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(is_other).unwrap_or(rest.len());
            let word = rest[..length].to_owned();
            at += length;
            if rest[length..].starts_with(':') {
                at += 1;
                out.push((Token::Header(word), place));
            } else {
                out.push((Token::Word(word), place));
            }
        } else if "()[]{}!&|".contains(first) {
            out.push((Token::Sign(first), place));
            at += 1;
        } else {
            return fail(place, &format!("`{}` has no meaning here", first.escape_default()));
        }
    }
    Ok(out)
}

/// The length of a comment; comments nest.
fn comment(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// The content of a string and its length with quotes.
fn string(text: &str) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((content, at + 1)),
            '\\' => content.push(characters.next()?.1),
            c => content.push(c),
        }
    }
    None
}

#[derive(Default)]
struct Header {
    n_states: Option<usize>,
    start: Vec<usize>,
    propositions: Option<Propositions>,
    aliases: FxHashMap<String, Guard>,
    n_sets: Option<u32>,
}

struct Reader<'a> {
    tokens: &'a [(Token, Place)],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, HoaError> {
        let at = self.at.min(self.tokens.len().saturating_sub(1));
        let (line, column) = self.tokens.get(at).map_or((1, 1), |(_, place)| *place);
        Err(HoaError { line, column, message: message.into() })
    }

    fn number(&mut self) -> Result<usize, HoaError> {
        match self.peek() {
            Some(&Token::Number(number)) => {
                self.at += 1;
                Ok(number)
            }
            _ => self.fail("a number is due"),
        }
    }

    fn sign(&mut self, sign: char) -> bool {
        let is_here = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(is_here);
        is_here
    }

    fn state(&mut self) -> Result<usize, HoaError> {
        let state = self.number()?;
        if self.peek() == Some(&Token::Sign('&')) {
            return self.fail("alternating automata are not read");
        }
        if state >= MAX_STATES { self.fail("the number of a state is too large") } else { Ok(state) }
    }

    fn header(&mut self) -> Result<Header, HoaError> {
        let starts = [Token::Header("HOA".into()), Token::Word("v1".into())];
        for wanted in &starts {
            if self.peek() != Some(wanted) {
                return self.fail("a HOA text begins with `HOA: v1`");
            }
            self.at += 1;
        }
        let mut header = Header::default();
        loop {
            match self.peek().cloned() {
                Some(Token::Mark(mark)) if mark == "--BODY--" => {
                    self.at += 1;
                    return self.complete(header);
                }
                Some(Token::Header(name)) => {
                    self.at += 1;
                    self.item(&name, &mut header)?;
                }
                Some(_) => return self.fail("a header or `--BODY--` is due"),
                None => return self.fail("the text ends before `--BODY--`"),
            }
        }
    }

    fn complete(&self, header: Header) -> Result<Header, HoaError> {
        match header.n_sets {
            None => self.fail("there is no `Acceptance:`"),
            Some(_) => Ok(header),
        }
    }

    fn item(&mut self, name: &str, header: &mut Header) -> Result<(), HoaError> {
        match name {
            "States" => {
                let n = self.number()?;
                if n > MAX_STATES {
                    return self.fail("too many states");
                }
                header.n_states = Some(n);
            }
            "Start" => header.start.push(self.state()?),
            "AP" => self.propositions(header)?,
            "Alias" => {
                let Some(Token::Alias(alias)) = self.peek().cloned() else {
                    return self.fail("an alias is due");
                };
                self.at += 1;
                let guard = self.label(header, 0)?;
                header.aliases.insert(alias, guard);
            }
            "Acceptance" => header.n_sets = Some(self.acceptance()?),
            _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                return self
                    .fail(format!("header `{name}:` is not known, and a capital says that it matters"));
            }
            _ => {
                while !matches!(self.peek(), None | Some(Token::Header(_) | Token::Mark(_))) {
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    fn propositions(&mut self, header: &mut Header) -> Result<(), HoaError> {
        let n = self.number()?;
        if n > MAX_PROPOSITIONS {
            return self.fail(format!("more than {MAX_PROPOSITIONS} propositions"));
        }
        let mut names = Propositions::new();
        for i in 0..n {
            let Some(Token::Text(text)) = self.peek().cloned() else {
                return self.fail(format!("{n} propositions are announced, and {i} are here"));
            };
            if names.number(&text, 0..0) != Ok(i) {
                return self.fail(format!("proposition `{text}` occurs twice"));
            }
            self.at += 1;
        }
        header.propositions = Some(names);
        Ok(())
    }

    /// `n Inf(0) & Inf(1) & ...`: every set, in any order and with any parentheses.
    fn acceptance(&mut self) -> Result<u32, HoaError> {
        let n = self.number()?;
        if n > MAX_SETS as usize {
            return self.fail(format!("more than {MAX_SETS} acceptance sets"));
        }
        let mut met = 0;
        let mut open = 0usize;
        loop {
            while self.sign('(') {
                open += 1;
            }
            met |= self.acceptance_atom(n)?;
            while open > 0 && self.sign(')') {
                open -= 1;
            }
            if !self.sign('&') {
                break;
            }
        }
        if open > 0 {
            return self.fail("`)` is due");
        }
        match self.peek() {
            Some(Token::Header(_) | Token::Mark(_)) | None if met == crate::automaton::sets(n as u32) => {
                Ok(n as u32)
            }
            _ => self.fail(ONLY_BUCHI),
        }
    }

    /// `t` or `Inf(i)`, as a mark.
    fn acceptance_atom(&mut self, n: usize) -> Result<u64, HoaError> {
        match self.peek() {
            Some(Token::Word(word)) if word == "t" => {
                self.at += 1;
                return Ok(0);
            }
            Some(Token::Word(word)) if word == "Inf" => self.at += 1,
            _ => return self.fail(ONLY_BUCHI),
        }
        if !self.sign('(') {
            return self.fail("`(` is due");
        }
        if self.sign('!') {
            return self.fail(format!("{ONLY_BUCHI}: no complemented sets"));
        }
        let set = self.number()?;
        if set >= n {
            return self.fail(format!("set {set} is not among the {n} announced"));
        }
        if self.sign(')') { Ok(1 << set) } else { self.fail("`)` is due") }
    }

    /// A label: a disjunction.
    fn label(&mut self, header: &Header, depth: usize) -> Result<Guard, HoaError> {
        if depth > MAX_DEPTH {
            return self.fail(format!("a label is nested deeper than {MAX_DEPTH}"));
        }
        let mut all = self.conjunction(header, depth)?;
        while self.sign('|') {
            let part = self.conjunction(header, depth)?;
            self.check_size(all.cubes().len() + part.cubes().len())?;
            all = all.or(&part);
        }
        Ok(all)
    }

    fn conjunction(&mut self, header: &Header, depth: usize) -> Result<Guard, HoaError> {
        let mut all = self.literal(header, depth)?;
        while self.sign('&') {
            let part = self.literal(header, depth)?;
            self.check_size(all.cubes().len() * part.cubes().len())?;
            all = all.and(&part);
        }
        Ok(all)
    }

    fn check_size(&self, n_cubes: usize) -> Result<(), HoaError> {
        if n_cubes > MAX_CUBES { self.fail("a label is too large") } else { Ok(()) }
    }

    fn literal(&mut self, header: &Header, depth: usize) -> Result<Guard, HoaError> {
        let mut is_negated = false;
        while self.sign('!') {
            is_negated = !is_negated;
        }
        let guard = match self.peek().cloned() {
            Some(Token::Word(word)) if word == "t" => Guard::always(),
            Some(Token::Word(word)) if word == "f" => Guard::never(),
            Some(Token::Number(number)) => {
                if number >= header.propositions.as_ref().map_or(0, Propositions::len) {
                    return self.fail(format!("proposition {number} is not in `AP:`"));
                }
                Guard::from(Cube { positive: 1 << number, negative: 0 })
            }
            Some(Token::Alias(alias)) => match header.aliases.get(&alias) {
                Some(guard) => guard.clone(),
                None => return self.fail(format!("alias `@{alias}` is not defined")),
            },
            Some(Token::Sign('(')) => {
                self.at += 1;
                let inner = self.label(header, depth + 1)?;
                if self.peek() != Some(&Token::Sign(')')) {
                    return self.fail("`)` is due");
                }
                inner
            }
            _ => return self.fail("a label is due"),
        };
        self.at += 1;
        if !is_negated {
            return Ok(guard);
        }
        match guard.not_within(MAX_CUBES) {
            Some(not) => Ok(not),
            None => self.fail("a label is too large"),
        }
    }

    fn bracketed(&mut self, header: &Header) -> Result<Option<Guard>, HoaError> {
        if !self.sign('[') {
            return Ok(None);
        }
        let guard = self.label(header, 0)?;
        if self.sign(']') { Ok(Some(guard)) } else { self.fail("`]` is due") }
    }

    fn marks(&mut self, n_sets: u32) -> Result<u64, HoaError> {
        let mut marks = 0;
        if self.sign('{') {
            while !self.sign('}') {
                let set = self.number()?;
                if set >= n_sets as usize {
                    return self.fail(format!("set {set} is not among the {n_sets} announced"));
                }
                marks |= 1u64 << set;
            }
        }
        Ok(marks)
    }

    fn body(&mut self, header: &Header) -> Result<Automaton, HoaError> {
        let n_sets = header.n_sets.unwrap_or(0);
        let names = header.propositions.clone().unwrap_or_default();
        let n_propositions = names.len();
        let mut out = Automaton::new(names, n_sets);
        let mut is_described = Vec::new();
        let grow = |out: &mut Automaton, state: usize| {
            while out.n_states() <= state {
                out.add_state(0);
            }
        };
        loop {
            match self.peek().cloned() {
                Some(Token::Header(name)) if name == "State" => self.at += 1,
                Some(Token::Mark(mark)) if mark == "--END--" => {
                    self.at += 1;
                    break;
                }
                Some(Token::Mark(mark)) if mark == "--ABORT--" => return self.fail("the text was aborted"),
                _ => return self.fail("`State:` or `--END--` is due"),
            }
            let state_label = self.bracketed(header)?;
            let state = self.state()?;
            self.check_state(state, header)?;
            if let Some(Token::Text(_)) = self.peek() {
                self.at += 1;
            }
            let marks = self.marks(n_sets)?;
            grow(&mut out, state);
            is_described.resize(out.n_states().max(is_described.len()), false);
            if std::mem::replace(&mut is_described[state], true) {
                return self.fail(format!("state {state} is described twice"));
            }
            out.set_state_marks(state as State, marks);
            let mut n_implicit = 0;
            let mut n_edges = 0;
            let mut edges: BTreeMap<(usize, u64), Vec<Cube>> = BTreeMap::new();
            while matches!(self.peek(), Some(Token::Sign('[') | Token::Number(_))) {
                let label = self.bracketed(header)?;
                let guard = match (label, &state_label) {
                    (Some(_), Some(_)) => return self.fail("both the state and its edge have labels"),
                    (Some(guard), None) => guard,
                    (None, Some(guard)) => guard.clone(),
                    (None, None) => {
                        n_implicit += 1;
                        self.implicit(n_implicit - 1, n_propositions)?
                    }
                };
                let target = self.state()?;
                self.check_state(target, header)?;
                let marks = self.marks(n_sets)?;
                n_edges += guard.cubes().len().max(1);
                if n_edges > MAX_EDGES {
                    return self.fail(format!("more than {MAX_EDGES} edges in one state"));
                }
                edges.entry((target, marks)).or_default().extend(guard.cubes());
            }
            for ((target, marks), cubes) in edges {
                grow(&mut out, target);
                out.add_edge(state as State, Guard::any_of(cubes), target as State, marks);
            }
            if n_implicit != 0 && n_implicit != 1 << n_propositions {
                return self.fail(format!(
                    "state {state} has {n_implicit} edges without labels, not one for each of the {} letters",
                    1u64 << n_propositions
                ));
            }
        }
        for &state in &header.start {
            self.check_state(state, header)?;
            grow(&mut out, state);
            out.add_initial(state as State);
        }
        Ok(out)
    }

    fn check_state(&self, state: usize, header: &Header) -> Result<(), HoaError> {
        match header.n_states {
            Some(n) if state >= n => self.fail(format!("state {state} is not among the {n} announced")),
            _ => Ok(()),
        }
    }

    /// The guard of the edge number `i` of a state whose edges have no labels: the letter with that number.
    fn implicit(&self, i: usize, n_propositions: usize) -> Result<Guard, HoaError> {
        if n_propositions > MAX_IMPLICIT {
            return self.fail(format!("implicit labels with more than {MAX_IMPLICIT} propositions"));
        }
        if i >= 1 << n_propositions {
            return self.fail("more edges without labels than letters");
        }
        Ok(Guard::from(Cube::minterm(i as u64, crate::automaton::sets(n_propositions as u32))))
    }
}
