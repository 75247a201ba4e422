//! See [`workspan_fuzz::entries`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workspan_fuzz::entries(bytes));
