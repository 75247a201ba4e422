//! Runs miri on the crates that run inside recorded programs, and on the format that they share.

use std::process::Command;

use crate::dependencies::Outcome;
use crate::workspace::{root, target};

/// The tests that run under miri: all that need no system and not too many steps. Tests that damage
/// each byte of a file are left out, because they involve no unsafe code. The hand-over of chunks
/// belongs to loom, whose threads miri can't follow (docs/reliability.md).
const TESTS: [Tests; 4] = [
    (&["--package", "workspan-recorder", "--lib"], &[]),
    (&["--package", "workspan-trace", "--lib"], &[]),
    (
        &["--package", "workspan-trace", "--test", "it"],
        &["format::", "turns::"],
    ),
    (
        &["--package", "workspan-fold", "--test", "it"],
        &["pause::"],
    ),
];

/// Arguments for cargo that select test binaries, and prefixes of the names of tests in them; all
/// tests if there are none.
type Tests = (&'static [&'static str], &'static [&'static str]);

/// Runs them, after installing miri if it is missing and that is allowed.
pub fn run(may_install: bool) -> Outcome {
    let usable = there() || may_install && install() && there();
    if !usable {
        let how = "no miri: rustup toolchain install nightly --component miri,rust-src";
        return Outcome::Skipped(how.into());
    }
    println!("== miri");
    for (binaries, names) in TESTS {
        let mut miri = nightly();
        miri.args(["miri", "test"])
            .args(binaries)
            .arg("--target-dir")
            .arg(target().join("miri"))
            .arg("--")
            .args(names)
            // Tests compare with files of the repository.
            .env("MIRIFLAGS", "-Zmiri-disable-isolation");
        match miri.status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Outcome::Wrong(status.to_string()),
            Err(error) => return Outcome::Wrong(error.to_string()),
        }
    }
    Outcome::Fine
}

/// The nightly toolchain's cargo, whichever toolchain runs us.
pub fn nightly() -> Command {
    let mut command = Command::new("cargo");
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command.arg("+nightly").current_dir(root());
    command
}

fn there() -> bool {
    let mut version = nightly();
    version.args(["miri", "--version"]);
    version.output().is_ok_and(|out| out.status.success())
}

fn install() -> bool {
    println!("== rustup component add miri");
    let mut rustup = Command::new("rustup");
    rustup.args(["component", "add", "--toolchain", "nightly"]);
    let status = rustup.args(["miri", "rust-src"]).status();
    status.is_ok_and(|status| status.success())
}
