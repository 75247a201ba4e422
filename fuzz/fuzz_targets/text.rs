//! See [`workspan_fuzz::text`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workspan_fuzz::text(bytes));
