//! A Promela model as a process: its states, and of its steps what the user wants to see.
//!
//! An event is something that can be seen of a step: a message that is sent (`q!`) or received (`q?`), a variable that is
//! changed (`x=`), or an expression that becomes true (`P@label`, `x > 3`). A step with several events has all of
//! their names, in this order of their kinds; a step without one is tau. Everything is explored, no reduction, on the
//! model as written. **Checked by** `tests/lts.rs`.

use super::args::ReadArgs;
use crate::args::PromelaArgs;
use crate::promela;
use crate::run::Failure;
use crate::watch::Terminal;
use std::collections::HashMap;
use std::path::Path;
use stubborn_explore::{End, Job, Keep, Limits, Sighting, Visitor, breadth_first};
use stubborn_lts::{Lsts, LstsBuilder, Mark, TAU, latin1};
use stubborn_network::{Expr, Network};
use stubborn_reduce::Full;
use stubborn_store::{Exact, Store};
use stubborn_system::{Fault, MessageKind, System, TransitionId};

/// What is to be seen.
struct Events {
    /// Channels, and whether sends or receives on them.
    messages: Vec<(String, MessageKind)>,
    variables: Vec<String>,
    /// Expressions that become true.
    conditions: Vec<(String, Expr)>,
}

/// Whether a file is a Promela model, by its ending.
pub(crate) fn is_promela(file: &Path) -> bool {
    file.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("pml") || ending.eq_ignore_ascii_case("prom"))
}

/// The process of a model. `None` if the model is refused; the reason is then on the screen.
pub(crate) fn open(file: &Path, args: &ReadArgs) -> Result<Option<Lsts>, Failure> {
    let mut events = Events { messages: Vec::new(), variables: Vec::new(), conditions: Vec::new() };
    let mut conditions = Vec::new();
    for event in &args.event {
        if let Some(channel) = event.strip_suffix('!') {
            events.messages.push((channel.to_owned(), MessageKind::Send));
        } else if let Some(channel) = event.strip_suffix('?') {
            events.messages.push((channel.to_owned(), MessageKind::Receive));
        } else if let Some(variable) = event.strip_suffix('=') {
            events.variables.push(variable.to_owned());
        } else {
            conditions.push(event.clone());
        }
    }
    let mut propositions = Vec::new();
    for text in &args.proposition {
        let (name, expr) = text.split_once(':').unwrap_or((text, text));
        propositions.push((name.to_owned(), expr.to_owned()));
    }
    let invariant: Vec<String> =
        conditions.iter().cloned().chain(propositions.iter().map(|(_, expr)| expr.clone())).collect();
    let promela = PromelaArgs { define: args.define.clone(), invariant, ..PromelaArgs::default() };
    let Some(loaded) = promela::load(file, &promela)? else { return Ok(None) };
    let mut exprs = loaded.asked.invariants.into_iter().map(|proposition| proposition.expr);
    events.conditions = conditions.into_iter().zip(exprs.by_ref()).collect();
    let marks: Vec<(String, Expr)> =
        propositions.into_iter().zip(exprs).map(|((name, _), expr)| (name, expr)).collect();
    process(&file.display().to_string(), &loaded.network, &events, &marks, args).map(Some)
}

/// Looks for nothing but mistakes of the model.
struct Mistakes(bool);

impl Visitor<[u8]> for Mistakes {
    fn arrive(&mut self, _: &[u8]) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }

    fn flagged(&mut self, _: &[u8]) -> Result<Option<Sighting>, Fault> {
        self.0 = true;
        Ok(None)
    }

    fn terminal(&mut self, _: &[u8]) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }
}

fn process(
    name: &str,
    network: &Network,
    events: &Events,
    marks: &[(String, Expr)],
    args: &ReadArgs,
) -> Result<Lsts, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{name}: {what}"));
    let mut store: Exact<[u8]> = Exact::new();
    let mut mistakes = Mistakes(false);
    let outcome = breadth_first(Job {
        system: network,
        reduction: &mut Full,
        store: &mut store,
        visitor: &mut mistakes,
        watch: &mut Terminal::new(None, false),
        limits: Limits { states: args.max_model_states, bytes: crate::machine::default_memory() },
        keep: Keep::Labels,
        all_errors: false,
        no_ignoring: false,
    });
    match outcome.end {
        End::Complete | End::Sighted => {}
        End::Stopped(stop) => return Err(wrong(format!("{stop} (see --max-model-states)"))),
        End::Fault(fault, _) => return Err(wrong(fault.to_string())),
    }
    if mistakes.0 {
        crate::entry::say(&format!(
            "warning: {name}: some steps of the model go wrong; `stubborn check` says how"
        ));
    }
    let graph = outcome.graph.expect("edges were kept");
    let n = outcome.stats.states as u32;
    let mut builder = LstsBuilder::new(u64::from(n)).map_err(|error| wrong(error.to_string()))?;
    let mut steps = Steps { network, events, names: HashMap::new() };
    let (mut room, mut other) = (Default::default(), Default::default());
    for source in 0..n {
        let from = store.state(source, &mut room).expect("the store keeps states");
        for (edge, target) in graph.edges(source) {
            let t = graph.label(edge).expect("labels were kept");
            let to = store.state(target, &mut other).expect("the store keeps states");
            let seen = steps.seen(from, t, to);
            let action = if seen.is_empty() { TAU } else { builder.action(&latin1(seen.as_bytes())) };
            builder.add_transition(source, action, target);
        }
    }
    for (name, expr) in marks {
        let holds = |&state: &u32| {
            let state = store.state(state, &mut room).expect("the store keeps states");
            network.holds(state, expr)
        };
        let states: Vec<u32> = (0..n).filter(holds).collect();
        builder.add_proposition(Mark::Named(latin1(name.as_bytes())), states);
    }
    builder.build().map_err(|error| wrong(error.to_string()))
}

/// Says what is to be seen of steps.
struct Steps<'a> {
    network: &'a Network,
    events: &'a Events,
    /// The values of states that were looked at last, by bytes: neighbours share them.
    names: HashMap<Vec<u8>, Vec<(String, String)>>,
}

impl Steps<'_> {
    /// The names of the events of a step, behind each other.
    fn seen(&mut self, from: &[u8], t: TransitionId, to: &[u8]) -> String {
        let mut names: Vec<String> = Vec::new();
        if !self.events.messages.is_empty() {
            for message in self.network.explain(from, t).into_iter().flat_map(|part| part.messages) {
                let is_wanted = |(channel, kind): &(String, MessageKind)| {
                    is_called(&message.channel, channel) && *kind == message.kind
                };
                if self.events.messages.iter().any(is_wanted) {
                    let mark = if message.kind == MessageKind::Send { '!' } else { '?' };
                    names.push(format!("{}{mark}{}", message.channel, message.values.join(",")));
                }
            }
        }
        if !self.events.variables.is_empty() {
            let before: HashMap<String, String> = self.values(from).into_iter().collect();
            for (variable, value) in self.values(to) {
                let is_wanted = self.events.variables.iter().any(|wanted| is_called(&variable, wanted));
                if is_wanted && before.get(&variable) != Some(&value) {
                    names.push(format!("{variable}={value}"));
                }
            }
        }
        for (text, expr) in &self.events.conditions {
            if !self.network.holds(from, expr) && self.network.holds(to, expr) {
                names.push(text.clone());
            }
        }
        names.join(" ")
    }

    fn values(&mut self, state: &[u8]) -> Vec<(String, String)> {
        if let Some(known) = self.names.get(state) {
            return known.clone();
        }
        if self.names.len() > 10_000 {
            self.names.clear();
        }
        let values = self.network.values(state);
        self.names.insert(state.to_vec(), values.clone());
        values
    }
}

/// Whether a variable or channel has this name, or is an element of an array that has it.
fn is_called(name: &str, wanted: &str) -> bool {
    name == wanted || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('['))
}
