//! Any bytes as directives and macros before a model that is right.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stubborn_oracle::promela::directives_never_panic;

fuzz_target!(|bytes: &[u8]| {
    directives_never_panic(&String::from_utf8_lossy(bytes));
});
