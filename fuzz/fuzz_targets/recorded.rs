//! See [`workspan_fuzz::recorded`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workspan_fuzz::recorded(bytes));
