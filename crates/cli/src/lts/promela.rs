//! A Promela model, one of its processes, or one of its channels as a process: states, and what is seen of steps.
//!
//! An event is something that can be seen of a step: a message that is sent (`q!`) or received (`q?`), a variable that is
//! changed (`x=`), or an expression that becomes true (`P@label`, `x > 3`). A step with several events has all of
//! their names, in this order of their kinds; a step without one is tau. `model.pml` is the whole model, as
//! written, without reduction; of its messages the user chooses what is seen. `model.pml#P` is the process P alone, and
//! `model.pml#q` the channel q: their channel operations are always seen, because others take part in them.
//! Where only what can be seen from outside counts, the whole model is explored with stubborn sets (`reduced`).
//! **Checked by** `tests/all/lts.rs` and `tests/all/open.rs`.

mod reduced;

use super::args::ReadArgs;
use crate::args::PromelaArgs;
use crate::promela::{self, Loaded};
use crate::run::Failure;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use stubborn_explore::Limits;
use stubborn_lts::{Behaviour, Growing, Lsts, Mark, NotGrown, latin1};
use stubborn_network::{Expr, Network, OpenChannel, OpenMove, OpenProcess};
use stubborn_system::{Batch, MessageKind, System, TransitionId};

/// What is to be seen.
#[derive(Default)]
struct Events {
    /// Channels, and whether sends or receives on them.
    messages: Vec<(String, MessageKind)>,
    variables: Vec<String>,
    /// Expressions that become true.
    conditions: Vec<(String, Expr)>,
}

/// Whether a file is a Promela model, or a part of one, by its ending.
pub(crate) fn is_promela(file: &Path) -> bool {
    parts(file).is_some()
}

/// The file of a model, and which part of it is meant.
fn parts(file: &Path) -> Option<(PathBuf, Option<String>)> {
    let name = file.file_name()?.to_string_lossy().into_owned();
    let lower = name.to_lowercase();
    for ending in [".pml", ".prom"] {
        if lower.ends_with(ending) {
            return Some((file.to_owned(), None));
        }
        if let Some(at) = lower.find(&format!("{ending}#")) {
            let (model, part) = name.split_at(at + ending.len());
            return Some((file.with_file_name(model), Some(part[1..].to_owned())));
        }
    }
    None
}

/// Finds out where a file is; if a part of a model is meant, that part of the file that is found.
pub(crate) fn found<E>(file: &Path, find: impl FnOnce(&Path) -> Result<PathBuf, E>) -> Result<PathBuf, E> {
    let Some((model, Some(part))) = parts(file) else { return find(file) };
    let mut name = find(&model)?.into_os_string();
    name.push(format!("#{part}"));
    Ok(name.into())
}

/// The process of a model or of a part. `None` if the model is refused; the reason is then on the screen.
pub(crate) fn open(file: &Path, args: &ReadArgs) -> Result<Option<Lsts>, Failure> {
    let Some(view) = view(file, args)? else { return Ok(None) };
    if let Some(reduced) = view.reduced(args)? {
        return Ok(Some(reduced));
    }
    view.grow(args)?.unfolded().map(Some).map_err(|error| not_grown(file, &error))
}

/// Why a process does not grow further.
pub(crate) fn not_grown(file: &Path, error: &NotGrown) -> Failure {
    let hint = if matches!(error, NotGrown::States(_)) { " (see --max-model-states)" } else { "" };
    Failure::Usage(format!("{}: {error}{hint}", file.display()))
}

/// The same as a process that is followed only as far as somebody asks.
pub(crate) fn grow(file: &Path, args: &ReadArgs) -> Result<Option<Growing>, Failure> {
    view(file, args)?.map(|view| view.grow(args)).transpose()
}

/// A model or a part of it, and what is to be seen of it.
fn view(file: &Path, args: &ReadArgs) -> Result<Option<View>, Failure> {
    let Some((model, part)) = parts(file) else {
        return Err(Failure::Usage(format!("{}: this is no Promela model", file.display())));
    };
    let name = file.display().to_string();
    let wrong = |what: String| Failure::Usage(format!("{name}: {what}"));
    let part = part.map(|part| Part::new(&part).map_err(&wrong)).transpose()?;
    let mut events = Events::default();
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
    let arguments = part.iter().flat_map(|part| part.arguments.iter().flatten().cloned());
    let invariant: Vec<String> = conditions
        .iter()
        .cloned()
        .chain(propositions.iter().map(|(_, expr)| expr.clone()))
        .chain(arguments)
        .collect();
    let promela = PromelaArgs { define: args.define.clone(), invariant, ..PromelaArgs::default() };
    let Some(Loaded { network, asked, .. }) = promela::load(&model, &promela)? else { return Ok(None) };
    let mut exprs = asked.invariants.into_iter().map(|proposition| proposition.expr);
    events.conditions = conditions.into_iter().zip(exprs.by_ref()).collect();
    let (marks, marked): (Vec<Mark>, Vec<Expr>) = propositions
        .into_iter()
        .zip(exprs.by_ref())
        .map(|((name, _), expr)| (Mark::Named(latin1(name.as_bytes())), expr))
        .unzip();
    let arguments: Vec<Expr> = exprs.collect();
    let subject = match part {
        None => Subject::whole(network).map_err(&wrong)?,
        Some(part) => part.subject(network, &arguments).map_err(&wrong)?,
    };
    let (warned, values) = (Cell::default(), RefCell::default());
    Ok(Some(View { name: name.clone(), subject, events, marks, marked, warned, values }))
}

/// How large a model may be.
fn limits(args: &ReadArgs) -> Limits {
    Limits { states: args.max_model_states, bytes: crate::machine::default_memory() }
}

/// A part of a model as the user names it: `P`, `P[1]` (by its number), `P(q, 3)` (with arguments), or a channel.
struct Part {
    name: String,
    pid: Option<usize>,
    arguments: Option<Vec<String>>,
}

impl Part {
    fn new(text: &str) -> Result<Self, String> {
        let name = |rest: &str| text[..text.len() - rest.len()].to_owned();
        if let Some(rest) = text.strip_suffix(')') {
            let Some((process, arguments)) = rest.split_once('(') else {
                return Err(format!("`{text}`: write P(1, q)"));
            };
            let arguments = arguments.split(',').map(|a| a.trim().to_owned()).filter(|a| !a.is_empty());
            return Ok(Self { name: process.to_owned(), pid: None, arguments: Some(arguments.collect()) });
        }
        let index = text.strip_suffix(']').and_then(|rest| rest.split_once('['));
        let pid = index.and_then(|(_, pid)| pid.parse().ok());
        let rest = if pid.is_some() { &text[text.find('[').unwrap_or(text.len())..] } else { "" };
        Ok(Self { name: name(rest), pid, arguments: None })
    }

    fn subject(&self, network: Network, arguments: &[Expr]) -> Result<Subject, String> {
        let Some(kind) = network.processes.iter().position(|process| process.name == self.name) else {
            let name = self.pid.map_or_else(|| self.name.clone(), |i| format!("{}[{i}]", self.name));
            let channel = OpenChannel::new(network, &name).map_err(|error| error.to_string())?;
            return channel
                .map(Subject::Channel)
                .ok_or_else(|| format!("no process or channel is called `{name}`"));
        };
        let refused = |error: stubborn_network::NotOpen| {
            format!("{} cannot be taken out of its model: {error}", self.name)
        };
        if self.arguments.is_some() {
            let initial = network.initial_state().map_err(|trouble| trouble.to_string())?;
            let values: Vec<i32> = arguments.iter().map(|a| network.view(&initial).value(0, a)).collect();
            return OpenProcess::started(network, kind, &values).map(Subject::Process).map_err(refused);
        }
        let of_kind = |pid: &usize| network.starts[*pid].kind == kind;
        let mut pids = (0..network.starts.len()).filter(of_kind);
        let pid = match (self.pid, pids.next(), pids.next()) {
            (Some(pid), ..) if pid < network.starts.len() && of_kind(&pid) => pid,
            (Some(pid), ..) => return Err(format!("process {pid} is not {} at the beginning", self.name)),
            (None, Some(pid), None) => pid,
            (None, Some(pid), Some(_)) => {
                return Err(format!("there are several of {}: write {}[{pid}]", self.name, self.name));
            }
            (None, None, _) => {
                return Err(format!(
                    "{0} does not run at the beginning: write {0}(...) with its arguments",
                    self.name
                ));
            }
        };
        OpenProcess::of_start(network, pid).map(Subject::Process).map_err(refused)
    }
}

/// What is looked at.
enum Subject {
    Whole { network: Network, initial: Vec<u8> },
    Process(OpenProcess),
    Channel(OpenChannel),
}

impl Subject {
    fn whole(network: Network) -> Result<Self, String> {
        let initial = network.initial_state().map_err(|trouble| trouble.to_string())?;
        Ok(Self::Whole { network, initial })
    }

    fn network(&self) -> &Network {
        match self {
            Self::Whole { network, .. } => network,
            Self::Process(process) => process.network(),
            Self::Channel(channel) => channel.network(),
        }
    }
}

/// Variables by name and value.
type Values = Vec<(String, String)>;

/// A subject, and what is to be seen of it.
struct View {
    name: String,
    subject: Subject,
    events: Events,
    marks: Vec<Mark>,
    marked: Vec<Expr>,
    /// Whether it was said that something goes wrong.
    warned: Cell<bool>,
    /// The values of states that were looked at last, by bytes: neighbours share them.
    values: RefCell<HashMap<Vec<u8>, Values>>,
}

impl Behaviour for View {
    fn initial(&self) -> Vec<u8> {
        match &self.subject {
            Subject::Whole { initial, .. } => initial.clone(),
            Subject::Process(process) => process.initial().to_vec(),
            Subject::Channel(channel) => channel.initial().to_vec(),
        }
    }

    fn moves(&self, state: &[u8], out: &mut Vec<(String, Vec<u8>)>) -> Result<(), String> {
        let moves = match &self.subject {
            Subject::Whole { network, .. } => return self.moves_of_whole(network, state, out),
            Subject::Process(process) => process.moves(state),
            Subject::Channel(channel) => channel.moves(state),
        };
        for OpenMove { event, state: to, is_wrong } in moves.map_err(|error| error.to_string())? {
            if is_wrong {
                self.warn();
            }
            let mut names: Vec<String> = event.into_iter().collect();
            self.changes(state, &to, &mut names);
            out.push((latin1(names.join(" ").as_bytes()), to));
        }
        Ok(())
    }

    fn propositions(&self) -> &[Mark] {
        &self.marks
    }

    fn holds(&self, state: &[u8], proposition: usize) -> bool {
        self.subject.network().holds(state, &self.marked[proposition])
    }
}

impl View {
    fn grow(self, args: &ReadArgs) -> Result<Growing, Failure> {
        let name = self.name.clone();
        let wrong = |error: NotGrown| Failure::Usage(format!("{name}: {error}"));
        Growing::new(Box::new(self), limits(args)).map_err(wrong)
    }

    fn moves_of_whole(
        &self,
        network: &Network,
        state: &[u8],
        out: &mut Vec<(String, Vec<u8>)>,
    ) -> Result<(), String> {
        let mut batch = Batch::new();
        network.successors(state, &mut batch).map_err(|fault| fault.to_string())?;
        if let Some(too_much) = batch.take_cut() {
            return Err(format!("there are too many {too_much}"));
        }
        if batch.take_flag() {
            self.warn();
        }
        for i in 0..batch.len() {
            let to = batch.state(i);
            let mut names = self.messages(network, state, batch.via(i));
            self.changes(state, to, &mut names);
            out.push((latin1(names.join(" ").as_bytes()), to.to_vec()));
        }
        Ok(())
    }

    fn warn(&self) {
        if !self.warned.replace(true) {
            let name = &self.name;
            crate::entry::say(&format!(
                "warning: {name}: some steps of the model go wrong; `stubborn check` says how"
            ));
        }
    }

    /// The messages of a step of the whole model that are to be seen.
    fn messages(&self, network: &Network, from: &[u8], t: TransitionId) -> Vec<String> {
        if self.events.messages.is_empty() {
            return Vec::new();
        }
        let messages = network.explain(from, t).into_iter().flat_map(|part| part.messages);
        let wanted = messages.filter(|message| {
            let is_wanted = |(channel, kind): &(String, MessageKind)| {
                is_called(&message.channel, channel) && *kind == message.kind
            };
            self.events.messages.iter().any(is_wanted)
        });
        let name = |message: stubborn_system::Message| {
            let mark = if message.kind == MessageKind::Send { '!' } else { '?' };
            format!("{}{mark}{}", message.channel, message.values.join(","))
        };
        wanted.map(name).collect()
    }

    /// Appends the names of the other events of a step.
    fn changes(&self, from: &[u8], to: &[u8], names: &mut Vec<String>) {
        if !self.events.variables.is_empty() {
            let before: HashMap<String, String> = self.values(from).into_iter().collect();
            for (variable, value) in self.values(to) {
                let is_wanted = self.events.variables.iter().any(|wanted| is_called(&variable, wanted));
                if is_wanted && before.get(&variable) != Some(&value) {
                    names.push(format!("{variable}={value}"));
                }
            }
        }
        let network = self.subject.network();
        for (text, expr) in &self.events.conditions {
            if !network.holds(from, expr) && network.holds(to, expr) {
                names.push(text.clone());
            }
        }
    }

    fn values(&self, state: &[u8]) -> Values {
        let known = &mut *self.values.borrow_mut();
        if let Some(values) = known.get(state) {
            return values.clone();
        }
        if known.len() > 10_000 {
            known.clear();
        }
        let values = self.subject.network().values(state);
        known.insert(state.to_vec(), values.clone());
        values
    }
}

/// Whether a variable or channel has this name, or is an element of an array that has it.
fn is_called(name: &str, wanted: &str) -> bool {
    name == wanted || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('['))
}
