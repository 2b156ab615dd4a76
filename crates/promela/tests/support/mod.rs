//! What the tests share: compiling a model of a directory, and counting its states by brute force.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use stubborn_network::Network;
use stubborn_promela::{Compiled, Options, compile};
use stubborn_text::{LoadError, Loader, render};

/// Includes from a directory.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Loader for Directory {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| LoadError::Missing)
    }
}

/// Where the models of the tests are.
pub(crate) fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

/// Compiles a file.
pub(crate) fn compile_file(path: &Path) -> Compiled {
    let text = String::from_utf8_lossy(&std::fs::read(path).expect("the model is there")).into_owned();
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let loader = Directory(path.parent().expect("in a directory").to_owned());
    compile(&name, &text, &loader, &Options::default())
}

/// The network of a file, or what is wrong with it.
pub(crate) fn network(path: &Path) -> Result<Network, String> {
    let compiled = compile_file(path);
    let problems: String = compiled.diagnostics.iter().map(|d| render(d, &compiled.map)).collect();
    compiled.network.ok_or(problems)
}

/// Numbers of a full search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Distinct states.
    pub(crate) states: usize,
    /// Successors of all states.
    pub(crate) transitions: usize,
    /// Whether something went wrong somewhere.
    pub(crate) has_errors: bool,
}

/// Explores everything, up to a number of states.
pub(crate) fn count(network: &Network, most: usize) -> Option<Counts> {
    let initial = network.initial_state().expect("the model can begin");
    let mut seen = HashSet::from([initial.clone()]);
    let mut queue = VecDeque::from([initial]);
    let mut counts = Counts { states: 0, transitions: 0, has_errors: false };
    while let Some(state) = queue.pop_front() {
        let expansion = network.expand(&state);
        counts.transitions += expansion.successors.len();
        counts.has_errors |= expansion.all_events().any(|event| event.trouble.is_error());
        for successor in expansion.successors {
            if seen.insert(successor.state.clone()) {
                queue.push_back(successor.state);
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    counts.states = seen.len();
    Some(counts)
}

/// Where Debian's package puts SPIN's examples.
pub(crate) const EXAMPLES: &str = "/usr/share/doc/spin/examples/Examples";

/// All models in a directory and below.
pub(crate) fn promela_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(promela_files(&path));
        } else if path.extension().is_some_and(|e| e == "pml" || e == "prom" || e == "promela") {
            files.push(path);
        }
    }
    files.sort();
    files
}
