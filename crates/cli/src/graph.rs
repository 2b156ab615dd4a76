//! `graph`: the states and transitions of a model, for other tools to draw or to compare.
//!
//! Breadth-first over the system itself: no reduction, no store. What is written is meant to be looked at, so
//! it is bounded; beyond the bound the first states that were found are written, with the transitions between
//! them.

use crate::args::{FormatWord, GraphArgs};
use crate::entry::{print, say};
use crate::run::{Failure, SystemJob};
use crate::target::Target;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use stubborn_report::clean;
use stubborn_system::{Batch, Fault, System, TransitionId, Vector, Whole};
use stubborn_verdict::Kind;

/// Writes the graph of a model. Exit code 3 if it has more states than are wanted.
pub(crate) fn graph(target: &Target, args: &GraphArgs) -> Result<u8, Failure> {
    let max_states = usize::try_from(args.max_states).unwrap_or(usize::MAX);
    let graph = target.with(Collect { max_states })?.map_err(|fault| Failure::Usage(fault.to_string()))?;
    let text = match args.format {
        FormatWord::Dot => graph.dot(&target.name()),
        FormatWord::Aut => graph.aut(),
    };
    match &args.output {
        Some(file) => write(file, &text)?,
        None => print(text),
    }
    if graph.is_complete {
        return Ok(0);
    }
    let n_states = graph.states.len();
    say(&format!("inconclusive: {n_states} states were written, and there are more: raise --max-states"));
    Ok(3)
}

/// Replaces `file` as a whole: nobody sees half of it.
pub(crate) fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| Failure::Usage(format!("{}: {error}", file.display()));
    let beside = beside(file);
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written.map_err(unwritable)
}

/// The name of a temporary file in the same directory.
fn beside(file: &Path) -> PathBuf {
    let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    file.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// A graph in words. States are numbered from zero, in the order in which they were found.
struct Graph {
    /// What each state looks like, and whether it is terminal.
    states: Vec<(String, bool)>,
    /// From, label, to.
    edges: Vec<(usize, String, usize)>,
    /// Whether all states and transitions are here.
    is_complete: bool,
}

struct Collect {
    max_states: usize,
}

impl SystemJob for Collect {
    type Output = Result<Graph, Fault>;

    fn run<Y: Whole<State: Kind>>(self, system: &Y) -> Self::Output {
        let mut graph = Graph { states: Vec::new(), edges: Vec::new(), is_complete: true };
        let mut states = Batch::new();
        system.initial(&mut states)?;
        let mut numbers = HashMap::from([(states.state(0).as_bytes().to_vec(), 0)]);
        let mut successors = Batch::new();
        while graph.states.len() < states.len() {
            let from = graph.states.len();
            successors.clear();
            system.successors(states.state(from), &mut successors)?;
            for i in 0..successors.len() {
                let key = successors.state(i).as_bytes();
                let mut to = numbers.get(key).copied();
                if to.is_none() && states.len() < self.max_states {
                    to = Some(states.len());
                    numbers.insert(key.to_vec(), states.len());
                    states.push(successors.via(i), successors.state(i));
                }
                match to {
                    Some(to) => {
                        graph.edges.push((from, label(system, states.state(from), successors.via(i)), to))
                    }
                    None => graph.is_complete = false,
                }
            }
            graph.states.push((system.show(states.state(from)), successors.is_empty()));
        }
        Ok(graph)
    }
}

/// What a transition does, in one line.
fn label<Y: System + ?Sized>(system: &Y, state: &Y::State, t: TransitionId) -> String {
    let parts = system.explain(state, t).into_iter().map(|part| match part.process {
        Some(process) => format!("{process} {}", part.text),
        None => part.text,
    });
    parts.collect::<Vec<_>>().join("; ")
}

impl Graph {
    /// As Graphviz reads it: the initial state is bold, terminal states have two circles, and the variables
    /// of a state are its tooltip.
    fn dot(&self, name: &str) -> String {
        let mut out = format!("digraph \"{}\" {{\n", dot_escape(name));
        if !self.is_complete {
            let _ = writeln!(out, "  // only the first {} states: there are more", self.states.len());
        }
        out += "  node [shape=circle];\n";
        for (number, (state, is_terminal)) in self.states.iter().enumerate() {
            let style = if number == 0 { ", style=bold" } else { "" };
            let shape = if *is_terminal { ", shape=doublecircle" } else { "" };
            let _ = writeln!(out, "  {number} [tooltip=\"{}\"{style}{shape}];", dot_escape(state));
        }
        for (from, label, to) in &self.edges {
            let _ = writeln!(out, "  {from} -> {to} [label=\"{}\"];", dot_escape(label));
        }
        out + "}\n"
    }

    /// As CADP, mCRL2 and others read it. The format has no escapes, so double quotes become single ones.
    fn aut(&self) -> String {
        let mut out = format!("des (0, {}, {})\n", self.edges.len(), self.states.len());
        for (from, label, to) in &self.edges {
            let _ = writeln!(out, "({from}, \"{}\", {to})", clean(label).replace('"', "'"));
        }
        out
    }
}

/// `text` within the double quotes of DOT.
fn dot_escape(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace('"', "\\\"")
}
