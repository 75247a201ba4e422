//! Adds line tables to the user's crates, so that sites have a file and a line under any profile,
//! and frame pointers, so that samples have a call chain.

use crate::environment;
use crate::invocation::Invocation;
use std::ffi::OsString;

/// The arguments to append to a call of rustc: line tables if the profile asks for none, no
/// stripping, and frame pointers. None for crates that run in the compiler (build scripts, macros),
/// and none if the user wants to keep the profile.
#[must_use]
pub fn additions(call: &Invocation) -> Vec<OsString> {
    let keep = std::env::var_os(environment::KEEP_PROFILE).is_some_and(|value| !value.is_empty());
    if keep { Vec::new() } else { arguments(call) }
}

/// The kernel follows call chains by frame pointers (`--sample`).
const FRAME_POINTERS: &str = "force-frame-pointers=yes";

fn arguments(call: &Invocation) -> Vec<OsString> {
    let Some(name) = call.option("--crate-name") else {
        return Vec::new();
    };
    // Cargo uses the name `___` when it only probes the compiler.
    if name == "___"
        || name.starts_with("build_script_")
        || call.values("--crate-type").any(|kind| kind == "proc-macro")
    {
        return Vec::new();
    }
    let mut more = Vec::new();
    let level = call
        .codegen("debuginfo")
        .unwrap_or(if call.has_flag("-g") { "2" } else { "0" });
    if matches!(level, "0" | "none" | "line-directives-only") {
        more.extend(["-C", "debuginfo=line-tables-only"].map(OsString::from));
    }
    if call.codegen("strip").is_some_and(|value| value != "none") {
        more.extend(["-C", "strip=none"].map(OsString::from));
    }
    if call.codegen("force-frame-pointers").is_none() {
        more.extend(["-C", FRAME_POINTERS].map(OsString::from));
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(words: &[&str]) -> String {
        let call = Invocation::new(words.iter().map(OsString::from).collect());
        arguments(&call)
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" ")
            .replace("-C force-frame-pointers=yes", "")
            .trim_end()
            .to_owned()
    }

    #[test]
    fn frame_pointers_are_the_users_choice() {
        let of = |words: &[&str]| {
            let call = Invocation::new(words.iter().map(OsString::from).collect());
            arguments(&call).iter().any(|word| word == FRAME_POINTERS)
        };
        assert!(of(&["--crate-name", "a", "a.rs"]));
        assert!(!of(&["--crate-name", "a", "-C", "force-frame-pointers=no"]));
        assert!(!of(&["--crate-name", "build_script_build", "build.rs"]));
    }

    #[test]
    fn line_tables_are_added_only_where_there_are_none() {
        assert_eq!(
            added(&["--crate-name", "a", "a.rs"]),
            "-C debuginfo=line-tables-only"
        );
        assert_eq!(
            added(&["--crate-name", "a", "-C", "debuginfo=0"]),
            "-C debuginfo=line-tables-only"
        );
        for more in [
            "debuginfo=1",
            "debuginfo=2",
            "debuginfo=full",
            "debuginfo=line-tables-only",
        ] {
            assert_eq!(added(&["--crate-name", "a", "-C", more]), "", "{more}");
        }
        assert_eq!(added(&["--crate-name", "a", "-g"]), "");
    }

    #[test]
    fn stripping_is_taken_back() {
        assert_eq!(
            added(&[
                "--crate-name",
                "a",
                "-C",
                "debuginfo=2",
                "-C",
                "strip=symbols"
            ]),
            "-C strip=none"
        );
        assert_eq!(
            added(&["--crate-name", "a", "-Cstrip=debuginfo"]),
            "-C debuginfo=line-tables-only -C strip=none"
        );
    }

    #[test]
    fn what_runs_in_the_compiler_is_left_alone() {
        assert_eq!(
            added(&[
                "--crate-name",
                "build_script_build",
                "-C",
                "strip=debuginfo"
            ]),
            ""
        );
        assert_eq!(
            added(&["--crate-name", "m", "--crate-type", "proc-macro"]),
            ""
        );
        assert_eq!(
            added(&["-", "--crate-name", "___", "--print=file-names"]),
            ""
        );
        assert_eq!(added(&["-vV"]), "");
    }
}
