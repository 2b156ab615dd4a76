//! Communication objects: values, the operations on them, and which operations depend on each other.
//!
//! **Implements** VS, "Concurrent Reactive System" and "Towards More Independency": an object is a set of values
//! with partial operations; an operation that is not defined for the value blocks.
//!
//! Dependency is a relation between *labels*: what was done, and what came of it (a lock that was not got, the
//! rank of a message, a write that changed nothing). That is how it depends on values: a failed attempt to
//! lock is not a lock. Of two labels in the order in which they occurred, the object says one of four things:
//!
//! * `Independent`: they commute wherever they can follow each other, with the same outcomes;
//! * `Ordered`: the first was needed for the second (an unlock for the next lock, a message for its receipt), or
//!   they can never be neighbours; they cannot be swapped, and nothing is gained by trying;
//! * `Conflict`: they can be swapped and it makes a difference: a race. The second was possible before the first;
//! * `Doubtful`: the order matters, and one cannot tell whether the second was possible before the first. This is
//!   always right, and costs the most.
//!
//! What labels must satisfy so that runs with the same order of dependent labels are the same run:
//! an independent pair commutes *with the labels unchanged*. Where several operations could each have enabled
//! another (two releases and one acquire), there is no such relation unless these are put in an order, so
//! they conflict. Where in doubt: `Doubtful`.
//!
//! **Differs from the text**: the tables of VS look at the value (a send and a receive depend if the channel is
//! empty or full); here the rank of a message says the same of a whole run: the i-th receive comes after
//! the i-th send, and the i-th send after the receive with rank i minus capacity.
//! **Checked by** `tests/all/tables.rs` (every pair of labels, by executing both orders in all small values) and by
//! `tests/all/random_programs.rs`.

mod barrier;
mod channel;
mod condvar;
mod custom;
mod mutex;
mod once;
mod process;
mod rwlock;
mod semaphore;
mod variable;

pub use barrier::Barrier;
pub use channel::{Channel, DISCONNECTED, EMPTY, FULL, Tables};
pub use condvar::{Condvar, WakeOrder};
pub use custom::CustomObject;
pub use mutex::Mutex;
pub use once::Once;
pub use process::Process;
pub use rwlock::RwLock;
pub use semaphore::Semaphore;
pub use variable::Variable;

use crate::op::{Action, ProcessId};

/// How two labels relate, in the order in which they occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// They commute.
    Independent,
    /// They cannot be swapped.
    Ordered,
    /// The order matters, and nobody knows whether they can be swapped.
    Doubtful,
    /// They can be swapped, and it makes a difference.
    Conflict,
}

/// What came of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// What the process gets.
    pub out: u64,
    /// What the relation needs to know besides.
    pub stamp: u64,
}

/// An action and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Who did it.
    pub process: ProcessId,
    /// What was done.
    pub action: Action,
    /// What came of it.
    pub effect: Effect,
}

/// How labels relate one of which only waits until an attempt would succeed; nothing if neither does. Where in doubt: such
/// loops are rare, and what they wait for is a matter of values.
fn relation_of_retries(first: &Label, second: &Label) -> Option<Relation> {
    let retries = |label: &Label| matches!(label.action, Action::Retry(_));
    match (retries(first), retries(second)) {
        (false, false) => None,
        (true, true) => Some(Relation::Independent),
        _ => Some(Relation::Doubtful),
    }
}

/// What an object knows.
pub trait Table {
    /// Whether the action is defined for the present value.
    fn enabled(&self, me: ProcessId, action: Action) -> bool;
    /// Between how many outcomes an enabled action can choose. Not zero.
    fn choices(&self, _action: Action) -> u32 {
        1
    }
    /// What would come of an enabled action.
    fn peek(&self, me: ProcessId, action: Action, choice: u32) -> Effect;
    /// Does it.
    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect;
    /// How two labels relate; the first occurred before the second. The second may be an action that is
    /// blocked for ever, with an effect that means nothing.
    fn relation(&self, first: &Label, second: &Label) -> Relation;
    /// Whether two actions are independent whatever comes of them.
    fn commutes(&self, _one: Action, _two: Action) -> bool {
        false
    }
    /// Whether two actions are dependent whatever comes of them.
    fn never_commutes(&self, _one: Action, _two: Action) -> bool {
        false
    }
    /// VS, the relation between an operation and the first ones that can become dependent with it: whether
    /// `other`, done by somebody else now or later, may interfere with `action` while nothing that interfered
    /// was done before. True where in doubt.
    fn interferes(&self, action: Action, other: Action) -> bool;
    /// Whether `other`, done by process `by`, may be what a blocked `action` waits for. For a blocked action it may
    /// be less than `interferes`: something of it must be done first. True where in doubt.
    fn enables(&self, action: Action, other: Action, _by: ProcessId) -> bool {
        self.interferes(action, other)
    }
    /// Who has what a blocked action waits for.
    fn holders(&self, _action: Action) -> Vec<ProcessId> {
        Vec::new()
    }
    /// The value, for people.
    fn describe(&self) -> String;
}

macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident),*) => {
        /// An object with its value.
        #[derive(Clone, Debug)]
        pub enum Object {
            $($(#[$doc])* $name($name),)*
            /// An object of the user's.
            Custom(Box<dyn CustomObject>),
        }

        impl Object {
            /// What it knows.
            pub fn table(&self) -> &dyn Table {
                match self {
                    $(Object::$name(object) => object,)*
                    Object::Custom(object) => object,
                }
            }
        }

        // Calls are resolved here, not through `table`: this is the hot path.
        impl Table for Object {
            #[inline]
            fn enabled(&self, me: ProcessId, action: Action) -> bool {
                match self {
                    $(Object::$name(object) => object.enabled(me, action),)*
                    Object::Custom(object) => object.enabled(me, action),
                }
            }
            #[inline]
            fn choices(&self, action: Action) -> u32 {
                match self {
                    $(Object::$name(object) => object.choices(action),)*
                    Object::Custom(object) => object.choices(action),
                }
            }
            #[inline]
            fn peek(&self, me: ProcessId, action: Action, choice: u32) -> Effect {
                match self {
                    $(Object::$name(object) => object.peek(me, action, choice),)*
                    Object::Custom(object) => object.peek(me, action, choice),
                }
            }
            #[inline]
            fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
                match self {
                    $(Object::$name(object) => object.execute(me, action, choice),)*
                    Object::Custom(object) => object.execute(me, action, choice),
                }
            }
            #[inline]
            fn relation(&self, first: &Label, second: &Label) -> Relation {
                match self {
                    $(Object::$name(object) => object.relation(first, second),)*
                    Object::Custom(object) => object.relation(first, second),
                }
            }
            fn commutes(&self, one: Action, two: Action) -> bool {
                self.table().commutes(one, two)
            }
            fn never_commutes(&self, one: Action, two: Action) -> bool {
                self.table().never_commutes(one, two)
            }
            fn interferes(&self, action: Action, other: Action) -> bool {
                self.table().interferes(action, other)
            }
            fn enables(&self, action: Action, other: Action, by: ProcessId) -> bool {
                self.table().enables(action, other, by)
            }
            fn holders(&self, action: Action) -> Vec<ProcessId> {
                self.table().holders(action)
            }
            fn describe(&self) -> String {
                self.table().describe()
            }
        }

        $(impl From<$name> for Object {
            fn from(object: $name) -> Object {
                Object::$name(object)
            }
        })*
    };
}

objects!(
    /// A shared variable.
    Variable,
    /// A mutex.
    Mutex,
    /// A lock for several readers or one writer.
    RwLock,
    /// A condition variable.
    Condvar,
    /// A semaphore.
    Semaphore,
    /// A channel.
    Channel,
    /// A barrier.
    Barrier,
    /// A cell that is initialised once.
    Once,
    /// A process: its end and its permit to go on.
    Process
);
