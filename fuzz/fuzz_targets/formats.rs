//! See [`workspan_fuzz::formats`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workspan_fuzz::formats(bytes));
