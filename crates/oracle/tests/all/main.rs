//! All tests of this crate in one binary: a binary of its own for each file would compile and link the searches again.

#[path = "../../../promela/tests/all/support/files.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod files;

mod campaign;
mod choices;
mod definition;
mod derived;
mod followed;
mod generators;
mod linear_brute;
mod linear_spin;
mod memory;
mod packed;
mod packed_symmetry;
mod process_ring;
mod promela_burial;
mod promela_engine;
mod promela_reductions;
mod promela_spin;
mod promela_texts;
mod recall;
mod reduced_processes;
mod semantics;
mod tester_makers;
mod testers;
mod threads;
