//! Stubborn sets of networks of processes, derived from their steps.
//!
//! The way of the data: [`flow`] finds what is true of the network in all states; [`resolve`] turns steps into
//! [`touch`]es, what they wait for and do; [`accord`] compares touches, and a [`ledger`] does so
//! once for equal ones; a [`population`] keeps the tables for
//! the processes that exist, which a [`census`] tells; a [`look`] asks a state; a [`situation`] is a state with its tables and says what a node
//! requires; the [`algorithms`] pick a set by [`closures`] of the [`cheapest`] (mostly of nodes [`elsewhere`]), by [`deletion`] or on a [`graph`]; [`choose`] has it done, or takes what a
//! [`memo`] knows from a [`glance`] (trees of questions), or from what is enabled and the key alone ([`shortcuts`]), as hard as [`patience`] says. What one picks depends on the state and on counts of what was picked
//! before, never on a clock.
//!
//! **Preserves** D0, D1, D2; and for each check, its imaginary transition takes part (V15 section IV).
//! **Differs from the text** in that a node stands for all transitions that begin with one step of a process:
//! they are chosen together.
//! **Checked by** the definition at the states of all test models, and by random programs (`oracle`).

mod accord;
mod algorithms;
mod burial;
mod census;
mod channels;
mod cheapest;
mod choose;
mod closures;
mod definition;
mod deletion;
mod elsewhere;
mod flow;
mod glance;
mod graph;
mod ledger;
mod look;
mod memo;
mod nodes;
mod patience;
mod places;
mod population;
mod resolve;
mod rows;
mod shape;
mod shortcuts;
mod sieve;
mod signature;
mod situation;
mod touch;

pub use choose::NetworkReduction;
