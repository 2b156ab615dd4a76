//! All tests of this crate in one binary: a binary of its own for each file would compile and link the searches again.

mod claims;
mod engine;
mod errors;
mod footprints;
mod garbage;
mod optimise;
mod spin;
mod support;
mod syntax;
