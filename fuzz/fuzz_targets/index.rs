//! See [`workspan_fuzz::index`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workspan_fuzz::index(bytes));
