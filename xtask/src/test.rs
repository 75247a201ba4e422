//! `cargo xtask test`: runs every check that a change must pass, and prints one line that sums them
//! up.

mod documentation;
mod programs;
mod progress;
mod tally;

use std::panic;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::aarch64;
use crate::comments;
use crate::dependencies;
use crate::fuzz;
use crate::lake;
use crate::miri;
use crate::package;
use crate::packages;
use crate::rayon_tests;
use crate::real_programs::{self, Outcome};
use crate::runtimes;
use crate::sanitized;
use crate::truth::{self, CorpusAmount};
use crate::ui;
use crate::workspace::{cargo, succeed, target};

pub use programs::Programs;
pub use progress::Check;
pub use tally::Tally;

use progress::EachMinute;

/// Runs only the part with this name; `long` repeats what is worth repeating.
pub fn part(name: &str, long: bool) -> Result<()> {
    let started = Instant::now();
    let mut tally = Tally::new();
    match name {
        "setup" => {
            packages::prepare()?;
            toolchains();
            tally.stage("packages");
        }
        "rayon" => {
            build_tool()?;
            rayons_own(&mut tally, rayon_tests::TestAmount::All);
        }
        "programs" => programs(&mut tally)?,
        "truth" => {
            build_tool()?;
            let amount = if long {
                CorpusAmount::Long
            } else {
                CorpusAmount::All
            };
            truth::run(&mut tally, amount)?;
        }
        "page" => {
            build_page(&mut tally);
            build_tool()?;
            page(&mut tally);
        }
        "fuzz" => fuzz_all(&mut tally, false)?,
        "runtimes" => runtimes::run(&mut tally)?,
        "aarch64" => tally.outcome("aarch64", aarch64::run()),
        "sanitized" => tally.outcome("sanitized library", sanitized::run()),
        "lake" => lake::run(&mut tally)?,
        "miri" => tally.outcome("miri", miri::run(packages::may_install())),
        "dependencies" => {
            licences(&mut tally);
            vulnerabilities(&mut tally);
        }
        other => bail!("no part of the tests is called `{other}`"),
    }
    tally.sum_up(started)
}

/// Slow tests that only `--long` runs: all others must finish within 25 minutes. One measures, one
/// waits for a minute, the others build in release mode.
const LONG_ONLY: [&str; 9] = [
    "all_faults_are_named_on_a_busy_machine_too",
    "each_benchmark_of_criterion_and_divan_has_a_row",
    "each_benchmark_says_first_what_its_structure_is_known_for",
    "no_signal_at_any_time_loses_a_trace",
    "the_same_tasks_on_any_number_of_workers",
    "the_findings_name_all_faults_and_fixes_are_faster",
    "ten_million_tasks",
    "an_installation_from_git_is_the_whole_tool",
    "two_files_installed_into_an_empty_root_are_the_whole_tool",
];

/// Slow tests that depend on time: nothing else runs at the same time.
const ALONE: [&str; 1] = ["the_report_names_the_serial_merge_and_only_that"];

/// Latest time at which the fuzzers, which take minutes to build the first time, may begin:
/// everything must finish within 25 minutes.
const TIME_FOR_FUZZERS: Duration = Duration::from_secs(17 * 60);

/// Runs all checks. `long` gives random tests twenty times the cases and fuzzers twenty times the
/// time, and adds programs from the registry, miri and cargo-deny.
pub fn run(long: bool) -> Result<()> {
    let started = Instant::now();
    let _lines = EachMinute::begin(started);
    let mut tally = Tally::new();
    println!("== every check of the project: some 20 minutes on 2 cores, more the first time");
    {
        let _running = Check::begin("what is missing is installed");
        packages::prepare()?;
    }
    toolchains();
    tally.stage("packages");
    // This comes first, because later builds embed it.
    build_page(&mut tally);
    tally.stage("page built");
    let format = ["fmt", "--all", "--", "--check"];
    tally.check("format", cargo().args(format))?;
    lake::format(&mut tally)?;
    tally.outcome("width of comments", width_of_comments());
    // Builds the tool together with the tests, because some run it. cargo prints each crate, as
    // there would be no output for minutes otherwise.
    let queue = Programs::build()?;
    tally.stage("tests built");
    if !long {
        tally
            .skipped
            .push("the lake: with --long, or cargo xtask test lake".into());
        // Tests wait more than they compute, so that half of them leaves time for the others. The
        // thread that finishes first helps with the tests that have not begun.
        let mut concurrent = Tally::new();
        thread::scope(|scope| {
            let others = scope.spawn(|| {
                others(&mut concurrent, long)?;
                fuzzers(&mut concurrent, long, started)?;
                queue.run(&mut concurrent)?;
                concurrent.stage("the rest of the tests");
                Ok(())
            });
            let tests = tests(&mut tally, &queue);
            let others = others.join();
            tests.and(others.unwrap_or_else(|p| panic::resume_unwind(p)))
        })?;
        tally.add_concurrent(concurrent);
        let mut alone = slow();
        tally.count("slow tests that measure", alone.args(ALONE), false)?;
        tally.stage("slow tests that measure");
        truth::run(&mut tally, CorpusAmount::Quick)?;
        tally.stage("programs of known truth");
        tally.rerun_failed()?;
        tally.stage("failed tests again");
    } else {
        // One of these tests measures.
        repeated_tests(&mut tally)?;
        others(&mut tally, long)?;
        fuzzers(&mut tally, long, started)?;
        programs(&mut tally)?;
        tally.outcome("sanitized library", sanitized::run());
        tally.outcome("miri", miri::run(packages::may_install()));
        vulnerabilities(&mut tally);
        runtimes::run(&mut tally)?;
        tally.outcome("aarch64", aarch64::run());
        lake::run(&mut tally)?;
        tally.outcome("the documentation's site", documentation::site());
        truth::run(&mut tally, CorpusAmount::All)?;
        tally.stage("what takes long");
        tally.rerun_failed()?;
    }
    tally.sum_up(started)
}

/// Prints which compilers and runtimes the tests use on this machine.
fn toolchains() {
    println!("== programs of the tests are built with");
    for line in workspan_toolchains::describe() {
        println!("   {line}");
    }
    println!(
        "   and the newest oneTBB of the Python packages; other versions: cargo xtask test runtimes"
    );
}

/// The project's own tests that no other part runs, and those of the documentation.
fn tests(tally: &mut Tally, queue: &Programs) -> Result<()> {
    // Slow tests are marked `ignore` so that a plain `cargo test` is quick; they run separately.
    queue.run(tally)?;
    tally.stage("tests");
    documentation::examples(tally)?;
    tally.stage("examples of the documentation");
    Ok(())
}

/// The project's own tests with twenty times the random cases, one after the other.
fn repeated_tests(tally: &mut Tally) -> Result<()> {
    let mut all = cargo();
    all.args(["test", "--workspace", "--no-fail-fast", "--tests"]);
    all.env("PROPTEST_CASES", "5000").env("WORKSPAN_LONG", "1");
    tally.count("tests", &mut all, true)?;
    tally.stage("tests");
    documentation::examples(tally)?;
    tally.stage("examples of the documentation");
    Ok(())
}

/// The page's tests and slow tests, and everything that is compiled for its own check: Rayon's
/// tests, lints, documentation.
fn others(tally: &mut Tally, long: bool) -> Result<()> {
    page(tally);
    tally.stage("page tests");
    let amount = match long {
        true => rayon_tests::TestAmount::All,
        false => rayon_tests::TestAmount::Quick,
    };
    rayons_own(tally, amount);
    tally.stage("rayon's own tests");
    let mut clippy = cargo();
    clippy.args(["clippy", "--quiet", "--workspace", "--all-targets"]);
    tally.check("lints", clippy.args(["--", "-D", "warnings"]))?;
    // The fuzzers are built last, if there is time; this only checks that they still compile.
    let mut fuzzers = cargo();
    fuzzers.args([
        "check",
        "--quiet",
        "--lib",
        "--manifest-path",
        "fuzz/Cargo.toml",
    ]);
    fuzzers.arg("--target-dir").arg(target());
    tally.check("the fuzzers' code", &mut fuzzers)?;
    tally.stage("lints");
    let mut slow = slow();
    if !long {
        for name in LONG_ONLY {
            slow.args(["--skip", name]);
            tally.skipped.push(format!("{name}: with --long"));
        }
        for name in ALONE {
            slow.args(["--skip", name]);
        }
    }
    tally.count("slow tests", &mut slow, false)?;
    tally.stage("slow tests");
    licences(tally);
    documentation::rustdoc(tally)?;
    tally.outcome("packages for a registry", packages_whole(long));
    tally.outcome("links of the documentation", documentation::links());
    tally.stage("dependencies, docs and packages");
    Ok(())
}

/// Whether every published crate has the files that it needs; `cargo xtask package --verify` also
/// compiles each alone.
fn packages_whole(long: bool) -> dependencies::Outcome {
    if let Some(why) = ui::lacking() {
        return dependencies::Outcome::Skipped(why);
    }
    let _running = Check::begin("packages for a registry");
    match package::run(long) {
        Ok(()) => dependencies::Outcome::Fine,
        Err(error) => dependencies::Outcome::Wrong(format!("{error:#}")),
    }
}

/// Whether all comments fit into the columns.
fn width_of_comments() -> dependencies::Outcome {
    match comments::check() {
        Ok(()) => dependencies::Outcome::Fine,
        Err(error) => dependencies::Outcome::Wrong(format!("{error:#}")),
    }
}

/// Builds the tool, for a part that starts programs and runs alone.
fn build_tool() -> Result<()> {
    succeed(cargo().args(["build", "--quiet", "--package", "workspan"]))
}

/// Runs Rayon's own tests recorded and bare, with the tool that is built already.
fn rayons_own(tally: &mut Tally, amount: rayon_tests::TestAmount) {
    let _running = Check::begin("rayon's own tests, recorded");
    match rayon_tests::run("debug", amount) {
        Ok(compared) => {
            tally.passed += compared.equal;
            tally.failed.extend(compared.differences);
            tally.skipped.extend(compared.skipped);
        }
        Err(error) => tally.failed.push(format!("rayon's own tests: {error:#}")),
    }
}

/// Builds the viewer's page, if that is possible.
fn build_page(tally: &mut Tally) {
    if ui::lacking().is_some() {
        return;
    }
    if let Err(error) = ui::build() {
        tally.failed.push(format!("the viewer's page: {error:#}"));
    }
}

/// Runs the page's own checks, with the tool that is built already.
fn page(tally: &mut Tally) {
    let _running = Check::begin("the viewer's page");
    match ui::test("debug") {
        Ok(parts) => {
            for (name, part) in parts {
                match part {
                    ui::Part::Passed(tests, flaky) => {
                        tally.passed += tests;
                        let named = flaky.iter().map(|test| format!("{name}: {test}"));
                        tally.flaky.extend(named);
                    }
                    ui::Part::Failed(how) => tally.failed.push(format!("{name}: {how}")),
                    ui::Part::Skipped(why) => tally.skipped.push(format!("{name}: {why}")),
                }
            }
        }
        Err(error) => tally.failed.push(format!("the viewer's page: {error:#}")),
    }
}

/// Runs programs from the registry, bare and recorded.
fn programs(tally: &mut Tally) -> Result<()> {
    let _running = Check::begin("programs from the registry, bare and recorded");
    for (name, outcome) in real_programs::run()? {
        match outcome {
            Outcome::Same => tally.passed += 1,
            Outcome::Differs(how) => tally.failed.push(format!("{name}: {how}")),
            Outcome::Skipped(why) => tally.skipped.push(format!("{name}: {why}")),
        }
    }
    Ok(())
}

/// The command for tests that a plain `cargo test` leaves out. Its further arguments select among
/// them.
fn slow() -> Command {
    let mut slow = cargo();
    slow.args(["test", "--workspace", "--no-fail-fast", "--tests"])
        .args(["--", "--ignored"]);
    slow
}

/// Runs the fuzzers, if there is time for them.
fn fuzzers(tally: &mut Tally, long: bool, started: Instant) -> Result<()> {
    if long || started.elapsed() < TIME_FOR_FUZZERS {
        fuzz_all(tally, long)?;
    } else {
        let minutes = started.elapsed().as_secs() / 60;
        tally.skipped.push(format!(
            "fuzz: {minutes} minutes are over already; cargo xtask test fuzz runs them alone"
        ));
    }
    tally.stage("fuzzers");
    Ok(())
}

/// Runs the fuzzers for a minute in total; for twenty with `long`, which also watches memory if
/// possible.
fn fuzz_all(tally: &mut Tally, long: bool) -> Result<()> {
    let _running = Check::begin("fuzzers");
    let seconds = if long { fuzz::LONG } else { fuzz::SHORT };
    for (name, came_out) in fuzz::run(seconds, long, packages::may_install())? {
        tally.outcome(&name, came_out);
    }
    Ok(())
}

/// Checks licences and origins of the project's dependencies.
fn licences(tally: &mut Tally) {
    let _running = Check::begin("dependencies");
    let came_out = match dependencies::check() {
        Ok(()) => dependencies::Outcome::Fine,
        Err(error) => dependencies::Outcome::Wrong(format!("{error:#}")),
    };
    tally.outcome("dependencies", came_out);
}

/// Runs cargo-deny's checks of the dependencies.
fn vulnerabilities(tally: &mut Tally) {
    for (name, came_out) in dependencies::deny(packages::may_install()) {
        tally.outcome(name, came_out);
    }
}
