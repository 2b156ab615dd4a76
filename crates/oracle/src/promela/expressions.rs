//! Random expressions: values that stay small, indices that stay in range unless they should not.

use super::random::Author;
use super::scope::{Channel, Field, Here, Variable};

impl Author<'_> {
    /// A small number.
    pub(super) fn small(&mut self) -> String {
        self.rng.pick(&["0", "0", "1", "1", "2", "3"]).to_string()
    }

    /// All numbers in scope.
    fn numbers(&self) -> Vec<Variable> {
        self.world.numbers.iter().chain(&self.locals).cloned().collect()
    }

    /// A place for a number: a scalar, or an element of an array.
    pub(super) fn place(&mut self) -> String {
        let variable = self.rng.pick(&self.numbers()).clone();
        self.element(variable)
    }

    /// A place with so many bits or more. When SPIN takes a receive back it makes the message again from what
    /// the variable holds; if something was cut off, its counts depend on its search.
    fn wide_place(&mut self, bits: usize) -> Option<String> {
        let wide: Vec<Variable> = self.numbers().into_iter().filter(|v| v.bits() >= bits).collect();
        let variable = (!wide.is_empty()).then(|| self.rng.pick(&wide).clone())?;
        Some(self.element(variable))
    }

    fn element(&mut self, variable: Variable) -> String {
        match variable.length {
            None => variable.name,
            Some(length) => format!("{}[{}]", variable.name, self.index(length)),
        }
    }

    /// A scalar for a number, no part of a record: loops and `select` need one.
    pub(super) fn scalar(&mut self) -> String {
        let is_plain = |v: &Variable| v.length.is_none() && !v.name.contains('.');
        let scalars: Vec<String> = self.numbers().into_iter().filter(is_plain).map(|v| v.name).collect();
        self.rng.pick(&scalars).clone()
    }

    /// An index below `length`.
    fn index(&mut self, length: usize) -> String {
        match self.rng.below(6) {
            0..=2 => self.rng.below(length).to_string(),
            3 => format!("_pid % {length}"),
            _ if length.is_power_of_two() => format!("{} & {}", self.scalar(), length - 1),
            _ => self.rng.below(length).to_string(),
        }
    }

    /// An array with an index that need not be in range, if there is an array.
    pub(super) fn wild_element(&mut self) -> Option<String> {
        let arrays: Vec<Variable> = self.numbers().into_iter().filter(|v| v.length.is_some()).collect();
        if arrays.is_empty() {
            return None;
        }
        let name = self.rng.pick(&arrays).name.clone();
        let index = if self.rng.chance(1, 3) { "_pid".to_owned() } else { self.scalar() };
        Some(format!("{name}[{index}]"))
    }

    /// A number or a condition, as deep as it gets.
    pub(super) fn expr(&mut self, depth: usize) -> String {
        match self.rng.below(20) {
            _ if depth > 2 => self.place(),
            0..=3 => self.small(),
            4..=8 => self.place(),
            9..=11 => {
                let operator = *self.rng.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({} {operator} {})", self.expr(depth + 1), self.expr(depth + 1))
            }
            12..=13 => {
                let operator = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">=", "&&", "||"]);
                format!("({} {operator} {})", self.expr(depth + 1), self.expr(depth + 1))
            }
            14 => {
                let (operator, by) = *self.rng.pick(&[("%", 2), ("%", 3), ("/", 2), (">>", 1), ("<<", 1)]);
                format!("(({} & 7) {operator} {by})", self.expr(depth + 1))
            }
            15 => format!("{}({})", self.rng.pick(&["!", "-", "~"]), self.expr(depth + 1)),
            16 => {
                format!("({} -> {} : {})", self.expr(depth + 1), self.expr(depth + 1), self.expr(depth + 1))
            }
            17 => self.rng.pick(&["_pid", "_nr_pr"]).to_string(),
            18 => self.remote().unwrap_or_else(|| self.place()),
            _ => self.length().unwrap_or_else(|| self.place()),
        }
    }

    /// A value to assign: small, whatever it is made of.
    pub(super) fn value(&mut self) -> String {
        match self.rng.below(6) {
            0 | 1 => self.small(),
            2 => self.place(),
            3 if self.world.uses_last && self.rng.chance(1, 2) => "_last".to_owned(),
            _ => format!("{} & {}", self.expr(0), self.rng.pick(&["1", "3", "3", "7"])),
        }
    }

    /// The length of a channel.
    fn length(&mut self) -> Option<String> {
        let channels = self.channels();
        (!channels.is_empty()).then(|| format!("len({})", self.rng.pick(&channels).text))
    }

    /// Where another process is, or what a variable of it holds. Processes that exist at the beginning are
    /// there as long as younger ones are; of others it cannot be told what SPIN reads.
    fn remote(&mut self) -> Option<String> {
        if !self.world.uses_remote || self.is_in_dstep {
            return None;
        }
        let older = |pid: usize| self.plan.pids.first().is_none_or(|&own| pid < own);
        let mut known = Vec::new();
        for plan in self.world.plans.iter().filter(|plan| !plan.is_init) {
            for &pid in plan.pids.iter().filter(|&&pid| older(pid)) {
                let labels = plan.labels.iter().map(|label| format!("{}[{pid}]@{label}", plan.name));
                known.extend(labels);
                let scalars = plan.locals.iter().filter(|local| local.length.is_none());
                known.extend(scalars.map(|local| format!("{}[{pid}]:{}", plan.name, local.name)));
            }
        }
        (!known.is_empty()).then(|| self.rng.pick(&known).clone())
    }

    /// What can stand as a statement and wait.
    pub(super) fn condition(&mut self, here: Here) -> String {
        match self.rng.below(20) {
            0..=8 => self.comparison(),
            9 | 10 => self.channel_test().unwrap_or_else(|| self.comparison()),
            11 | 12 => self.poll().unwrap_or_else(|| self.comparison()),
            13 if !here.is_in_dstep => "timeout".to_owned(),
            14 => self.remote().unwrap_or_else(|| self.comparison()),
            15 => format!("(_nr_pr {} {})", self.rng.pick(&["<", "==", ">"]), self.rng.between(1, 4)),
            16 => self.mtype_test().unwrap_or_else(|| self.comparison()),
            17 => format!("({} && {})", self.comparison(), self.channel_test().unwrap_or("true".into())),
            _ => format!("({})", self.expr(0)),
        }
    }

    fn comparison(&mut self) -> String {
        let operator = *self.rng.pick(&["==", "!=", "<", ">", "<=", ">="]);
        let other = if self.rng.chance(1, 4) { self.place() } else { self.small() };
        format!("({} {operator} {other})", self.place())
    }

    fn channel_test(&mut self) -> Option<String> {
        let channel = self.buffered()?;
        Some(match self.rng.below(5) {
            0 => format!("(len({channel}) {} {})", self.rng.pick(&["<", "==", ">"]), self.rng.below(3)),
            _ => format!("{}({channel})", self.rng.pick(&["empty", "nempty", "full", "nfull"])),
        })
    }

    /// Whether a message could be received.
    fn poll(&mut self) -> Option<String> {
        let can_be_polled = |c: &Channel| {
            let signature = &self.world.signatures[c.signature];
            signature.capacity > 0 && !signature.fields.contains(&Field::Record)
        };
        let channels: Vec<_> = self.channels().into_iter().filter(can_be_polled).collect();
        if channels.is_empty() {
            return None;
        }
        let channel = self.rng.pick(&channels).clone();
        let fields = self.world.signatures[channel.signature].fields.clone();
        let patterns = self.patterns(&fields, true);
        let operator = if self.rng.chance(1, 3) { "??" } else { "?" };
        Some(format!("{}{operator}[{patterns}]", channel.text))
    }

    fn mtype_test(&mut self) -> Option<String> {
        if self.world.mtypes.is_empty() {
            return None;
        }
        let variable = self.rng.pick(&self.world.mtypes).name.clone();
        let constant = self.rng.pick(&self.world.constants);
        Some(format!("({variable} {} {constant})", self.rng.pick(&["==", "!="])))
    }

    /// What a receive has for its fields. SPIN wants no variable twice.
    pub(super) fn patterns(&mut self, fields: &[Field], is_poll: bool) -> String {
        let mut patterns: Vec<String> = Vec::new();
        for &field in fields {
            let pattern = self.pattern(field, fields.len() == 1, is_poll);
            let is_named = |name: &str| patterns.iter().any(|p| base(p) == name);
            let is_twice = !base(&pattern).is_empty() && is_named(base(&pattern));
            patterns.push(if is_twice { "_".to_owned() } else { pattern });
        }
        patterns.join(",")
    }

    /// What a receive has for a field: a constant, an expression to be equal to, a place, or nothing.
    fn pattern(&mut self, field: Field, is_only: bool, is_poll: bool) -> String {
        match field {
            Field::Record => self.rng.pick(&self.world.records).clone(),
            _ if self.rng.chance(1, 8) => "_".to_owned(),
            Field::Number(of) => match self.rng.below(6) {
                0 | 1 => self.small(),
                2 => format!("eval({})", self.place()),
                _ if is_poll => "_".to_owned(),
                // The only field of a message is a byte at least.
                _ => {
                    let bits = if is_only { of.bits().max(8) } else { of.bits() };
                    self.wide_place(bits).unwrap_or_else(|| "_".to_owned())
                }
            },
            Field::Mtype => match self.rng.below(4) {
                0 | 1 => self.rng.pick(&self.world.constants).clone(),
                _ if self.world.mtypes.is_empty() || is_poll => "_".to_owned(),
                2 => format!("eval({})", self.rng.pick(&self.world.mtypes).name),
                _ => self.rng.pick(&self.world.mtypes).name.clone(),
            },
            Field::Channel(signature) => {
                let variables: Vec<String> = self
                    .channels()
                    .into_iter()
                    .filter(|c| c.is_variable && c.signature == signature)
                    .map(|c| c.text)
                    .collect();
                if variables.is_empty() || is_poll {
                    "_".to_owned()
                } else {
                    self.rng.pick(&variables).clone()
                }
            }
        }
    }

    /// What a send has for a field.
    pub(super) fn content(&mut self, field: Field) -> String {
        match field {
            Field::Number(_) => match self.rng.below(4) {
                0 => self.place(),
                1 => format!("({})", self.value()),
                _ => self.small(),
            },
            Field::Mtype if self.world.mtypes.is_empty() || self.rng.chance(2, 3) => {
                self.rng.pick(&self.world.constants).clone()
            }
            Field::Mtype => self.rng.pick(&self.world.mtypes).name.clone(),
            Field::Channel(signature) => self.channel_of(signature).unwrap_or_else(|| "0".to_owned()),
            Field::Record => self.rng.pick(&self.world.records).clone(),
        }
    }
}

/// The variable that a pattern names; empty if it names none.
fn base(pattern: &str) -> &str {
    let inner = pattern.strip_prefix("eval(").unwrap_or(pattern);
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
    let is_name = inner.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_name { &inner[..end] } else { "" }
}
