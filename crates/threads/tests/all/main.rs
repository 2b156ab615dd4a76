//! All tests of this crate in one binary: a binary of its own for each file would compile and link the searches again.

mod bad_input;
mod counted;
mod counts;
mod gaps;
mod programs;
mod random_threads;
mod reports;
mod structures;
