//! Mistakes of a model that show only when it runs.

use thiserror::Error;

/// A model broke a rule of the game: the model is wrong, not the system that it describes.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An assignment does not fit the variable.
    #[error(
        "`{variable}` holds 0..={max}, but was assigned {value}; declare a wider range or guard the assignment"
    )]
    OutOfRange {
        /// Name of the variable.
        variable: String,
        /// The value that was assigned (as written by the model, possibly wrapped below zero).
        value: i64,
        /// The largest value that fits.
        max: u64,
    },
    /// An array was indexed outside its bounds.
    #[error("index out of range: `{array}` has {len} elements")]
    IndexOutOfRange {
        /// Name of the array.
        array: String,
        /// Its number of elements.
        len: usize,
    },
    /// `fire` returned false but had changed the state.
    #[error(
        "`fire` said that the transition is disabled, but changed `{variable}`; test the guard before assigning"
    )]
    ChangedButDisabled {
        /// A variable that was changed.
        variable: String,
    },
    /// A rule, question or schedule names a transition that does not exist.
    #[error("there is no transition number {named}: the model has {n_transitions}, numbered from 0")]
    NoSuchTransition {
        /// The number that was named.
        named: usize,
        /// How many transitions there are.
        n_transitions: usize,
    },
    /// A transition touched what its declared footprint does not allow.
    #[error("the footprint is wrong: {access}; rules derived from it would be wrong, too")]
    Footprint {
        /// What was done, e.g. "it read `T[0]`".
        access: String,
    },
    /// The rules violate the definition of stubborn sets.
    #[error("the stubborn rules are wrong: {condition} fails: {explanation}")]
    Rules {
        /// D0, D1 or D2.
        condition: &'static str,
        /// Which transitions and states show it.
        explanation: String,
    },
    /// Something that the method relies on is not so, e.g. a symmetry that is none.
    #[error("{0}")]
    Broken(String),
    /// A fault, and the transition that shows it.
    #[error("transition `{transition}`: {fault}")]
    In {
        /// Name of the transition.
        transition: String,
        /// What is wrong with it.
        fault: Box<Fault>,
    },
    /// The model itself reports a mistake.
    #[error("the model says: {0}")]
    Model(String),
}

impl Fault {
    /// The same fault, said of a transition.
    #[cold]
    pub fn of(self, transition: String) -> Self {
        match self {
            Self::In { .. } => self,
            fault => Self::In { transition, fault: Box::new(fault) },
        }
    }
}
