//! See [`workspan_fuzz::switches`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workspan_fuzz::switches(bytes));
