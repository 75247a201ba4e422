//! Compiles the stand-in over the user's own rayon-core.
//!
//! The call that compiles `rayon_core` becomes two. The first compiles the real source as crate
//! `rayon_core_real`, from a copy with hooks if that works. It has other metadata and another file
//! name, so that the two can be linked side by side. The second compiles the stand-in as
//! `rayon_core` with `--extern` to the first. Both have all flags, features and cfgs of the
//! original call, the version and the other `CARGO_PKG_*` variables. Cargo sees one crate compiled,
//! and `Cargo.lock` is not involved.

use crate::environment;
use crate::hooks;
use crate::invocation::Invocation;
use crate::notes;
use crate::wrapper::{command, exit_code, run, with_profile};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The versions of rayon-core whose public items the stand-in mirrors.
pub const VERSIONS: &str = "1.12 and 1.13";

/// What to do with a call of rustc.
#[derive(Debug, PartialEq, Eq)]
pub enum RayonCore {
    /// The call does not compile a rayon-core that is to be replaced.
    No,
    /// The call compiles a rayon-core of this version: compile the stand-in at that path in its
    /// place.
    Replace {
        /// rayon-core's version.
        version: String,
        /// The stand-in's `lib.rs`.
        stand_in: PathBuf,
    },
}

/// Decides what to do with a call of rustc. If it compiles a rayon-core that cannot be replaced, a
/// note says so ([`notes::UNRECORDED`]).
#[must_use]
pub fn recognise(call: &Invocation) -> RayonCore {
    let Some(stand_in) = std::env::var_os(environment::STAND_IN).filter(|value| !value.is_empty())
    else {
        return RayonCore::No;
    };
    if call.option("--crate-name") != Some("rayon_core") || call.has_flag("--test") {
        return RayonCore::No;
    }
    let Some(source) = call.source() else {
        return RayonCore::No;
    };
    let variable = |name| std::env::var(name).unwrap_or_default();
    let (package, version) = (variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION"));
    let target = call.option("--target").unwrap_or_default();
    match refusal(source, &package, &version, target) {
        None => RayonCore::Replace {
            version,
            stand_in: PathBuf::from(stand_in),
        },
        Some(text) => {
            notes::leave(notes::UNRECORDED, &text);
            RayonCore::No
        }
    }
}

/// Why the rayon-core at `source` is not replaced for `target` (empty: the host); `None` if it is.
/// The decision is made for each rayon-core separately, so one that is not replaced may be linked
/// beside one that is.
fn refusal(source: &Path, package_name: &str, version: &str, target: &str) -> Option<String> {
    if package_name != "rayon-core" {
        return Some(format!(
            "the package {package_name} {version}, whose library is called rayon_core, is not recorded: workspan knows rayon-core alone"
        ));
    }
    if target.starts_with("wasm") {
        return Some(format!(
            "rayon-core {version} for {target} is not recorded: no recorder can be loaded there; build for this machine to record Rayon"
        ));
    }
    let mut parts = version.split('.');
    let known = parts.next() == Some("1") && matches!(parts.next(), Some("12" | "13"));
    if !known {
        return Some(format!(
            "rayon-core {version} is not recorded: this workspan knows {VERSIONS}; `cargo update -p rayon-core --precise 1.13.0` locks one of them"
        ));
    }
    // src/lib.rs of a package that cargo unpacked (`.cargo-ok`) or that `cargo vendor` wrote. A git
    // or path checkout may contain anything.
    let package = source.parent().and_then(Path::parent);
    let released = source.ends_with("src/lib.rs")
        && package.is_some_and(|package| {
            let unpacked = package
                .file_name()
                .is_some_and(|name| *name == *format!("rayon-core-{version}"));
            package.join(".cargo-checksum.json").is_file()
                || (unpacked && package.join(".cargo-ok").is_file())
        });
    (!released).then(|| {
        format!(
            "rayon-core {version} at {} is not recorded: it is not a released version but a git or path dependency; \
             take out its [patch] or git entry to record Rayon",
            package.unwrap_or(source).display()
        )
    })
}

/// Compiles the real rayon-core, then the stand-in over it. Returns the exit code.
///
/// # Errors
/// rustc cannot be run.
pub fn compile(
    program: &OsStr,
    call: Invocation,
    version: &str,
    stand_in: &Path,
) -> std::io::Result<i32> {
    let call = with_profile(call);
    let suffix = "-real";
    let extra = format!(
        "{}{suffix}",
        call.codegen("extra-filename").unwrap_or_default()
    );
    let emits: Vec<&str> = call
        .values("--emit")
        .flat_map(|kinds| kinds.split(','))
        .collect();
    let linked = emits.is_empty() || emits.contains(&"link");
    let extension = if linked { "rlib" } else { "rmeta" };

    let mut real = call
        .clone()
        .with_option("--crate-name", |_| "rayon_core_real".to_owned())
        .with_option("--emit", |kinds| {
            // Cargo reads one dep-info file, that of the stand-in.
            kinds
                .split(',')
                .filter(|kind| !kind.starts_with("dep-info"))
                .collect::<Vec<_>>()
                .join(",")
        })
        .with_codegen("metadata", |value| format!("{value}{suffix}"))
        .with_codegen("extra-filename", |value| format!("{value}{suffix}"));
    if call.codegen("extra-filename").is_none() {
        real = real.with([
            "-C".into(),
            OsString::from(format!("extra-filename={suffix}")),
        ]);
    }
    if call.codegen("metadata").is_none() {
        real = real.with(["-C".into(), OsString::from(format!("metadata={suffix}"))]);
    }
    let folder = call
        .out_dir()
        .join(format!("rayon_core_real{extra}.source"));
    let (output, hooked) = compile_real(program, &real, folder, version)?;
    if !output.status.success() {
        // Messages about files that cargo did not request are dropped; all others are passed on to
        // cargo.
        let said = output
            .stderr
            .split_inclusive(|&byte| byte == b'\n')
            .filter(|line| !is_artifact(line));
        std::io::stderr().write_all(&said.flatten().copied().collect::<Vec<u8>>())?;
        return Ok(exit_code(output.status));
    }

    let mut file = OsString::from("rayon_core_real=");
    file.push(
        call.out_dir()
            .join(format!("librayon_core_real{extra}.{extension}")),
    );
    let mut stand_in = call.with_source(stand_in).with(["--extern".into(), file]);
    if hooked {
        stand_in = stand_in.with(["--cfg", "workspan_hooks"].map(OsString::from));
    }
    let status = run(program, &stand_in)?;
    if status.success() {
        notes::leave(notes::RECORDED, version);
    }
    Ok(exit_code(status))
}

/// Compiles the real rayon-core with hooks, from a copy in `folder`. If that fails, compiles it
/// unchanged, and a note says so ([`notes::UNHOOKED`]). Returns rustc's output, and whether there
/// are hooks.
fn compile_real(
    program: &OsStr,
    real: &Invocation,
    folder: PathBuf,
    version: &str,
) -> std::io::Result<(Output, bool)> {
    let why = match hooks::Copy::make(real, folder) {
        Ok(copy) => {
            let output = command(program, &copy.instead(real)).output()?;
            if output.status.success() {
                return Ok((output, true));
            }
            "it does not compile with hooks in it".to_owned()
        }
        Err(why) => why,
    };
    let output = command(program, real).output()?;
    if output.status.success() {
        notes::leave(
            notes::UNHOOKED,
            &format!(
                "steals by victim, failed attempts and sleep are not recorded: rayon-core {version} differs from the versions workspan knows: {why}"
            ),
        );
    }
    Ok((output, false))
}

/// Whether a line of rustc's JSON output announces a file.
fn is_artifact(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    text.starts_with('{') && text.contains("\"artifact\":") && !text.contains("\"rendered\":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_released_versions_in_range_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("with space").join("rayon-core-1.13.0");
        std::fs::create_dir_all(package.join("src")).unwrap();
        let source = package.join("src/lib.rs");
        let text = refusal(&source, "rayon-core", "1.13.0", "").expect("a path checkout");
        assert!(text.contains("git or path dependency"), "{text}");
        std::fs::write(package.join(".cargo-ok"), "").unwrap();
        assert_eq!(refusal(&source, "rayon-core", "1.13.0", ""), None);
        assert!(
            refusal(&source, "rayon-core", "1.12.1", "").is_some(),
            "the folder is another version's"
        );
        for version in ["1.11.0", "1.14.0", "2.12.0", "", "1", "1.130.0"] {
            let text = refusal(&source, "rayon-core", version, "").expect(version);
            assert!(
                text.contains("1.12 and 1.13") && text.contains("cargo update"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_git_checkout_is_no_release() {
        // Cargo marks a checkout's root in the same way as a package it unpacked.
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("git/checkouts/rayon-9e1a2b/1a2b3c4");
        for package in [root.join("rayon-core"), root.clone()] {
            std::fs::create_dir_all(package.join("src")).unwrap();
            std::fs::write(root.join(".cargo-ok"), "").unwrap();
            let source = package.join("src/lib.rs");
            let text = refusal(&source, "rayon-core", "1.13.0", "").expect("a checkout");
            assert!(
                text.contains("git or path dependency") && text.contains("1a2b3c4"),
                "{text}"
            );
        }
    }

    #[test]
    fn forks_and_targets_without_a_recorder_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("vendor/rayon-core");
        std::fs::create_dir_all(package.join("src")).unwrap();
        std::fs::write(package.join(".cargo-checksum.json"), "{}").unwrap();
        let source = package.join("src/lib.rs");
        let here = "x86_64-unknown-linux-gnu";
        assert_eq!(refusal(&source, "rayon-core", "1.13.0", here), None);
        let text = refusal(&source, "rayon-core-ng", "1.13.0", here).unwrap();
        assert!(text.contains("rayon-core-ng 1.13.0"), "{text}");
        // The feature `web_spin_lock` is for such targets.
        let text = refusal(&source, "rayon-core", "1.13.0", "wasm32-unknown-unknown").unwrap();
        assert!(text.contains("for wasm32-unknown-unknown"), "{text}");
    }

    #[test]
    fn vendored_sources_are_released_ones() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("vendor/rayon-core");
        std::fs::create_dir_all(package.join("src")).unwrap();
        std::fs::write(package.join(".cargo-checksum.json"), "{}").unwrap();
        assert_eq!(
            refusal(&package.join("src/lib.rs"), "rayon-core", "1.12.1", ""),
            None
        );
    }

    #[test]
    fn artifact_lines_are_told_from_messages() {
        assert!(is_artifact(br#"{"$message_type":"artifact","artifact":"/t/librayon_core_real.rmeta","emit":"metadata"}"#));
        assert!(!is_artifact(
            br#"{"$message_type":"diagnostic","message":"no \"artifact\":","rendered":"error"}"#
        ));
        assert!(!is_artifact(b"error: linker not found"));
    }
}
