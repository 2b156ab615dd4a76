//! Counts the states and transitions of Promela models: `count [-Dname=value] model.pml ...`.
//!
//! One line per model: states, transitions, states with an event. A plain breadth-first search over the
//! reference interpreter, nothing else.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use stubborn_promela::{Options, compile};
use stubborn_text::{LoadError, Loader, render};

struct Directory(PathBuf);

impl Loader for Directory {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| LoadError::Missing)
    }
}

fn main() {
    let mut options = Options::default();
    let mut most = usize::MAX;
    for argument in std::env::args().skip(1) {
        if let Some(definition) = argument.strip_prefix("-D") {
            let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
            options.definitions.push((name.to_owned(), value.to_owned()));
        } else if let Some(value) = argument.strip_prefix("-m") {
            most = value.parse().unwrap_or(usize::MAX);
        } else {
            count(Path::new(&argument), &options, most);
        }
    }
}

fn count(path: &Path, options: &Options, most: usize) {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let loader = Directory(path.parent().unwrap_or(Path::new(".")).to_owned());
    let compiled = compile(&name, &text, &loader, options);
    for diagnostic in &compiled.diagnostics {
        eprint!("{}", render(diagnostic, &compiled.map));
    }
    let Some(network) = compiled.network else {
        println!("{name} refused");
        return;
    };
    let initial = network.initial_state().expect("compiled");
    let mut seen = HashSet::from([initial.clone()]);
    let mut queue = VecDeque::from([initial]);
    let (mut transitions, mut bad) = (0u64, 0u64);
    while let Some(state) = queue.pop_front() {
        let expansion = network.expand(&state);
        transitions += expansion.successors.len() as u64;
        if let Some(event) = expansion.all_events().find(|event| event.trouble.is_error()) {
            if bad == 0 {
                eprintln!("{name}: {}", network.describe(event));
            }
            bad += 1;
        }
        for successor in expansion.successors {
            if seen.len() >= most {
                println!("{name} unfinished {} {transitions} {bad}", seen.len());
                return;
            }
            if !seen.contains(&successor.state) {
                seen.insert(successor.state.clone());
                queue.push_back(successor.state);
            }
        }
    }
    println!("{name} {} {transitions} {bad}", seen.len());
}
