//! All tests of this crate in one binary: a binary of its own for each file would compile and link the searches again.

mod common;
mod counts;
mod custom;
mod random_programs;
mod tables;
