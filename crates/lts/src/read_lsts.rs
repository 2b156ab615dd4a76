//! Reads LSTS files.
//!
//! **Implements** the text format of TVT: all sections, both spellings of their borders (`Begin Header` and
//! `Header ... End_header`), sections from other files (`Include Header From "f"`), included files anywhere.
//! Counts must be right, names unique, and a source state may occur once, as the original reader has it.
//! What is no part of the system, such as histories and layouts, is kept in a [`Document`].
//! **Differs from the text** in that acceptance graphs are refused as systems: they are no LSTSs. With `lenient` sections come in any order, as in fMBT and TEMA, states of
//! a proposition may have commas between them, and results of interrupted compositions are taken.
//! **Checked by** round trips, the dialects in `tests/all/formats.rs`, and the bad texts in `tests/all/bad_input.rs`.

use crate::document::{Document, Extras};
use crate::lexer::{Lexer, Token};
use crate::lsts::{Lsts, LstsBuilder, MAX_STATES, Mark, Special};
use crate::source::{Files, Refusal};
use rustc_hash::FxHashSet;
use stubborn_text::{Diagnostic, Span};

/// How to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether the dialects of other tools are taken, too.
    pub lenient: bool,
}

/// Reads the LSTS in `bytes`, a text called `name`.
pub fn read_lsts(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    options: ReadOptions,
) -> Result<Lsts, Box<Refusal>> {
    read(name, bytes, files, options, false).map(|document| document.lsts)
}

/// The same with all that is in the file besides; it may be an acceptance graph.
pub fn read_document(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    options: ReadOptions,
) -> Result<Document, Box<Refusal>> {
    read(name, bytes, files, options, true)
}

fn read(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
    options: ReadOptions,
    keeps: bool,
) -> Result<Document, Box<Refusal>> {
    let mut reader = Reader {
        lexer: Lexer::new(name, bytes, files, options.lenient),
        lenient: options.lenient,
        header: Header::default(),
        builder: None,
        numbers: Vec::new(),
        seen: Vec::new(),
        nameless: Vec::new(),
        extras: keeps.then(Extras::default),
    };
    let lsts = reader.file().map_err(|diagnostic| reader.lexer.refuse(diagnostic))?;
    Ok(Document { lsts, extras: reader.extras.unwrap_or_default() })
}

type Result<T, E = Diagnostic> = std::result::Result<T, E>;

/// What the header says, and where.
#[derive(Default)]
struct Header {
    states: Option<(u64, Span)>,
    actions: Option<(u64, Span)>,
    transitions: Option<(u64, Span)>,
    propositions: Option<(u64, Span)>,
    initial: Option<(u64, Span)>,
    /// Further initial states.
    others: Vec<(u64, Span)>,
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    lenient: bool,
    header: Header,
    builder: Option<LstsBuilder>,
    /// By number of an action in the file, minus one: its number in the system.
    numbers: Vec<Option<u32>>,
    /// The sections so far.
    seen: Vec<String>,
    /// Transitions that came before the names of their actions: source, number of the action and where it stands,
    /// target.
    nameless: Vec<(u32, u64, Span, u32)>,
    /// Where the rest of the file goes, if it is kept.
    extras: Option<Extras>,
}

/// Attributes of the header that come out of the system.
const COUNTED: [&str; 6] =
    ["STATE_CNT", "ACTION_CNT", "TRANSITION_CNT", "STATE_PROP_CNT", "INITIAL_STATE", "INITIAL_STATES"];

/// Sections in the order in which TVT wants them; those with the same number in any order.
const ORDER: [(&str, u32); 8] = [
    ("HEADER", 0),
    ("ACTION_NAMES", 1),
    ("STATE_NAMES", 2),
    ("STATE_PROPS", 2),
    ("DIV_BITS", 2),
    ("ACC_SETS", 2),
    ("TRANSITIONS", 3),
    ("LAYOUT", 4),
];

impl Reader<'_> {
    fn file(&mut self) -> Result<Lsts> {
        self.lexer.advance()?;
        if self.lexer.pass_word("BEGIN")? {
            self.lexer.expect_word("LSTS")?;
        } else if !self.lexer.pass_word("LSTS_FILE")? {
            return Err(self.lexer.unexpected("`Begin Lsts`"));
        }
        while !self.at_end()? {
            self.section()?;
        }
        self.lexer.advance()?;
        if matches!(self.lexer.token(), Token::Text(_)) {
            let remark = self.lexer.text()?;
            self.keep(|extras| extras.remark = Some(remark));
        }
        if *self.lexer.token() != Token::End {
            return Err(self.lexer.unexpected("the end of the text"));
        }
        self.finish()
    }

    /// Whether `End Lsts` is here; leaves its last word in hand.
    fn at_end(&mut self) -> Result<bool> {
        if self.lexer.is_word("END_LSTS") {
            return Ok(true);
        }
        if !self.lexer.pass_word("END")? {
            return Ok(false);
        }
        if !self.lexer.is_word("LSTS") {
            return Err(self.lexer.unexpected("`Lsts`"));
        }
        Ok(true)
    }

    fn section(&mut self) -> Result<()> {
        if self.lexer.pass_word("INCLUDE")? {
            return self.section_from_file();
        }
        let is_canonical = self.lexer.pass_word("BEGIN")?;
        let span = self.lexer.span();
        let name = self.lexer.word()?;
        self.body(&name, span)?;
        self.section_end(&name, is_canonical)
    }

    fn section_end(&mut self, name: &str, is_canonical: bool) -> Result<()> {
        if is_canonical {
            self.lexer.expect_word("END")?;
            return self.lexer.expect_word(name);
        }
        if self.lexer.pass_word("END")? {
            return self.lexer.expect_word(name);
        }
        // Old style: one word, whatever it is called.
        self.lexer.word().map(|_| ())
    }

    /// `Include NAME From "file"`: the section with its borders is in the file.
    fn section_from_file(&mut self) -> Result<()> {
        let wanted = self.lexer.word()?;
        if !self.lexer.is_word("FROM") {
            return Err(self.lexer.unexpected("`From`"));
        }
        self.lexer.advance()?;
        let Token::Text(file) = self.lexer.token() else {
            return Err(self.lexer.unexpected("the name of a file, in quotes"));
        };
        let file = file.clone();
        self.lexer.enter(&file)?;
        self.lexer.advance()?;
        let is_canonical = self.lexer.pass_word("BEGIN")?;
        let span = self.lexer.span();
        let name = self.lexer.word()?;
        if name != wanted {
            let message = format!("the section `{wanted}` is expected here, not `{name}`");
            return Err(Diagnostic::error("T0101", span, message));
        }
        self.body(&name, span)?;
        self.section_end(&name, is_canonical)
    }

    fn body(&mut self, name: &str, span: Span) -> Result<()> {
        if name == "HISTORY" {
            return self.history();
        }
        let Some(&(_, rank)) = ORDER.iter().find(|(known, _)| *known == name) else {
            let help =
                "sections are History, Header, Action_names, State_names, State_props, Transitions, Layout";
            return Err(Diagnostic::error("T0102", span, format!("unknown section `{name}`")).help(help));
        };
        if self.seen.iter().any(|seen| seen == name) {
            return Err(Diagnostic::error("T0103", span, format!("the section `{name}` occurs twice")));
        }
        let is_late = |seen: &String| ORDER.iter().any(|(known, r)| known == seen && *r > rank);
        if name != "HEADER" && self.builder.is_none() {
            return Err(Diagnostic::error("T0104", span, "the header must come first"));
        }
        if !self.lenient && self.seen.iter().any(is_late) {
            let message = format!("the section `{name}` comes too late");
            let help =
                "Action_names, then State_names and State_props, then Transitions, then Layout; or --lenient";
            return Err(Diagnostic::error("T0104", span, message).help(help));
        }
        self.seen.push(name.to_owned());
        match name {
            "HEADER" => self.read_header(span),
            "ACTION_NAMES" => self.action_names(),
            "STATE_NAMES" => self.state_names(),
            "STATE_PROPS" => self.state_props(),
            "TRANSITIONS" => self.transitions(),
            "LAYOUT" => self.layout(),
            "DIV_BITS" if self.extras.is_some() => self.div_bits(),
            "ACC_SETS" if self.extras.is_some() => self.acc_sets(),
            _ => {
                let message = format!("`{name}` belongs to acceptance graphs, which are not LSTSs");
                let help = "its states stand for sets of states; it can only be converted from LSTS to LSTS";
                Err(Diagnostic::error("T0105", span, message).help(help))
            }
        }
    }

    /// Marks, strings and commands up to the end.
    fn history(&mut self) -> Result<()> {
        let start = self.lexer.span();
        while !self.lexer.is_word("END") && !self.lexer.is_word("END_HISTORY") {
            if *self.lexer.token() == Token::End {
                return Err(self.lexer.unexpected("`End History`"));
            }
            self.lexer.advance()?;
        }
        let history = self.written_since(start)?;
        self.keep(|extras| extras.history = history);
        Ok(())
    }

    /// Notes something down, if it is wanted.
    fn keep(&mut self, note: impl FnOnce(&mut Extras)) {
        if let Some(extras) = &mut self.extras {
            note(extras);
        }
    }

    /// What is written from here to the token in hand.
    fn written_since(&self, start: Span) -> Result<Vec<u8>> {
        if self.extras.is_none() {
            return Ok(Vec::new());
        }
        let written = self.lexer.written_since(start);
        written.map(<[u8]>::to_vec).ok_or_else(|| {
            Diagnostic::error("T0122", start, "this comes from several files, and cannot be kept as it is")
        })
    }

    fn read_header(&mut self, start: Span) -> Result<()> {
        loop {
            let span = self.lexer.span();
            match self.lexer.token() {
                // fMBT ends the header with one.
                Token::Mark(";") if self.lenient => self.lexer.advance()?,
                Token::Word(word) if word.starts_with("END") => break,
                Token::Word(_) => {
                    let attribute = self.lexer.word()?;
                    self.attribute(&attribute, span)?;
                    if !COUNTED.contains(&attribute.as_str()) {
                        let written = self.written_since(span)?;
                        self.keep(|extras| extras.attributes.push(written));
                    }
                }
                _ => return Err(self.lexer.unexpected("an attribute of the header")),
            }
        }
        let Some((states, at)) = self.header.states else {
            return Err(Diagnostic::error("T0106", start, "the header has no `State_cnt`"));
        };
        let Some((initial, initial_at)) = self.header.initial else {
            return Err(Diagnostic::error("T0106", start, "the header has no `Initial_states`"));
        };
        let mut builder =
            LstsBuilder::new(states).map_err(|error| Diagnostic::error("T0107", at, error.to_string()))?;
        let initial = self.state_number(initial, initial_at)?;
        builder.set_initial(initial);
        self.builder = Some(builder);
        for (state, at) in std::mem::take(&mut self.header.others) {
            let state = self.state_number(state, at)?;
            self.keep(|extras| extras.initial_states.push(state));
        }
        let n_actions = self.header.actions.map_or(0, |(n, _)| n);
        if let Some((n, at)) = self.header.actions
            && n > MAX_STATES as u64
        {
            return Err(Diagnostic::error("T0107", at, format!("{n} actions are too many")));
        }
        self.numbers = vec![None; n_actions as usize];
        Ok(())
    }

    fn attribute(&mut self, name: &str, span: Span) -> Result<()> {
        match name {
            "STATE_CNT" => self.header.states = Some((self.count()?, span)),
            "ACTION_CNT" => self.header.actions = Some((self.count()?, span)),
            "TRANSITION_CNT" => self.header.transitions = Some((self.count()?, span)),
            "STATE_PROP_CNT" => self.header.propositions = Some((self.count()?, span)),
            "ELUSIVE_ACTION_CNT" => {
                self.count()?;
            }
            "INITIAL_STATE" | "INITIAL_STATES" => {
                self.lexer.expect("=")?;
                let at = self.lexer.span();
                self.header.initial = Some((self.lexer.number()?, at));
                while matches!(self.lexer.token(), Token::Number(_)) {
                    if !self.lenient {
                        let several = self.lexer.error("T0108", "there is more than one initial state");
                        return Err(several.help("--lenient takes the first, as the tools of TVT do"));
                    }
                    // Whether there is such a state is known when the header ends.
                    let at = self.lexer.span();
                    self.header.others.push((self.lexer.number()?, at));
                }
                self.lexer.pass(";")?;
            }
            "INITIALLY_UNSTABLE" | "INITIALLY_STABLE" => {
                if self.lexer.pass("=")? {
                    self.lexer.word()?;
                }
            }
            "SEMANTICS" => {
                self.lexer.expect("=")?;
                self.lexer.word()?;
            }
            "NO_LONG_TAU_LOOPS" | "SHALLOW_TAUS" | "NO_TAUS" | "DETERMINISTIC" | "NORMAL" => {}
            "INTERRUPTED" if self.lenient => self.interrupted()?,
            "INTERRUPTED" => {
                let message = "this is the result of a composition that was interrupted";
                return Err(
                    Diagnostic::error("T0109", span, message).help("--lenient takes what there is of it")
                );
            }
            _ => {
                let message = format!("unknown attribute `{name}` of the header");
                return Err(Diagnostic::error("T0110", span, message));
            }
        }
        Ok(())
    }

    fn count(&mut self) -> Result<u64> {
        self.lexer.expect("=")?;
        self.lexer.number()
    }

    fn interrupted(&mut self) -> Result<()> {
        self.lexer.expect(":")?;
        if matches!(self.lexer.token(), Token::Text(_)) {
            return self.lexer.advance();
        }
        self.lexer.expect_word("ON_THE_FLY_ERROR")?;
        self.lexer.expect(":")?;
        self.lexer.word()?;
        self.lexer.expect_word("IN_STATE")?;
        self.lexer.number()?;
        if self.lexer.pass(",")? {
            self.lexer.expect_word("GUARD")?;
            self.lexer.number()?;
        }
        Ok(())
    }

    fn builder(&mut self) -> &mut LstsBuilder {
        self.builder.as_mut().expect("the header was read")
    }

    /// A state as it is numbered in the system.
    fn state_number(&self, number: u64, span: Span) -> Result<u32> {
        let n = self.header.states.map_or(0, |(n, _)| n);
        if number == 0 || number > n {
            let message = format!("there is no state {number}: they are numbered from 1 to {n}");
            return Err(Diagnostic::error("T0111", span, message));
        }
        Ok((number - 1) as u32)
    }

    fn state(&mut self) -> Result<u32> {
        let span = self.lexer.span();
        let number = self.lexer.number()?;
        self.state_number(number, span)
    }

    fn action_names(&mut self) -> Result<()> {
        let n = self.numbers.len() as u64;
        let mut names: Vec<Option<(String, Span)>> = vec![None; self.numbers.len()];
        let mut known: FxHashSet<String> = FxHashSet::default();
        while matches!(self.lexer.token(), Token::Number(_)) {
            let span = self.lexer.span();
            let number = self.lexer.number()?;
            if number == 0 {
                return Err(Diagnostic::error("T0112", span, "action 0 is tau and has no name"));
            }
            if number > n {
                let message = format!("action {number}, but `Action_cnt` is {n}");
                return Err(Diagnostic::error("T0113", span, message));
            }
            self.lexer.expect("=")?;
            let at = self.lexer.span();
            let name = self.lexer.text()?;
            if name.is_empty() {
                return Err(Diagnostic::error("T0114", at, "the name of an action must not be empty"));
            }
            if !known.insert(name.clone()) {
                return Err(Diagnostic::error("T0115", at, format!("two actions are called `{name}`")));
            }
            if names[number as usize - 1].replace((name, at)).is_some() {
                return Err(Diagnostic::error("T0115", span, format!("action {number} has two names")));
            }
        }
        for (i, name) in names.into_iter().enumerate() {
            let Some((name, _)) = name else { continue };
            self.numbers[i] = Some(self.builder().action(&name));
        }
        if let Some(missing) = self.numbers.iter().position(Option::is_none) {
            let message = format!("action {} of {n} has no name", missing + 1);
            return Err(self.lexer.error("T0113", message));
        }
        Ok(())
    }

    fn state_names(&mut self) -> Result<()> {
        while matches!(self.lexer.token(), Token::Number(_)) {
            let state = self.state()?;
            self.lexer.expect("=")?;
            let name = self.lexer.text()?;
            self.builder().name_state(state, name);
        }
        Ok(())
    }

    fn state_props(&mut self) -> Result<()> {
        let mut known: FxHashSet<Mark> = FxHashSet::default();
        loop {
            let span = self.lexer.span();
            let mark = match self.lexer.token() {
                Token::Text(_) => Mark::Named(self.lexer.text()?),
                Token::Word(word) => match Special::from_word(word) {
                    Some(special) => {
                        self.lexer.advance()?;
                        Mark::Special(special)
                    }
                    None => break,
                },
                _ => break,
            };
            self.lexer.expect(":")?;
            let states = self.ranges()?;
            self.lexer.expect(";")?;
            if !known.insert(mark.clone()) {
                return Err(Diagnostic::error("T0116", span, "the proposition occurs twice"));
            }
            self.builder().add_proposition(mark, states.into_iter().flatten());
        }
        let found = known.len() as u64;
        match self.header.propositions {
            Some((n, at)) if n != found => {
                let message = format!("`State_prop_cnt` is {n}, but there are {found} propositions");
                Err(Diagnostic::error("T0117", at, message))
            }
            _ => Ok(()),
        }
    }

    fn ranges(&mut self) -> Result<Vec<std::ops::RangeInclusive<u32>>> {
        let mut ranges = Vec::new();
        while matches!(self.lexer.token(), Token::Number(_)) {
            let first = self.state()?;
            let last = if self.lexer.pass("..")? {
                let span = self.lexer.span();
                let last = self.state()?;
                if last < first {
                    return Err(Diagnostic::error("T0118", span, "the range ends before it begins"));
                }
                last
            } else {
                first
            };
            ranges.push(first..=last);
            if self.lenient {
                self.lexer.pass(",")?;
            }
        }
        Ok(ranges)
    }

    fn transitions(&mut self) -> Result<()> {
        let mut n_found = 0u64;
        let n_states = self.header.states.map_or(0, |(n, _)| n) as usize;
        let mut sources = fixedbitset::FixedBitSet::with_capacity(n_states);
        while matches!(self.lexer.token(), Token::Number(_)) {
            let span = self.lexer.span();
            let source = self.state()?;
            if sources.put(source as usize) && !self.lenient {
                let message = format!("state {} occurs twice as a source", source + 1);
                return Err(Diagnostic::error("T0119", span, message));
            }
            self.lexer.pass(":")?;
            while matches!(self.lexer.token(), Token::Number(_)) {
                let target = self.state()?;
                self.lexer.pass(",")?;
                let at = self.lexer.span();
                let number = self.lexer.number()?;
                let data = self.extra()?;
                if data != (None, None) {
                    self.keep(|extras| drop(extras.data.insert((source, number as u32, target), data)));
                }
                if self.lenient && !self.seen.iter().any(|seen| seen == "ACTION_NAMES") {
                    self.nameless.push((source, number, at, target));
                } else {
                    let action = self.action_number(number, at)?;
                    self.builder().add_transition(source, action, target);
                }
                n_found += 1;
            }
            self.lexer.expect(";")?;
        }
        match self.header.transitions {
            Some((n, at)) if n != n_found => {
                let message = format!("`Transition_cnt` is {n}, but there are {n_found} transitions");
                Err(Diagnostic::error("T0120", at, message))
            }
            _ => Ok(()),
        }
    }

    /// Extra data and layout of a transition.
    fn extra(&mut self) -> Result<(Option<String>, Option<String>)> {
        let data = matches!(self.lexer.token(), Token::Text(_)).then(|| self.lexer.text()).transpose()?;
        let mut layout = None;
        if self.lexer.pass("{")? {
            layout = Some(self.lexer.text()?);
            self.lexer.expect("}")?;
        }
        Ok((data, layout))
    }

    /// The states of an acceptance graph that may diverge.
    fn div_bits(&mut self) -> Result<()> {
        let mut divergent = fixedbitset::FixedBitSet::with_capacity(self.n_states());
        for range in self.ranges()? {
            divergent.insert_range(*range.start() as usize..*range.end() as usize + 1);
        }
        self.keep(|extras| extras.divergent = Some(divergent));
        Ok(())
    }

    fn n_states(&self) -> usize {
        self.header.states.map_or(0, |(n, _)| n) as usize
    }

    /// The acceptance sets of the states of an acceptance graph.
    fn acc_sets(&mut self) -> Result<()> {
        let mut acceptances = Vec::new();
        while matches!(self.lexer.token(), Token::Number(_)) {
            let state = self.state()?;
            let mut sets = Vec::new();
            while self.lexer.pass("{")? {
                sets.push(self.actions()?);
                self.lexer.expect("}")?;
            }
            self.lexer.expect(";")?;
            acceptances.push((state, sets));
        }
        self.keep(|extras| extras.acceptances = Some(acceptances));
        Ok(())
    }

    /// Actions and ranges of them.
    fn actions(&mut self) -> Result<Vec<u32>> {
        let n = self.numbers.len() as u64;
        let mut out = Vec::new();
        while matches!(self.lexer.token(), Token::Number(_)) {
            let span = self.lexer.span();
            let first = self.lexer.number()?;
            let last = if self.lexer.pass("..")? { self.lexer.number()? } else { first };
            if last > n || first > last {
                let message = format!("{first}..{last} are no actions: they are numbered from 1 to {n}");
                return Err(Diagnostic::error("T0121", span, message));
            }
            out.extend(first as u32..=last as u32);
        }
        Ok(out)
    }

    fn action_number(&self, number: u64, span: Span) -> Result<u32> {
        if number == 0 {
            return Ok(0);
        }
        self.numbers.get(number as usize - 1).copied().flatten().ok_or_else(|| {
            let message =
                format!("there is no action {number}: they are numbered from 1 to {}", self.numbers.len());
            let help = "0 is tau; actions get their names in `Action_names`";
            Diagnostic::error("T0121", span, message).help(help)
        })
    }

    fn layout(&mut self) -> Result<()> {
        while matches!(self.lexer.token(), Token::Number(_)) {
            let state = self.state()?;
            let mut at = [0i64; 2];
            for place in &mut at {
                let is_negative = self.lexer.pass("-")?;
                let span = self.lexer.span();
                let number = self.lexer.number()?;
                let number = i64::try_from(number)
                    .map_err(|_| Diagnostic::error("T0002", span, "the number is too large"))?;
                *place = if is_negative { -number } else { number };
            }
            self.keep(|extras| extras.layout.push((state, at[0], at[1])));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Lsts> {
        let start = Span::new(self.lexer.span().file, 0, 0);
        let has = |name: &str| self.seen.iter().any(|seen| seen == name);
        let missing = |code, message: String, at| Err(Diagnostic::error(code, at, message));
        match (self.header.actions, self.header.transitions, self.header.propositions) {
            (Some((n, at)), _, _) if n > 0 && !has("ACTION_NAMES") => {
                return missing("T0113", format!("`Action_cnt` is {n}, but no action has a name"), at);
            }
            (_, Some((n, at)), _) if n > 0 && !has("TRANSITIONS") => {
                return missing(
                    "T0120",
                    format!("`Transition_cnt` is {n}, but there are no transitions"),
                    at,
                );
            }
            (_, _, Some((n, at))) if n > 0 && !has("STATE_PROPS") => {
                return missing(
                    "T0117",
                    format!("`State_prop_cnt` is {n}, but there are no propositions"),
                    at,
                );
            }
            _ => {}
        }
        for (source, number, at, target) in std::mem::take(&mut self.nameless) {
            let action = self.action_number(number, at)?;
            self.builder().add_transition(source, action, target);
        }
        let Some(builder) = self.builder.take() else {
            return Err(Diagnostic::error("T0106", start, "there is no header"));
        };
        builder.build().map_err(|error| Diagnostic::error("T0107", start, error.to_string()))
    }
}
