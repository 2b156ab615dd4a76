//! Any bytes as a Promela model: the front-end ends and does not panic; what it accepts is run for a while.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stubborn_oracle::promela::never_panics;

fuzz_target!(|bytes: &[u8]| {
    never_panics(&String::from_utf8_lossy(bytes));
});
