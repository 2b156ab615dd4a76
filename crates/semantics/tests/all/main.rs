//! All tests of this crate in one binary: a binary of its own for each file would compile and link the searches again.

mod build;
mod pairs;
mod reduced;
mod ring;
