//! All tests of this crate in one binary: a binary of its own for each file would compile and link the searches again.

mod bad_input;
mod formats;
mod ring;
mod rules;
