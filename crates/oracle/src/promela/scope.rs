//! What a random statement may name: variables, channels, labels, processes.

use crate::Rng;

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bit,
    Byte,
    Short,
    Int,
    Unsigned(usize),
    Mtype,
}

impl Type {
    pub(super) fn random(rng: &mut Rng) -> Self {
        match rng.below(12) {
            0 | 1 => Self::Bit,
            2 => Self::Short,
            3 => Self::Int,
            4 => Self::Unsigned(rng.between(1, 5)),
            _ => Self::Byte,
        }
    }

    /// A type that fields of channels and parameters may have: all but `unsigned`.
    pub(super) fn random_field(rng: &mut Rng) -> Self {
        match Self::random(rng) {
            Self::Unsigned(_) => Self::Byte,
            other => other,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Bit => "bit",
            Self::Byte => "byte",
            Self::Short => "short",
            Self::Int => "int",
            Self::Unsigned(_) => "unsigned",
            Self::Mtype => "mtype",
        }
    }

    /// How many bits a scalar has.
    pub(super) fn bits(self) -> usize {
        match self {
            Self::Bit => 1,
            Self::Byte | Self::Mtype => 8,
            Self::Short => 16,
            Self::Int => 32,
            Self::Unsigned(bits) => bits,
        }
    }

    /// The declaration of a scalar with this type.
    pub(super) fn declare(self, name: &str) -> String {
        match self {
            Self::Unsigned(bits) => format!("unsigned {name} : {bits}"),
            other => format!("{} {name}", other.word()),
        }
    }
}

/// A number that can be read and written: a scalar, an array or a field of a record.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) of: Type,
    /// Of an array.
    pub(super) length: Option<usize>,
}

impl Variable {
    /// How many bits its elements have; an array of bits is one of bytes.
    pub(super) fn bits(&self) -> usize {
        if self.length.is_some() { self.of.bits().max(8) } else { self.of.bits() }
    }
}

/// What a message consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Number(Type),
    Mtype,
    /// A channel with this signature.
    Channel(usize),
    /// A record; the only field then.
    Record,
}

/// What all channels that may stand for each other have in common.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) fields: Vec<Field>,
    /// Zero means rendezvous.
    pub(super) capacity: usize,
}

/// Something that holds a channel.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// How it is written.
    pub(super) text: String,
    pub(super) signature: usize,
    /// Whether another channel can be assigned to it.
    pub(super) is_variable: bool,
}

/// A parameter of a process type.
#[derive(Clone, Debug)]
pub(super) enum Parameter {
    Number(Variable),
    Channel(Channel),
}

/// A process type, before it has a body.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) locals: Vec<Variable>,
    /// Channels of its own: declared with a buffer.
    pub(super) own: Vec<Channel>,
    /// Variables that hold channels of others, none at first.
    pub(super) borrowed: Vec<Channel>,
    pub(super) labels: Vec<String>,
    /// The numbers of the processes that exist at the beginning.
    pub(super) pids: Vec<usize>,
    pub(super) is_init: bool,
}

/// An inline: its name; its parameters are a variable and an expression.
#[derive(Clone, Debug)]
pub(super) struct Inline {
    pub(super) name: String,
}

/// The globals, and what is known of all processes.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) numbers: Vec<Variable>,
    pub(super) mtypes: Vec<Variable>,
    /// The names of an `mtype` declaration; none if there is no such type.
    pub(super) constants: Vec<String>,
    pub(super) records: Vec<String>,
    /// Whether records can be messages: not if they have `unsigned` fields.
    pub(super) can_send_records: bool,
    pub(super) signatures: Vec<Signature>,
    pub(super) channels: Vec<Channel>,
    pub(super) inlines: Vec<Inline>,
    pub(super) plans: Vec<Plan>,
    pub(super) uses_last: bool,
    pub(super) uses_remote: bool,
}

/// Where a statement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Here {
    pub(super) depth: usize,
    pub(super) is_in_loop: bool,
    pub(super) may_jump: bool,
    /// `timeout` and rendezvous have no place in a `d_step`.
    pub(super) is_in_dstep: bool,
    /// A loop in an atomic sequence may not end, and then SPIN decides nothing.
    pub(super) is_in_atomic: bool,
}

impl Here {
    pub(super) fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}
