//! The answer to a comparison of two processes.

use crate::clean;
use crate::json::pretty;
use serde_json::{Map, Value, json};
use stubborn_semantics::{Comparison, Difference, Reason, Relation, Side, Step};

/// Two processes, what was asked of them, and the answer.
#[derive(Clone, Debug)]
pub struct ComparedProcesses<'a> {
    /// What the processes are called.
    pub names: [&'a str; 2],
    /// The question.
    pub asked: &'a Comparison,
    /// What differs, if they are not in the relation.
    pub difference: Option<&'a Difference>,
}

impl ComparedProcesses<'_> {
    fn name(&self, side: Side) -> String {
        clean(self.names[usize::from(side == Side::Right)]).into_owned()
    }

    /// The answer for people.
    pub fn text(&self) -> String {
        let [one, two] = self.names.map(clean);
        let model = self.asked.model;
        let verb = |is: bool| match (self.asked.relation, is) {
            (Relation::Equivalent, true) => "is equivalent to",
            (Relation::Equivalent, false) => "is not equivalent to",
            (Relation::Refines, true) => "refines",
            (Relation::Refines, false) => "does not refine",
        };
        let mut out = format!("{one} {} {two} ({model})\n", verb(self.difference.is_none()));
        if let Some(difference) = self.difference {
            if !difference.trace.is_empty() {
                let steps: Vec<String> = difference.trace.iter().map(step).collect();
                out += &format!("  after: {}\n", steps.join(" "));
            }
            out += &format!("  {}\n", self.reason(difference));
        }
        out
    }

    fn reason(&self, difference: &Difference) -> String {
        let side = difference.side;
        let has = self.name(side);
        let other = self.name(if side == Side::Left { Side::Right } else { Side::Left });
        match &difference.reason {
            Reason::Alphabet { action } => {
                let action = quoted(action);
                format!("the alphabets differ: {has} has the action {action}, {other} has not (used or not, names count)")
            }
            Reason::Proposition { name } => {
                format!("{has} has the proposition {}, {other} has not", quoted(name))
            }
            Reason::Holding { holding } if difference.trace.is_empty() => {
                format!("initially {} holds in {has}, something else in {other}", set(holding))
            }
            Reason::Holding { holding } => {
                format!("{has} can do this, with {} in the end; {other} only with something else", set(holding))
            }
            Reason::Trace => format!("{has} can do this, {other} cannot"),
            Reason::Divergence => format!("{has} can go on for ever unseen, {other} cannot"),
            Reason::Refusal { refused } => {
                format!("{has} can be stable and refuse {}, {other} cannot", set(refused))
            }
            Reason::InitialTau => format!("{has} begins with tau, {other} does not"),
            Reason::Branching => {
                "no trace, refusal or divergence tells them apart: only when choices are made, or how many steps are unseen".to_owned()
            }
            Reason::Unshown => {
                "they are not bisimilar; no trace that shows it was found within the limit".to_owned()
            }
        }
    }

    /// The answer for machines.
    pub fn json(&self, exit_code: u8) -> String {
        let mut top = Map::new();
        let mut put = |key: &str, value: Value| top.insert(key.to_owned(), value);
        put("format", json!("stubborn-lts-compare-1"));
        put("left", json!(self.names[0]));
        put("right", json!(self.names[1]));
        put("under", json!(self.asked.model.to_string()));
        let relation = match self.asked.relation {
            Relation::Equivalent => "equivalent",
            Relation::Refines => "refines",
        };
        put("relation", json!(relation));
        put("initial_stability", json!(self.asked.initial_stability));
        put("holds", json!(self.difference.is_none()));
        put("difference", self.difference.map_or(Value::Null, difference_json));
        put("exit_code", json!(exit_code));
        pretty(top)
    }
}

fn difference_json(difference: &Difference) -> Value {
    let side = if difference.side == Side::Left { "left" } else { "right" };
    let (reason, detail) = match &difference.reason {
        Reason::Alphabet { action } => ("alphabet", json!(action)),
        Reason::Proposition { name } => ("proposition", json!(name)),
        Reason::Holding { holding } => ("holding", json!(holding)),
        Reason::Trace => ("trace", Value::Null),
        Reason::Divergence => ("divergence", Value::Null),
        Reason::Refusal { refused } => ("refusal", json!(refused)),
        Reason::InitialTau => ("initial-stability", Value::Null),
        Reason::Branching => ("branching", Value::Null),
        Reason::Unshown => ("unshown", Value::Null),
    };
    let step = |step: &Step| json!({ "action": step.action, "holding": step.holding });
    let trace: Vec<Value> = difference.trace.iter().map(step).collect();
    json!({ "side": side, "reason": reason, "detail": detail, "trace": trace })
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", clean(name))
}

fn set(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| clean(name)).collect();
    format!("{{{}}}", names.join(", "))
}

/// A step, with what holds behind it if something does.
fn step(step: &Step) -> String {
    let holding = if step.holding.is_empty() { String::new() } else { set(&step.holding) };
    format!("{}{holding}", clean(&step.action))
}
