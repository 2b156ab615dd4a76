//! All tests of this crate in one binary: a binary of its own for each file would compile and link the searches again.

#[path = "../../../promela/tests/all/support/files.rs"]
mod files;
mod networks;

mod campaign;
mod choices;
mod combining;
mod definition;
mod derived;
mod engines;
mod followed;
mod gallery;
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
mod promela_verdicts;
mod recall;
mod reduced_processes;
mod semantics;
mod steady;
mod tester_makers;
mod tester_races;
mod testers;
mod threads;
mod told;
