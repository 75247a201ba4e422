//! See [`workspan_fuzz::report`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workspan_fuzz::report(bytes));
