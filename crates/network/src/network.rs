//! The data: kinds of processes and channels, variables, and how it all begins.

use crate::{Claim, Compiled, Expr, Place, Step, Trace, Width};
use stubborn_text::Limits;

/// Number of a location in its process kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationId(pub u16);

impl LocationId {
    /// The end of a sequence that is one step.
    pub const EXIT: Self = Self(u16::MAX);

    /// As an index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Number of a step among all steps of the network: see [`Network::first_step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub u32);

/// A variable, for people and for components: where it lives and what it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name; records have one variable per field, named `r.f`.
    pub name: String,
    /// Offset in the globals or locals.
    pub offset: usize,
    /// Type of its elements.
    pub width: Width,
    /// Number of elements; one for scalars.
    pub length: usize,
    /// Bytes from one element to the next.
    pub stride: usize,
    /// Whether it holds channels.
    pub is_channel: bool,
    /// If it holds names: which of [`Network::names`].
    pub names: Option<usize>,
    /// Whether it was declared as a scalar: no array, not even of one element, and no field of a record.
    pub is_scalar: bool,
    /// For globals: whether the text reads it, as SPIN counts it. Arguments of `printf` and `x++` do not
    /// count, receiving into it does, and so do the counters of `for` and `select`.
    pub is_read: bool,
}

/// Where a process can be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Location {
    /// What it can do there, in the order in which it is tried.
    pub steps: Vec<Step>,
    /// Whether it may stay there for ever: labels that begin with `end`, and the end.
    pub is_end: bool,
    /// Whether a label begins with `progress`.
    pub is_progress: bool,
    /// Whether a label begins with `accept`.
    pub is_accept: bool,
    /// The labels.
    pub labels: Vec<String>,
    /// Number of its first step; the others follow. Set by [`Network::validated`].
    pub first_step: u32,
}

/// How a variable begins: executed in order when the process is created, or at the very beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Initialiser {
    /// The variable.
    pub place: Place,
    /// What it gets.
    pub initial: Initial,
}

/// What a variable gets.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// The value of an expression.
    Value(Expr),
    /// A new channel of this kind.
    Channel(usize),
}

/// A kind of process.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessKind {
    /// Its name.
    pub name: String,
    /// The places of its parameters.
    pub parameters: Vec<Place>,
    /// Its parameters and local variables.
    pub locals: Vec<Variable>,
    /// Bytes of them.
    pub locals_size: usize,
    /// Executed after the parameters got their values.
    pub initialisers: Vec<Initialiser>,
    /// Where it can be. Location zero is not used, so that numbers are those of SPIN.
    pub locations: Vec<Location>,
    /// Where it begins.
    pub entry: LocationId,
    /// Must hold for every step, if there is one.
    pub provided: Option<Expr>,
}

/// A kind of channel.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelKind {
    /// Name of the variable that was declared with it.
    pub name: String,
    /// How many messages it holds; zero means rendezvous.
    pub capacity: usize,
    /// The types of the fields of a message.
    pub fields: Vec<Width>,
    /// For each field that holds names, which of [`Network::names`].
    pub names: Vec<Option<usize>>,
}

impl ChannelKind {
    /// Bytes of a message.
    pub fn message_size(&self) -> usize {
        self.fields.iter().map(|width| width.bytes()).sum()
    }
}

/// A process that exists at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its kind.
    pub kind: usize,
    /// Its priority.
    pub priority: u8,
}

/// A network of processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Kinds of processes.
    pub processes: Vec<ProcessKind>,
    /// Kinds of channels.
    pub channels: Vec<ChannelKind>,
    /// Lists of names for people (mtypes): the first of a list means 1.
    pub names: Vec<Vec<String>>,
    /// Global variables.
    pub globals: Vec<Variable>,
    /// Bytes of them.
    pub globals_size: usize,
    /// Executed first, in order.
    pub initialisers: Vec<Initialiser>,
    /// The processes that exist at the beginning, in the order of their numbers.
    pub starts: Vec<Start>,
    /// The global that holds the number of the process that moved last, if anybody asks.
    pub last: Option<Place>,
    /// The never claims. They have no part in [`Network::expand`].
    pub claims: Vec<Claim>,
    /// The events that are watched, if any.
    pub trace: Option<Trace>,
    /// Whether processes have priorities, as part of their state.
    pub has_priorities: bool,
    /// What a state may grow to.
    pub limits: Limits,
    /// Number of steps at all locations of all kinds. Set by [`Network::validated`], like the next two.
    pub n_steps: usize,
    /// How many processes can exist at a time.
    pub n_slots: usize,
    /// How many outcomes of one step have numbers of their own.
    pub n_outcomes: usize,
    /// For [`Network::engine`]; begins empty. A network that has an engine must not be changed.
    pub compiled: Compiled,
}

impl Network {
    /// Bytes of a process before its locals: tag, location, priority.
    pub fn header_size(&self) -> usize {
        3 + usize::from(self.has_priorities)
    }

    /// Bytes of a process of this kind.
    pub fn process_size(&self, kind: usize) -> usize {
        self.header_size() + self.processes[kind].locals_size
    }

    /// Bytes of a channel of this kind: its tag, and unless it is a rendezvous channel its length and slots.
    pub fn channel_size(&self, kind: usize) -> usize {
        let channel = &self.channels[kind];
        if channel.capacity == 0 { 1 } else { 2 + channel.capacity * channel.message_size() }
    }

    /// Number of the first step at a location; the others follow. Kinds, locations and steps are counted
    /// in their order.
    pub fn first_step(&self, kind: usize, location: LocationId) -> StepId {
        StepId(self.processes[kind].locations[location.index()].first_step)
    }

    /// A step with the kind and the location that it belongs to.
    pub fn step(&self, id: StepId) -> Option<(usize, LocationId, &Step)> {
        let mut rest = id.0 as usize;
        for (kind, process) in self.processes.iter().enumerate() {
            for (location, at) in process.locations.iter().enumerate() {
                match at.steps.get(rest) {
                    Some(step) => return Some((kind, LocationId(location as u16), step)),
                    None => rest -= at.steps.len(),
                }
            }
        }
        None
    }

    /// A value for people: by its name, if it is one of the list.
    pub fn value_text(&self, value: i32, names: Option<usize>) -> String {
        let list = names.and_then(|list| self.names.get(list));
        let index = usize::try_from(value).ok().and_then(|value| value.checked_sub(1));
        let name = list.zip(index).and_then(|(list, index)| list.get(index));
        name.cloned().unwrap_or_else(|| value.to_string())
    }

    /// All steps of a kind of process, with the locations where they are, sequences included.
    pub fn steps_of(&self, kind: usize) -> impl Iterator<Item = (LocationId, &Step)> {
        let locations = self.processes[kind].locations.iter().enumerate();
        locations.flat_map(|(i, l)| l.steps.iter().map(move |step| (LocationId(i as u16), step)))
    }
}
