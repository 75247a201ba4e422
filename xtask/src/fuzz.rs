//! The fuzzers in `fuzz/`, with cargo-fuzz: every reader of files gets random bytes.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

use crate::dependencies::{Outcome, install};
use crate::workspace::{root, target};

/// Total time in seconds; as many run at once as there are cores.
pub const SHORT: u64 = 60;
/// Total time in seconds with `--long`.
pub const LONG: u64 = 1200;

/// Maximum number of fuzzers that run at once: each may take 3 GB.
const MAX_AT_ONCE: usize = 4;

/// Maximum size of an input in bytes: inputs are small, so that many are tried.
const MAX_INPUT_BYTES: u32 = 4096;

/// `PATH` with the tools that we installed.
pub fn with_tools(tools: &Path) -> OsString {
    let mut path = tools.join("bin").into_os_string();
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    path
}

/// A cargo command of the toolchain, whichever toolchain runs us.
fn cargo(toolchain: Option<&str>, tools: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root()).env("PATH", with_tools(tools));
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "RUSTFLAGS"] {
        if toolchain.is_some() {
            command.env_remove(name);
        }
    }
    command.args(toolchain);
    command
}

fn works(mut command: Command) -> bool {
    command.output().is_ok_and(|out| out.status.success())
}

/// Runs each fuzzer, `seconds` in total. With `checked`, the address sanitizer watches memory if
/// there is a nightly toolchain, which has it.
pub fn run(seconds: u64, checked: bool, may_install: bool) -> Result<Vec<(String, Outcome)>> {
    let tools = target().join("tools");
    let nightly = "+nightly";
    let has_nightly = || {
        let mut version = cargo(Some(nightly), &tools);
        version.arg("--version");
        works(version)
    };
    let mut outcomes = Vec::new();
    let mut toolchain = None;
    if checked {
        if has_nightly() {
            toolchain = Some(nightly);
        } else {
            let why = "no nightly toolchain: run without it";
            outcomes.push((
                "fuzz with the address sanitizer".to_owned(),
                Outcome::Skipped(why.into()),
            ));
        }
    }
    let fuzz = |words: &[&str]| {
        let mut command = cargo(toolchain, &tools);
        command.arg("fuzz").args(words);
        command
    };
    let there = || works(fuzz(&["--version"]));
    let usable = there() || may_install && install("cargo-fuzz", &tools) && there();
    if !usable {
        let why = "cargo-fuzz is not installed: cargo install cargo-fuzz";
        outcomes.push(("fuzz".into(), Outcome::Skipped(why.into())));
        return Ok(outcomes);
    }
    if !works({
        let mut compiler = Command::new("c++");
        compiler.arg("--version");
        compiler
    }) {
        let why = "no C++ compiler, which libFuzzer is built with: apt-get install g++";
        outcomes.push(("fuzz".into(), Outcome::Skipped(why.into())));
        return Ok(outcomes);
    }
    let sanitizer = if toolchain.is_some() {
        "address"
    } else {
        "none"
    };
    let folder = target().join("fuzz");
    let built = folder.join(sanitizer);
    let build = |command: &str| {
        let mut command = fuzz(&[command, "--sanitizer", sanitizer, "--target-dir"]);
        command.arg(&built);
        command
    };
    if !build("build").status().is_ok_and(|s| s.success()) {
        let what = "the fuzzers do not build".to_owned();
        outcomes.push(("fuzz".into(), Outcome::Wrong(what)));
        return Ok(outcomes);
    }
    let list = fuzz(&["list"]).output()?;
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let names: Vec<&str> = list.split_whitespace().collect();
    let at_once =
        std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_AT_ONCE));
    let each = (seconds * at_once as u64 / names.len().max(1) as u64).max(1);
    let one = |name: &str| -> Result<Outcome> {
        let found = folder.join("corpus").join(name);
        std::fs::create_dir_all(&found)?;
        println!("== fuzz {name}, {each} s");
        // Interesting inputs are saved in the first folder.
        let output = build("run")
            .arg(name)
            .arg(&found)
            .arg(root().join("fuzz/corpus").join(name))
            .arg("--")
            .arg(format!("-max_total_time={each}"))
            .arg(format!("-max_len={MAX_INPUT_BYTES}"))
            .args(["-timeout=20", "-rss_limit_mb=3072", "-verbosity=1"])
            .output()?;
        Ok(if output.status.success() {
            Outcome::Fine
        } else {
            let said = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> = said.lines().collect();
            let last = &lines[lines.len().saturating_sub(40)..];
            Outcome::Wrong(format!("{}\n{}", output.status, last.join("\n")))
        })
    };
    // Each core runs one fuzzer after the other.
    let next = AtomicUsize::new(0);
    let core = || -> Result<Vec<(usize, Outcome)>> {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = names.get(at) else {
                return Ok(done);
            };
            done.push((at, one(name)?));
        }
    };
    let mut done = Vec::new();
    std::thread::scope(|scope| -> Result<()> {
        let cores: Vec<_> = (0..at_once).map(|_| scope.spawn(core)).collect();
        for core in cores {
            match core.join() {
                Ok(of_core) => done.extend(of_core?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })?;
    done.sort_by_key(|&(at, _)| at);
    let named = |(at, outcome): (usize, Outcome)| (format!("fuzz {}", names[at]), outcome);
    outcomes.extend(done.into_iter().map(named));
    Ok(outcomes)
}
