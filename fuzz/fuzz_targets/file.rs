//! See [`workspan_fuzz::file`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workspan_fuzz::file(bytes));
