//! `cargo xtask`: the project's own tasks.
//!
//! * `demo` records the merge sort of `bench/` and prints its report,
//! * `test` runs every check a change has to pass,
//! * `dist` makes a release, `package` the crates for a registry, `book` the documentation's site,
//! * `ui` builds the viewer's page, `screenshots` makes the README's pictures of it,
//!   `case-studies` those of docs/case-studies,
//! * `bench` measures the cost of recording, `bench overhead` that cost by the length of strands,
//!   `bench predictions` the quality of predictions, `bench folding` the cost of large runs, `bench
//!   viewer` the memory of the viewer, `bench samples` the cost of samples, `bench ring` that of a
//!   flight recorder.

mod aarch64;
mod bench;
mod book;
mod case_studies;
mod comments;
mod debian_root;
mod demo;
mod dependencies;
mod dist;
mod folding;
mod fuzz;
mod lake;
mod large_run;
mod miri;
mod native_bench;
mod outcomes;
mod overhead;
mod package;
mod packages;
mod picture;
mod predictions;
mod rayon_tests;
mod real_programs;
mod ring_bench;
mod rival;
mod runtimes;
mod sanitized;
mod test;
mod truth;
mod ui;
mod viewer;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask demo            build workspan, record the merge sort of bench/, print the report
       cargo xtask test [--long]   format, lints, tests, docs, installation, Rayon's own tests, fuzzers; --long tests
                                  more random cases, fuzzes longer, and adds miri, a sanitizer, cargo-deny, oxipng, tokei
       cargo xtask test setup     what the tests need of the machine alone: installed as root or in CI, else said
       cargo xtask test rayon     Rayon's own tests alone, bare and recorded
       cargo xtask test programs  oxipng and tokei alone, bare and recorded
       cargo xtask test truth [--long]  programs of known work, span and tasks, recorded on 1, 2, 4 and 16 threads,
                                  idle and on busy CPUs, 3 times each; --long 20 times: tests/truth/README.md
       cargo xtask test runtimes  the recorder's tests with other compilers, OpenMP runtimes and oneTBBs, down to those of
                                  supported distributions: Debian's and Python's packages, unpacked and not installed, and
                                  as root a root of Debian 13
       cargo xtask test aarch64   the recorder cross-compiled for Linux on aarch64, in qemu: an experiment
       cargo xtask test page      the viewer's page alone: types, tests, in a browser
       cargo xtask test fuzz      the fuzzers alone, for a minute
       cargo xtask test lake      the lake of many runs: format, lints, tests, 200 recorded runs with the same rows in SQLite, DuckDB
                                  and a cluster of Ballista, which is built once; Spark; S3 on loopback
       cargo xtask test miri      the recorder's and the format's tests in miri
       cargo xtask test sanitized the preloaded library, built with the address sanitizer
       cargo xtask test dependencies  licences and origins of what the project depends on, and cargo-deny
       cargo xtask ui              build the viewer's page (node 20.19 or later, npm), which the next build embeds
       cargo xtask dist [--here]   archive, .deb and .rpm of a release with man pages, completions, checksums: target/dist-packages;
                                  built in a root of an old Debian (as root, by debootstrap), or here for this glibc and newer;
                                  tried in fresh roots where that can be done
       cargo xtask package [--verify]  the crates as a registry would get them, with the page; --verify compiles each alone
       cargo xtask book [--check]  docs/ as a site with search, a gallery of reports and rustdoc: target/book/site; mdBook is
                                  installed into the target folder where it is missing; --check looks at the links alone
       cargo xtask screenshots     pictures of the page for README and docs/viewer.md, into docs/pictures
       cargo xtask case-studies [NAME...]  runs of the suite, recorded, and their pictures in docs/case-studies; needs g++, clang++,
                                  oneTBB and Chromium
       cargo xtask bench overhead [ROUNDS]  that by the length of strands: in full, folded, within a budget: docs/measured/overhead.md;
                                  8 minutes and builds; of 1 round, to see whether it works, 2
       cargo xtask bench predictions   how good what-if and simulation are: docs/predictions.md
       cargo xtask bench folding   runs of 10^8 tasks: what folding costs and saves: docs/folding.md
       cargo xtask bench viewer    the memory of the viewer of large runs, on each runtime, and in a browser its first
                                  picture, frames and tiles: docs/measured/viewer.md
       cargo xtask bench samples       what a sample of the code costs: docs/samples.md
       cargo xtask bench ring [ROUNDS]  what a flight recorder that is always on costs: docs/measured/overhead.md; 5 minutes
       cargo xtask bench           what a recorded join or task costs on each runtime, its bytes, its report";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["demo"] => demo::run(),
        ["test"] => test::run(false),
        ["test", "--long"] => test::run(true),
        [
            "test",
            part @ ("setup" | "rayon" | "programs" | "page" | "fuzz" | "sanitized" | "miri"
            | "dependencies" | "runtimes" | "aarch64" | "lake"),
        ] => test::part(part, false),
        ["test", "truth"] => test::part("truth", false),
        ["test", "truth", "--long"] => test::part("truth", true),
        ["bench"] => bench::run(),
        ["bench", "predictions", flags @ ..] => predictions::run(flags),
        ["bench", "overhead"] => overhead::run(overhead::ROUNDS),
        ["bench", "overhead", rounds] if rounds.parse::<usize>().is_ok() => {
            overhead::run(rounds.parse().unwrap_or(overhead::ROUNDS))
        }
        ["bench", "folding"] => folding::run(),
        ["bench", "viewer"] => viewer::run(),
        ["bench", "samples"] => native_bench::of_samples(),
        ["bench", "ring"] => ring_bench::run(ring_bench::ROUNDS),
        ["bench", "ring", rounds] if rounds.parse::<usize>().is_ok() => {
            ring_bench::run(rounds.parse().unwrap_or(ring_bench::ROUNDS))
        }
        ["ui"] => ui::build(),
        ["dist"] => dist::run(dist::System::Old),
        ["dist", "--here"] => dist::run(dist::System::Here),
        ["book"] => book::run(),
        ["book", "--check"] => book::check(),
        ["package"] => package::run(false),
        ["package", "--verify"] => package::run(true),
        ["screenshots"] => ui::screenshots(),
        ["case-studies", names @ ..] => case_studies::run(names),
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
