//! `cargo xtask`: what the project does with itself.
//!
//! * `demo` records the merge sort of `bench/` and prints its report,
//! * `test` runs every check a change has to pass,
//! * `bench` measures what recording costs.

mod bench;
mod demo;
mod native_bench;
mod outcomes;
mod packages;
mod picture;
mod rayon_tests;
mod real_programs;
mod rival;
mod test;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask demo            build workspan, record the merge sort of bench/, print the report
       cargo xtask test [--long]   format, lints, tests, docs, installation, Rayon's own tests; --long tests
                                  more random cases, and oxipng and tokei
       cargo xtask test rayon     Rayon's own tests alone, bare and recorded
       cargo xtask test programs  oxipng and tokei alone, bare and recorded
       cargo xtask bench           what a recorded join or task costs on each runtime, its bytes, its report";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["demo"] => demo::run(),
        ["test"] => test::run(false),
        ["test", "--long"] => test::run(true),
        ["test", part @ ("rayon" | "programs")] => test::part(part),
        ["bench"] => bench::run(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
