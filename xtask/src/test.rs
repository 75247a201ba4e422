//! `cargo xtask test`: every check a change has to pass, and one line that sums them up.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::dependencies;
use crate::fuzz;
use crate::packages;
use crate::rayon_tests;
use crate::real_programs::{self, Outcome};
use crate::sanitized;
use crate::ui;
use crate::workspace::{cargo, succeed};

/// What the checks came to.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
    /// What each stage took.
    took: Vec<(&'static str, Duration)>,
}

impl Tally {
    /// A stage is over that began then; the next one begins now.
    fn stage(&mut self, name: &'static str, began: &mut Instant) {
        self.took.push((name, began.elapsed()));
        *began = Instant::now();
    }
}

/// Runs one of the parts that start programs, by its name, alone.
pub fn part(name: &str) -> Result<()> {
    let started = Instant::now();
    let mut tally = Tally::default();
    match name {
        "rayon" => rayons_own(&mut tally)?,
        "programs" => programs(&mut tally)?,
        "page" => {
            build_page(&mut tally);
            succeed(cargo().args(["build", "--quiet", "--package", "workspan"]))?;
            page(&mut tally);
        }
        "fuzz" => fuzzers(&mut tally, false)?,
        "sanitized" => outcome(&mut tally, "sanitized library", sanitized::run()),
        "miri" => outcome(&mut tally, "miri", fuzz::miri()),
        "dependencies" => {
            licences(&mut tally);
            vulnerabilities(&mut tally);
        }
        other => bail!("no part of the tests is called `{other}`"),
    }
    sum_up(&tally, started)
}

/// Slow tests that `--long` alone runs: everything else is to be over in 35 minutes. One measures, the other builds the tool
/// once more.
const LONG_ONLY: [&str; 2] = [
    "ten_million_tasks",
    "two_files_installed_into_an_empty_root_are_the_whole_tool",
];

/// When the fuzzers, which take minutes to build the first time, may still begin: everything is to be over in 35 minutes.
const TIME_FOR_FUZZERS: Duration = Duration::from_secs(26 * 60);

/// Runs all checks; `long` gives random tests twenty times the cases and fuzzers twenty times the time, and adds programs from the
/// registry, miri and cargo-deny.
pub fn run(long: bool) -> Result<()> {
    let started = Instant::now();
    let mut began = started;
    let mut tally = Tally::default();
    packages::prepare()?;
    tally.stage("packages", &mut began);
    // First of all, as what is built after it embeds it.
    build_page(&mut tally);
    tally.stage("page built", &mut began);
    check(
        &mut tally,
        "format",
        cargo().args(["fmt", "--all", "--", "--check"]),
    )?;
    let clippy = [
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    check(&mut tally, "lints", cargo().args(clippy))?;
    tally.stage("format and lints", &mut began);
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--no-fail-fast"]);
    if long {
        tests.env("PROPTEST_CASES", "5000");
        tests.env("WORKSPAN_LONG", "1");
    }
    count(&mut tally, "tests", &mut tests)?;
    tally.stage("tests", &mut began);
    // Slow ones, as the installation into an empty root, are marked `ignore` so that a plain `cargo test` is quick.
    let mut slow = cargo();
    slow.args([
        "test",
        "--workspace",
        "--no-fail-fast",
        "--tests",
        "--",
        "--ignored",
    ]);
    if !long {
        for name in LONG_ONLY {
            slow.args(["--skip", name]);
            tally.skipped.push(format!("{name}: with --long"));
        }
    }
    count(&mut tally, "slow tests", &mut slow)?;
    tally.stage("slow tests", &mut began);
    rayons_own(&mut tally)?;
    tally.stage("rayon's own tests", &mut began);
    page(&mut tally);
    tally.stage("page tests", &mut began);
    licences(&mut tally);
    let mut docs = cargo();
    docs.args(["doc", "--quiet", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    check(&mut tally, "docs", &mut docs)?;
    tally.stage("dependencies and docs", &mut began);
    if long || started.elapsed() < TIME_FOR_FUZZERS {
        fuzzers(&mut tally, long)?;
    } else {
        let minutes = started.elapsed().as_secs() / 60;
        let why =
            format!("{minutes} minutes are over already; cargo xtask test fuzz runs them alone");
        tally.skipped.push(format!("fuzz: {why}"));
    }
    tally.stage("fuzzers", &mut began);
    if long {
        programs(&mut tally)?;
        outcome(&mut tally, "sanitized library", sanitized::run());
        outcome(&mut tally, "miri", fuzz::miri());
        vulnerabilities(&mut tally);
        tally.stage("what takes long", &mut began);
    }
    sum_up(&tally, started)
}

fn sum_up(tally: &Tally, started: Instant) -> Result<()> {
    for name in &tally.failed {
        println!("failed: {name}");
    }
    for name in &tally.skipped {
        println!("skipped: {name}");
    }
    let stages: Vec<String> = tally
        .took
        .iter()
        .map(|(name, took)| format!("{name} {} s", took.as_secs()))
        .collect();
    if !stages.is_empty() {
        println!("{}", stages.join(", "));
    }
    println!(
        "{} passed, {} failed, {} skipped ({} s)",
        tally.passed,
        tally.failed.len(),
        tally.skipped.len(),
        started.elapsed().as_secs()
    );
    if tally.failed.is_empty() {
        Ok(())
    } else {
        bail!("not everything passed")
    }
}

/// Rayon's own tests bare and recorded. The tool is the one that the tests before have built.
fn rayons_own(tally: &mut Tally) -> Result<()> {
    println!("== rayon's own tests, bare and recorded");
    succeed(cargo().args(["build", "--quiet", "--package", "workspan"]))?;
    match rayon_tests::run("debug") {
        Ok(compared) => {
            tally.passed += compared.equal;
            tally.failed.extend(compared.differences);
            tally.skipped.extend(compared.skipped);
        }
        Err(error) => tally.failed.push(format!("rayon's own tests: {error:#}")),
    }
    Ok(())
}

/// The viewer's page, where it can be built.
fn build_page(tally: &mut Tally) {
    if ui::lacking().is_some() {
        return;
    }
    if let Err(error) = ui::build() {
        tally.failed.push(format!("the viewer's page: {error:#}"));
    }
}

/// The page's own checks. The tool is the one that the tests before have built.
fn page(tally: &mut Tally) {
    match ui::test("debug") {
        Ok(parts) => {
            for (name, part) in parts {
                match part {
                    ui::Part::Passed(tests) => tally.passed += tests,
                    ui::Part::Failed(how) => tally.failed.push(format!("{name}: {how}")),
                    ui::Part::Skipped(why) => tally.skipped.push(format!("{name}: {why}")),
                }
            }
        }
        Err(error) => tally.failed.push(format!("the viewer's page: {error:#}")),
    }
}

/// Programs from the registry, bare and recorded.
fn programs(tally: &mut Tally) -> Result<()> {
    println!("== programs from the registry, bare and recorded");
    for (name, outcome) in real_programs::run()? {
        match outcome {
            Outcome::Same => tally.passed += 1,
            Outcome::Differs(how) => tally.failed.push(format!("{name}: {how}")),
            Outcome::Skipped(why) => tally.skipped.push(format!("{name}: {why}")),
        }
    }
    Ok(())
}

/// The fuzzers, for a minute in all; `long` for twenty, with memory watched where that can be done.
fn fuzzers(tally: &mut Tally, long: bool) -> Result<()> {
    let seconds = if long { fuzz::LONG } else { fuzz::SHORT };
    for (name, came_out) in fuzz::run(seconds, long, packages::may_install())? {
        outcome(tally, &name, came_out);
    }
    Ok(())
}

/// Licences and origins of what the project depends on.
fn licences(tally: &mut Tally) {
    println!("== dependencies");
    let came_out = match dependencies::check() {
        Ok(()) => dependencies::Outcome::Fine,
        Err(error) => dependencies::Outcome::Wrong(format!("{error:#}")),
    };
    outcome(tally, "dependencies", came_out);
}

/// All that cargo-deny knows of them.
fn vulnerabilities(tally: &mut Tally) {
    for (name, came_out) in dependencies::deny(packages::may_install()) {
        outcome(tally, name, came_out);
    }
}

fn outcome(tally: &mut Tally, name: &str, came_out: dependencies::Outcome) {
    match came_out {
        dependencies::Outcome::Fine => tally.passed += 1,
        dependencies::Outcome::Wrong(how) => tally.failed.push(format!("{name}: {how}")),
        dependencies::Outcome::Skipped(why) => tally.skipped.push(format!("{name}: {why}")),
    }
}

/// A check that passes or fails as a whole.
fn check(tally: &mut Tally, name: &str, command: &mut Command) -> Result<()> {
    println!("== {name}");
    let status = command.status().with_context(|| format!("{command:?}"))?;
    if status.success() {
        tally.passed += 1
    } else {
        tally.failed.push(name.to_string())
    }
    Ok(())
}

/// A run of cargo's test harness, whose tests are counted one by one.
fn count(tally: &mut Tally, name: &str, command: &mut Command) -> Result<()> {
    println!("== {name}");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{command:?}"))?;
    let failed_before = tally.failed.len();
    let slow = name == "slow tests";
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines() {
            let line = line?;
            let outcome = line
                .strip_prefix("test ")
                .and_then(|rest| rest.rsplit_once(" ... "));
            match outcome {
                Some((_, "ok")) => {
                    tally.passed += 1;
                    continue;
                }
                Some((test, "FAILED")) => tally.failed.push(test.to_string()),
                // What a plain run leaves out is run as a slow test right after.
                Some((test, why)) if why.starts_with("ignored") && slow => {
                    tally.skipped.push(test.to_string())
                }
                _ => {}
            }
            if let Some(why) = line.strip_prefix("skipped: ") {
                tally.skipped.push(why.to_string());
            }
            let dull = line.is_empty()
                || line.starts_with("running ")
                || line.starts_with("test result: ok");
            if !dull {
                println!("{line}");
            }
        }
    }
    let status = child.wait()?;
    if !status.success() && tally.failed.len() == failed_before {
        tally.failed.push(format!("{name} ({status})"));
    }
    Ok(())
}
