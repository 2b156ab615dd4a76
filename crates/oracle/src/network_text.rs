//! The text form of networks: what a failure report prints and a test reads back.
//!
//! One line per fact, labels before the components that use them:
//!
//! ```text
//! label a 0 1                components 0 and 1 take part in a
//! component 3 a:0>1 a:1>2    three local states, two edges
//! component 2 a:0>1
//! check 0=2 1=1              fails where component 0 is in 2 and component 1 in 1
//! stuck 0=0,1                wrong to stop where component 0 is in 0 or 1
//! may 0=2                    may-progress states
//! must 1=0,1                 must-progress states
//! fair a#0 b c               a's first transition for ever, those of b and c not
//! rules shared               coarse conflicts
//! planted wrong-guard-chosen a fault in the rules
//! ```
//!
//! A round trip over random networks would notice an error here.

use crate::{Component, Conflicts, Fairness, Label, LocalEdge, Network, OneOf, Plan, Planted, Watch};
use std::fmt;

impl Network {
    /// Reads the text form. Empty lines and what follows a `//` are ignored.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plan: Plan = text.parse()?;
        plan.validate()?;
        Ok(Self::new(plan))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan().fmt(f)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for label in &self.labels {
            write!(f, "label {}", label.name)?;
            label.participants.iter().try_for_each(|p| write!(f, " {p}"))?;
            writeln!(f)?;
        }
        for component in &self.components {
            write!(f, "component {}", component.n_states)?;
            for edge in &component.edges {
                write!(f, " {}:{}>{}", self.labels[edge.label].name, edge.source, edge.target)?;
            }
            writeln!(f)?;
        }
        self.fmt_questions(f)?;
        if self.conflicts == Conflicts::Shared {
            writeln!(f, "rules shared")?;
        }
        self.planted.map_or(Ok(()), |planted| writeln!(f, "planted {}", planted.word()))
    }
}

impl Plan {
    fn fmt_questions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.check.is_empty() {
            write!(f, "check")?;
            self.check.iter().try_for_each(|w| write!(f, " {}={}", w.component, w.state))?;
            writeln!(f)?;
        }
        let named = [("stuck", &self.stuck), ("may", &self.may_progress), ("must", &self.must_progress)];
        for (word, one_of) in named {
            if let Some(OneOf { component, states }) = one_of {
                let states: Vec<String> = states.iter().map(u8::to_string).collect();
                writeln!(f, "{word} {component}={}", states.join(","))?;
            }
        }
        if let Some(Fairness { often, instance, rarely }) = &self.fairness {
            write!(f, "fair {}#{instance}", self.labels[*often].name)?;
            rarely.iter().try_for_each(|&label| write!(f, " {}", self.labels[label].name))?;
            writeln!(f)?;
        }
        Ok(())
    }

    fn read_line(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { return Ok(()) };
        match first {
            "label" => {
                let name = words.next().ok_or("a label needs a name")?.to_owned();
                let participants = words.map(number).collect::<Result<_, _>>()?;
                self.labels.push(Label { name, participants });
            }
            "component" => {
                let n_states = number(words.next().ok_or("a component needs a number of states")?)?;
                let edges = words.map(|word| self.read_edge(word)).collect::<Result<_, _>>()?;
                self.components.push(Component { n_states, edges });
            }
            "check" => self.check = words.map(read_watch).collect::<Result<_, _>>()?,
            "stuck" => self.stuck = words.next().map(read_one_of).transpose()?,
            "may" => self.may_progress = words.next().map(read_one_of).transpose()?,
            "must" => self.must_progress = words.next().map(read_one_of).transpose()?,
            "fair" => {
                let (often, instance) = pair(words.next().unwrap_or_default(), '#')?;
                let rarely = words.map(|word| self.label_named(word)).collect::<Result<_, _>>()?;
                let (often, instance) = (self.label_named(often)?, number(instance)?);
                self.fairness = Some(Fairness { often, instance, rarely });
            }
            "rules" if words.next() == Some("shared") => self.conflicts = Conflicts::Shared,
            "planted" => {
                let word = words.next().unwrap_or_default();
                self.planted = Some(Planted::from_word(word).ok_or(format!("no fault is called `{word}`"))?);
            }
            _ => return Err(format!("not a line of a network: `{line}`")),
        }
        Ok(())
    }

    fn read_edge(&self, word: &str) -> Result<LocalEdge, String> {
        let (label, states) = pair(word, ':')?;
        let (source, target) = pair(states, '>')?;
        Ok(LocalEdge { label: self.label_named(label)?, source: number(source)?, target: number(target)? })
    }

    fn label_named(&self, name: &str) -> Result<usize, String> {
        self.labels.iter().position(|l| l.name == name).ok_or(format!("no label `{name}` so far"))
    }
}

impl std::str::FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut plan = Self::default();
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or_default();
            plan.read_line(line)?;
        }
        Ok(plan)
    }
}

fn read_watch(word: &str) -> Result<Watch, String> {
    let (component, state) = pair(word, '=')?;
    Ok(Watch { component: number(component)?, state: number(state)? })
}

fn read_one_of(word: &str) -> Result<OneOf, String> {
    let (component, states) = pair(word, '=')?;
    let states = states.split(',').filter(|s| !s.is_empty()).map(number).collect::<Result<_, _>>()?;
    Ok(OneOf { component: number(component)?, states })
}

fn pair(word: &str, separator: char) -> Result<(&str, &str), String> {
    word.split_once(separator).ok_or(format!("`{word}` has no `{separator}`"))
}

fn number<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("`{word}` is not a number that fits here"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, Shape};

    #[test]
    fn what_is_printed_is_read_back() {
        let mut rng = Rng::new(3);
        for i in 0..400 {
            let network = Network::random(&Shape::PRESETS[i % Shape::PRESETS.len()].1, &mut rng);
            let planted = Planted::ALL.get(i % 9).copied();
            let network = network.with_planted(planted);
            let again = Network::parse(&network.to_string()).unwrap();
            assert_eq!(network.plan(), again.plan(), "{network}");
        }
    }

    #[test]
    fn comments_and_empty_lines_are_nothing() {
        let network = Network::parse("\nlabel a 0 // alone\n\ncomponent 2 a:0>1\n").unwrap();
        assert_eq!(network.to_string(), "label a 0\ncomponent 2 a:0>1\n");
    }

    #[test]
    fn mistakes_are_named() {
        let mistake = |text: &str| Network::parse(text).unwrap_err();
        assert_eq!(mistake("component 2 a:0>1"), "no label `a` so far");
        assert_eq!(mistake("label a 0\ncomponent 2 a:0-1"), "`0-1` has no `>`");
        assert_eq!(mistake("label a 0\ncomponent 900"), "`900` is not a number that fits here");
        assert_eq!(mistake("label a 0\ncomponent 2 a:0>2"), "component 0 has 2 local states, not a state 2");
        assert_eq!(mistake("planted nothing"), "no fault is called `nothing`");
        assert_eq!(mistake("colour blue"), "not a line of a network: `colour blue`");
    }
}
