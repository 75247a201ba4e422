//! Steals of the installed runtimes, without a compiler: each library is loaded and its tasks are
//! made with its own functions.

#![allow(clippy::unwrap_used, reason = "a test that can not go on has failed")]

use std::io::Write;
use std::path::Path;

use workspan_calibrate::steals_of;

/// Prints around the test harness, which captures the output of passing tests.
fn skip(what: &str, why: &str) {
    let line = format!("skipped: {what}: {why}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

fn measured(library: &str, runtime: &str) {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return skip(library, "one CPU");
    }
    match steals_of(Path::new(library)) {
        Ok(steals) => {
            assert_eq!(steals.runtime, runtime);
            let (low, high) = steals.quartiles_ns;
            assert!(steals.count >= 50 && low <= steals.median_ns && steals.median_ns <= high);
            // A thief takes longer than the creator's own call, and less than the time limit of a
            // round.
            assert!(low > 1.0 && high < 1e6, "{steals:?}");
        }
        Err(why) if why.contains("cannot open shared object file") => {
            skip(library, "not installed")
        }
        Err(why) if why.contains("hardly any steal") => skip(library, &why),
        Err(why) => panic!("{library}: {why}"),
    }
}

#[test]
fn gnu_openmp() {
    measured("libgomp.so.1", "GNU OpenMP");
}

#[test]
fn llvm_openmp() {
    measured("libomp.so.5", "LLVM OpenMP");
}

#[test]
fn onetbb() {
    measured("libtbb.so.12", "oneTBB");
}

#[test]
fn what_is_no_runtime_is_said_to_be_none() {
    let why = steals_of(Path::new("libc.so.6")).unwrap_err();
    assert!(why.contains("libc.so.6 is not a runtime"), "{why}");
    let why = steals_of(Path::new("/nowhere/libgomp.so.1")).unwrap_err();
    assert!(why.contains("/nowhere/libgomp.so.1"), "{why}");
}
