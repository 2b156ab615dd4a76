//! The properties of linear time of a model: what can be asked of SPIN and of us.
//!
//! The claims and formulas that it contains, and the cycles that its labels speak of. Found by our compiler,
//! and written as one row each of a table of what SPIN says ([`Row`]).

use super::formulas::{formulas, with_claims};
use super::spin::NoCount;
use super::spin_linear::{Asked, Said, Verifier, Way};
use std::fmt;
use std::path::{Path, PathBuf};
use stubborn_promela::{Compiled, Options, ast::Item, compile};
use stubborn_text::{LoadError, Loader, render};

/// Where Debian's package puts SPIN's examples.
pub const EXAMPLES: &str = "/usr/share/doc/spin/examples/Examples";

/// Includes from a directory.
#[derive(Clone, Debug)]
pub struct Directory(pub PathBuf);

impl Loader for Directory {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| LoadError::Missing)
    }
}

/// A model: a text and the directory of what it includes.
#[derive(Clone, Debug)]
pub struct Source {
    /// What it is called: a path below the directory where models were looked for.
    pub name: String,
    /// The text.
    pub text: String,
    /// The directory of its includes.
    pub directory: PathBuf,
}

impl Source {
    /// A model by its name.
    pub fn read(root: &Path, name: &str) -> std::io::Result<Self> {
        let path = root.join(name);
        let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        let directory = path.parent().unwrap_or(root).to_owned();
        Ok(Self { name: name.to_owned(), text, directory })
    }

    /// All models in a directory and below.
    pub fn all(root: &Path) -> std::io::Result<Vec<Self>> {
        let mut names = Vec::new();
        names_below(root, "", &mut names)?;
        names.sort();
        names.iter().map(|name| Self::read(root, name)).collect()
    }

    /// The same model with only one of its formulas: for models with a formula that is refused.
    pub fn with_only(&self, name: &str) -> Self {
        let all = formulas(&self.text);
        let one = all.iter().find(|written| written.name.as_deref() == Some(name));
        let one = one.map_or_else(String::new, |written| format!("ltl {name} {{ {} }}", written.formula));
        Self { text: with_claims(&self.text, &one), ..self.clone() }
    }

    /// Compiles it.
    pub fn compile(&self) -> Compiled {
        compile("asked.pml", &self.text, &Directory(self.directory.clone()), &Options::default())
    }
}

fn names_below(root: &Path, below: &str, names: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root.join(below))?.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let name = if below.is_empty() { file } else { format!("{below}/{file}") };
        if entry.path().is_dir() {
            names_below(root, &name, names)?;
        } else if entry.path().extension().is_some_and(|e| e == "pml" || e == "prom" || e == "promela") {
            names.push(name);
        }
    }
    Ok(())
}

/// A property of a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Property {
    /// How it is written in the model: `ltl`, `never`, `accept`, `progress`.
    pub kind: &'static str,
    /// What is asked.
    pub asked: Asked,
}

/// The named formulas of a text, for models that are refused as a whole.
pub fn named_formulas(text: &str) -> Vec<Property> {
    let named = formulas(text).into_iter().filter(|written| written.name.is_some());
    named.map(|written| Property { kind: "ltl", asked: Asked::Claim(written.name) }).collect()
}

/// The properties of a compiled model, or what is wrong with it.
pub fn properties(compiled: &Compiled) -> Result<Vec<Property>, String> {
    let problems = || compiled.diagnostics.iter().map(|d| render(d, &compiled.map)).collect::<String>();
    let network = compiled.network.as_ref().ok_or_else(problems)?;
    let claim = |kind, name: &Option<stubborn_promela::ast::Ident>| Property {
        kind,
        asked: Asked::Claim(name.as_ref().map(|name| name.name.to_string())),
    };
    let mut all = Vec::new();
    for item in &compiled.model.items {
        match item {
            Item::Ltl { name, .. } => all.push(claim("ltl", name)),
            Item::Never { name, .. } => all.push(claim("never", name)),
            _ => {}
        }
    }
    let locations = || network.processes.iter().flat_map(|kind| &kind.locations);
    if locations().any(|location| location.is_accept) {
        all.push(Property { kind: "accept", asked: Asked::Acceptance });
    }
    if locations().any(|location| location.is_progress) {
        all.push(Property { kind: "progress", asked: Asked::NonProgress });
    }
    Ok(all)
}

/// The four ways to ask: full, reduced, full and fair, reduced and fair.
pub const WAYS: [Way; 4] = [
    Way { is_fair: false, is_reduced: false },
    Way { is_fair: false, is_reduced: true },
    Way { is_fair: true, is_reduced: false },
    Way { is_fair: true, is_reduced: true },
];

/// What SPIN says in one of the ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The property holds; states and transitions of the complete search.
    Holds(usize, usize),
    /// It does not.
    Violated,
    /// There is no answer: why, in one word or a few.
    Unknown(String),
}

impl Figure {
    /// What is written down of an answer.
    pub fn of(answer: &Result<Said, NoCount>) -> Self {
        match answer {
            Ok(said) if said.is_violated() => Self::Violated,
            Ok(said) => Self::Holds(said.states, said.transitions),
            Err(NoCount::Refused(_)) => Self::Unknown("refused".into()),
            Err(NoCount::Undecided(why)) => {
                Self::Unknown(why.replace(',', " ").split_whitespace().take(4).collect::<Vec<_>>().join(" "))
            }
        }
    }

    fn parse(text: &str) -> Self {
        if text == "violated" {
            return Self::Violated;
        }
        let numbers = text.strip_prefix("holds ").and_then(|rest| rest.split_once(' '));
        let numbers = numbers.and_then(|(a, b)| a.parse().ok().zip(b.parse().ok()));
        match numbers {
            Some((states, transitions)) => Self::Holds(states, transitions),
            None => Self::Unknown(text.trim_start_matches("unknown: ").to_owned()),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds(states, transitions) => write!(f, "holds {states} {transitions}"),
            Self::Violated => write!(f, "violated"),
            Self::Unknown(why) => write!(f, "unknown: {why}"),
        }
    }
}

/// What SPIN says about a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The model.
    pub model: String,
    /// How the property is written.
    pub kind: String,
    /// The name of the claim; empty if it has none.
    pub name: String,
    /// The answers, in the order of [`WAYS`].
    pub figures: [Figure; 4],
}

/// The first line of a table.
pub const HEADING: &str = "model,kind,name,full,reduced,full fair,reduced fair";

impl Row {
    /// Asks SPIN in all ways, each for at most so many seconds.
    pub fn ask(model: &str, property: &Property, verifier: &Verifier, seconds: usize) -> Self {
        let answer = |way| Figure::of(&verifier.ask(&property.asked, way, seconds));
        Self::new(model, property, WAYS.map(answer))
    }

    /// There is no answer.
    pub fn refused(model: &str, property: &Property, why: NoCount) -> Self {
        Self::new(model, property, WAYS.map(|_| Figure::of(&Err(why.clone()))))
    }

    fn new(model: &str, property: &Property, figures: [Figure; 4]) -> Self {
        let name = match &property.asked {
            Asked::Claim(name) => name.clone().unwrap_or_default(),
            _ => String::new(),
        };
        Self { model: model.to_owned(), kind: property.kind.to_owned(), name, figures }
    }

    /// What was asked.
    pub fn asked(&self) -> Asked {
        match &*self.kind {
            "accept" => Asked::Acceptance,
            "progress" => Asked::NonProgress,
            _ => Asked::Claim(Some(self.name.clone()).filter(|name| !name.is_empty())),
        }
    }

    /// Reads a table.
    ///
    /// # Panics
    /// If it is none: it is part of the tests.
    pub fn table(text: &str) -> Vec<Self> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let row = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            let [model, kind, name, a, b, c, d] = fields[..] else { panic!("not seven fields: {line}") };
            let figures = [a, b, c, d].map(Figure::parse);
            Self { model: model.to_owned(), kind: kind.to_owned(), name: name.to_owned(), figures }
        };
        lines.skip(1).map(row).collect()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.model, self.kind, self.name)?;
        self.figures.iter().try_for_each(|figure| write!(f, ",{figure}"))
    }
}
