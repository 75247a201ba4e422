//! See [`workspan_fuzz::events`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workspan_fuzz::events(bytes));
