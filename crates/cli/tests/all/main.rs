//! All tests of this crate in one binary: a binary of its own for each file would compile and link the searches again.

mod bad_input;
mod chart;
mod common;
mod graph;
mod invariant;
mod linear;
mod linear_campaign;
mod linear_engines;
mod linear_guided;
mod linear_museum;
mod linear_spin;
mod ltl;
mod lts;
mod lts_models;
mod lts_semantics;
mod memory;
mod open;
mod optimise;
mod progress;
mod promela;
mod run;
mod simulate;
mod tables;
mod threads;
mod trail;
mod usage;
