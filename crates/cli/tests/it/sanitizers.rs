//! Programs built with the compilers' sanitizers: when recorded, they have the same behaviour,
//! output and findings as bare, and no others.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::native::skipped;
use crate::project::{WORKSPAN, bare, printed, read, said, trace_of};
use workspan_toolchains::CLANG_VERSIONS;

/// The flags of a sanitizer, and which of its messages count.
struct Sanitizer {
    flags: &'static [&'static str],
    name: &'static str,
}

const ADDRESS: Sanitizer = Sanitizer {
    flags: &["-fsanitize=address"],
    name: "AddressSanitizer",
};
const THREAD: Sanitizer = Sanitizer {
    flags: &["-fsanitize=thread"],
    name: "ThreadSanitizer",
};
const UNDEFINED: Sanitizer = Sanitizer {
    flags: &["-fsanitize=undefined", "-fno-sanitize-recover=undefined"],
    name: "runtime error",
};

/// Compiles a source of the repository with a sanitizer; `None` where the compiler has none (its
/// runtime is a package of its own).
fn compiled(compiler: &str, source: &str, sanitizer: &Sanitizer, folder: &Path) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let stem = Path::new(source).file_stem().unwrap().to_string_lossy();
    let program = folder.join(format!("{stem}-{compiler}-{}", sanitizer.flags[0]));
    let built = Command::new(compiler)
        .args([
            "-g",
            "-O1",
            "-fopenmp",
            "-pthread",
            "-fno-omit-frame-pointer",
        ])
        .args(sanitizer.flags)
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join(source))
        .arg("-o")
        .arg(&program)
        .output()
        .ok()?;
    // A runtime may be there and not go with this kernel.
    let starts = || {
        bare(&program)
            .output()
            .is_ok_and(|o| o.status.code().is_some())
    };
    (built.status.success() && starts()).then_some(program)
}

/// The compilers whose sanitizer works, with the program each made; the others are said to be
/// skipped.
fn everywhere(test: &str, source: &str, sanitizer: &Sanitizer, folder: &Path) -> Vec<PathBuf> {
    let versions = CLANG_VERSIONS.rev().map(|v| format!("clang-{v}"));
    let clangs = std::iter::once("clang".to_owned()).chain(versions);
    // A sanitizer may be there for another version than OpenMP is.
    let sets = [vec!["gcc".to_owned()], clangs.collect()];
    let mut programs = Vec::new();
    for names in sets {
        let mut made = names
            .iter()
            .filter_map(|name| compiled(name, source, sanitizer, folder));
        match made.next() {
            Some(program) => programs.push(program),
            None => skipped(
                test,
                &format!("no {} with {}", names[0], sanitizer.flags[0]),
            ),
        }
    }
    programs
}

fn recorded(program: &Path, arguments: &[&str], flags: &[&str], folder: &Path) -> Output {
    bare(WORKSPAN)
        .current_dir(folder)
        .args(["record", "--no-report"])
        .args(flags)
        .arg("--")
        .arg(program)
        .args(arguments)
        .output()
        .unwrap()
}

/// What a sanitizer says in one line at its end: what it found, without the addresses and process
/// numbers of the run.
fn found(output: &Output, sanitizer: &Sanitizer) -> Vec<String> {
    let said = said(output);
    said.lines()
        .filter(|line| line.contains(sanitizer.name))
        .filter(|line| line.starts_with("SUMMARY") || line.contains("come first"))
        .map(|line| line.split(" in ").next().unwrap_or(line).to_owned())
        .collect()
}

/// Bare and recorded: the same output, the same end, the same findings; the recorded run's trace is
/// readable.
fn same(program: &Path, arguments: &[&str], sanitizer: &Sanitizer, tasks: usize) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let alone = bare(program).args(arguments).output().unwrap();
    let output = recorded(program, arguments, &[], folder.path());
    let all = said(&output);
    assert_eq!(printed(&output), printed(&alone), "{all}");
    assert_eq!(output.status.code(), alone.status.code(), "{all}");
    assert_eq!(found(&output, sanitizer), found(&alone, sanitizer), "{all}");
    let dag = read(&trace_of(&output, folder.path()));
    assert!(dag.tasks.len() > tasks, "{} tasks", dag.tasks.len());
    output
}

#[test]
fn a_sound_program_is_found_sound_when_recorded() {
    let test = "a_sound_program_is_found_sound_when_recorded";
    let folder = tempfile::tempdir().unwrap();
    for sanitizer in [ADDRESS, THREAD, UNDEFINED] {
        for program in everywhere(test, "examples/pool.c", &sanitizer, folder.path()) {
            let output = same(&program, &[], &sanitizer, 50);
            assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        }
    }
}

#[test]
fn openmp_tasks_are_found_sound_when_recorded() {
    let test = "openmp_tasks_are_found_sound_when_recorded";
    let folder = tempfile::tempdir().unwrap();
    let source = "crates/cli/tests/fixtures/native/overflows.c";
    // The runtimes' own threads are not built for the thread sanitizer: it takes their barriers for
    // races, bare too.
    for sanitizer in [ADDRESS, UNDEFINED] {
        for program in everywhere(test, source, &sanitizer, folder.path()) {
            let output = same(&program, &[], &sanitizer, 64);
            assert_eq!(printed(&output), "85344\n");
        }
    }
}

#[test]
fn a_write_out_of_bounds_is_still_found_and_leaves_a_trace() {
    let test = "a_write_out_of_bounds_is_still_found_and_leaves_a_trace";
    let folder = tempfile::tempdir().unwrap();
    let source = "crates/cli/tests/fixtures/native/overflows.c";
    for program in everywhere(test, source, &ADDRESS, folder.path()) {
        let output = same(&program, &["beyond"], &ADDRESS, 50);
        assert!(
            said(&output).contains("heap-buffer-overflow"),
            "{}",
            said(&output)
        );
    }
}

#[test]
fn what_a_followed_program_starts_may_have_a_sanitizer() {
    let test = "what_a_followed_program_starts_may_have_a_sanitizer";
    let folder = tempfile::tempdir().unwrap();
    for program in everywhere(test, "examples/pool.c", &ADDRESS, folder.path()) {
        let shell = Path::new("/bin/sh");
        let command = format!("{} && echo after", program.display());
        let output = recorded(shell, &["-c", &command], &["--follow"], folder.path());
        assert!(
            printed(&output).ends_with("primes\nafter\n"),
            "{}",
            said(&output)
        );
        assert_eq!(output.status.code(), Some(0));
    }
}
