//! Any bytes as a Promela model, or as the choices that lead to one: the reference interpreter, the engine and packed keys make the same
//! successors of every state.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stubborn_oracle::promela::engines_agree;

fuzz_target!(|bytes: &[u8]| {
    engines_agree(bytes);
});
