//! The `.aut` format of CADP and mCRL2.
//!
//! **Implements** `des (initial, transitions, states)` and `(from, "label", to)`, states numbered from zero, labels
//! with or without quotes. The invisible action is `i` in CADP and `tau` in mCRL2: by default both are
//! read as tau, and `i` is written.
//! **Differs from the text** nowhere. Propositions cannot be written.
//! **Checked by** round trips and by the bad texts in `tests/all/bad_input.rs`.

use crate::lsts::{Lsts, LstsBuilder, TAU};
use crate::source::{NoFiles, Refusal, Sources, latin1, to_latin1};
use std::io::{self, Write};
use stubborn_text::{Diagnostic, FileId, Span};

/// How the invisible action is spelt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tau {
    /// `i` and `tau` are read, `i` is written.
    #[default]
    Both,
    /// `i`, as in CADP.
    I,
    /// `tau`, as in mCRL2.
    Tau,
}

impl Tau {
    fn is_tau(self, label: &str) -> bool {
        match self {
            Self::Both => label == "i" || label == "tau",
            Self::I => label == "i",
            Self::Tau => label == "tau",
        }
    }

    fn word(self) -> &'static str {
        if self == Self::Tau { "tau" } else { "i" }
    }
}

/// Reads a `.aut` text.
pub fn read_aut(name: &str, bytes: Vec<u8>, tau: Tau) -> Result<Lsts, Box<Refusal>> {
    let sources = Sources::new(name, bytes, &NoFiles);
    parse(sources.bytes(FileId(0)), tau).map_err(|diagnostic| sources.refuse(diagnostic))
}

type Parsed<T> = Result<T, Diagnostic>;

fn at(start: usize, end: usize) -> Span {
    Span::new(FileId(0), start, end)
}

fn parse(bytes: &[u8], tau: Tau) -> Parsed<Lsts> {
    let mut lines = lines(bytes);
    let (start, header) = lines.next().unwrap_or((0, b""));
    let whole = at(start, start + header.len());
    let bad_header =
        || Diagnostic::error("T0201", whole, "the first line must be `des (initial, transitions, states)`");
    let numbers = header.strip_prefix(b"des").map(<[u8]>::trim_ascii).and_then(|rest| {
        let inside = rest.strip_prefix(b"(")?.strip_suffix(b")")?;
        let numbers: Vec<u64> = inside.split(|&b| b == b',').map(number).collect::<Option<_>>()?;
        <[u64; 3]>::try_from(numbers).ok()
    });
    let [initial, n_transitions, n_states] = numbers.ok_or_else(bad_header)?;
    let mut builder =
        LstsBuilder::new(n_states).map_err(|error| Diagnostic::error("T0107", whole, error.to_string()))?;
    let state = |number: u64, span: Span| {
        if number < n_states {
            return Ok(number as u32);
        }
        let message = format!("there is no state {number}: there are {n_states}, numbered from 0");
        Err(Diagnostic::error("T0111", span, message))
    };
    builder.set_initial(state(initial, whole)?);
    let mut n_found = 0u64;
    for (start, line) in lines {
        let whole = at(start, start + line.len());
        let (from, label, to) = transition(line)
            .ok_or_else(|| Diagnostic::error("T0202", whole, "a line must be `(from, \"label\", to)`"))?;
        let (from, to) = (state(from, whole)?, state(to, whole)?);
        let label = latin1(label);
        let action = if tau.is_tau(&label) { TAU } else { builder.action(&label) };
        builder.add_transition(from, action, to);
        n_found += 1;
    }
    if n_found != n_transitions {
        let message = format!("{n_transitions} transitions are announced, but there are {n_found}");
        return Err(Diagnostic::error("T0120", whole, message));
    }
    builder.build().map_err(|error| Diagnostic::error("T0107", whole, error.to_string()))
}

/// Lines that are not empty, without blanks at their ends, and where they begin.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    let lines = bytes.split(|&b| b == b'\n').map(move |line| {
        let blanks = line.len() - line.trim_ascii_start().len();
        let found = (start + blanks, line.trim_ascii());
        start += line.len() + 1;
        found
    });
    lines.filter(|(_, line)| !line.is_empty())
}

fn number(bytes: &[u8]) -> Option<u64> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok()
}

/// Source, label and target.
fn transition(line: &[u8]) -> Option<(u64, &[u8], u64)> {
    let inside = line.strip_prefix(b"(")?.strip_suffix(b")")?;
    let first = inside.iter().position(|&b| b == b',')?;
    let last = inside.iter().rposition(|&b| b == b',').filter(|&last| last > first)?;
    let label = inside[first + 1..last].trim_ascii();
    let label = match label.strip_prefix(b"\"") {
        Some(rest) => rest.strip_suffix(b"\"")?,
        None => label,
    };
    (!label.is_empty()).then_some(())?;
    Some((number(&inside[..first])?, label, number(&inside[last + 1..])?))
}

/// Writes `lsts` in this format. Propositions are lost.
pub fn write_aut(lsts: &Lsts, tau: Tau, out: &mut dyn Write) -> io::Result<()> {
    for name in lsts.action_names() {
        let message = if tau.is_tau(name) {
            format!("the visible action `{name}` would be read as tau; choose a spelling of tau")
        } else if name.contains('\n') {
            "an action has a newline in its name, which this format cannot have".into()
        } else {
            continue;
        };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    writeln!(out, "des ({},{},{})", lsts.initial(), lsts.n_transitions(), lsts.n_states())?;
    for state in 0..lsts.n_states() as u32 {
        for (action, target) in lsts.edges(state) {
            if action == TAU {
                writeln!(out, "({state},{},{target})", tau.word())?;
            } else {
                write!(out, "({state},\"")?;
                out.write_all(&to_latin1(lsts.action_name(action)))?;
                writeln!(out, "\",{target})")?;
            }
        }
    }
    Ok(())
}
