//! All tests of this crate in one binary: a binary of its own for each file would compile and link the searches again.

mod hoa;
mod spin;
mod stutter;
mod words;
