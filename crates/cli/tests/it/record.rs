//! `workspan record` on programs that are built already, and on cargo.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{Project, WORKSPAN, bare, printed, read, said, sites, trace_of};

/// The fixture's program, built for recording by `cargo workspan build`.
fn built(project: &Project) -> PathBuf {
    let output = project.cargo_workspan(&["build", "-q"]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let text = said(&output);
    let line = text
        .lines()
        .find(|l| l.contains("record a program from there with"))
        .unwrap();
    let (_, path) = line.rsplit_once("workspan record -- ").unwrap();
    project.root.join(
        path.replace("debug/PROGRAM", "debug/sorter")
            .trim_matches('\''),
    )
}

/// A small program of this system.
fn compiled(folder: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let source = folder.join("plain.rs");
    fs::write(
        &source,
        "fn main() { println!(\"ran\"); std::process::exit(5) }",
    )
    .unwrap();
    let path = folder.join(name);
    let status = bare("rustc")
        .arg(&source)
        .arg("-o")
        .arg(&path)
        .args(flags)
        .status()
        .unwrap();
    assert!(status.success());
    path
}

#[test]
fn a_built_program_is_recorded_and_nothing_overwritten() {
    let project = Project::new("sorter");
    let program = built(&project);
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("my runs");
    fs::create_dir(&here).unwrap();
    let record = |args: &[&str]| {
        let output = bare(WORKSPAN)
            .current_dir(&here)
            .arg("record")
            .args(args)
            .arg("--")
            .arg(&program)
            .args(["exit", "4"])
            .output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", said(&output));
        assert_eq!(printed(&output), "[\"exit\", \"4\"]\n144\n");
        output
    };
    for expected in ["sorter.wspan", "sorter-2.wspan", "sorter-3.wspan"] {
        let trace = trace_of(&record(&[]), &here);
        assert_eq!(trace, here.join(expected));
        // The workspace is found from where the program lies.
        assert_eq!(sites(&read(&trace)), ["src/lib.rs:5"]);
    }
    let named = record(&["--no-report", "-o", "sub.wspan"]);
    assert_eq!(trace_of(&named, &here), here.join("sub.wspan"));
    assert!(!said(&named).contains("src/lib.rs:5"));
    assert_eq!(
        fs::read_dir(&here).unwrap().count(),
        4,
        "nothing but traces"
    );
}

#[test]
fn cargo_commands_are_recorded_as_by_cargo_workspan() {
    let project = Project::new("sorter");
    let mut command = project.command(WORKSPAN);
    command.args([
        "record",
        "-o",
        "from record.wspan",
        "--",
        "cargo",
        "run",
        "-q",
        "--",
        "exit",
        "2",
    ]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let trace = trace_of(&output, &project.root);
    assert_eq!(trace, project.root.join("from record.wspan"));
    assert_eq!(sites(&read(&trace)), ["src/lib.rs:5"]);
    fs::remove_file(trace).unwrap();
}

#[test]
fn a_killed_program_ends_us_by_the_same_signal() {
    let project = Project::new("sorter");
    let program = built(&project);
    let folder = tempfile::tempdir().unwrap();
    let mut command = bare(WORKSPAN);
    command
        .current_dir(folder.path())
        .args(["record", "--"])
        .arg(&program)
        .arg("abort");
    let output = command.output().unwrap();
    assert_eq!(output.status.signal(), Some(6), "{}", said(&output));
    assert_eq!(
        sites(&read(&folder.path().join("sorter.wspan"))),
        ["src/lib.rs:5"]
    );
    for (signal, number) in [("SEGV", 11), ("KILL", 9), ("TERM", 15)] {
        let mut command = bare(WORKSPAN);
        command.current_dir(folder.path()).args([
            "record",
            "--no-report",
            "--",
            "/bin/sleep",
            "60",
        ]);
        let child = command
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // The program itself, once it is there.
        let sleep = loop {
            let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id()))
                .unwrap_or_default();
            let there = children.split_whitespace().find(|pid| {
                fs::read_link(format!("/proc/{pid}/exe"))
                    .is_ok_and(|exe| !exe.ends_with("workspan"))
            });
            match there {
                Some(pid) => break pid.to_owned(),
                None => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        };
        assert!(
            Command::new("kill")
                .args(["-s", signal, &sleep])
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.signal(),
            Some(number),
            "{signal}: {}",
            said(&output)
        );
    }
}

#[test]
fn what_can_not_be_recorded_is_said_before_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.sh");
    fs::write(&script, "#!/bin/sh\necho ran\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let fixed = compiled(folder.path(), "static", &["-Ctarget-feature=+crt-static"]);
    for (program, expected) in [
        (fixed.to_str().unwrap(), "is linked statically"),
        (script.to_str().unwrap(), "is a script (for /bin/sh)"),
        ("./missing", "No such file or directory"),
        ("no-such-program-anywhere", "no such program in PATH"),
        (".", "is a directory"),
    ] {
        let program = if program == "." {
            folder.path().to_str().unwrap()
        } else {
            program
        };
        let output = bare(WORKSPAN)
            .current_dir(folder.path())
            .args(["record", "--", program])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{program}");
        let text = said(&output);
        assert!(
            text.contains(expected) && text.lines().count() == 1,
            "{program}: {text}"
        );
        assert_eq!(printed(&output), "", "{program}: it ran");
    }
    assert!(
        !fs::read_dir(folder.path()).unwrap().any(|e| e
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with('.'))
    );
}

#[test]
fn a_program_without_rayon_runs_and_what_to_do_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "plain", &[]);
    let output = bare(WORKSPAN)
        .current_dir(folder.path())
        .args(["record", "--"])
        .arg(&program)
        .output()
        .unwrap();
    assert_eq!(
        (output.status.code(), printed(&output).as_str()),
        (Some(5), "ran\n")
    );
    let text = said(&output);
    assert!(
        text.contains("nothing parallel was seen in it") && text.contains("cargo workspan build"),
        "{text}"
    );
}

#[test]
fn the_runner_starts_a_static_program_unrecorded_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let fixed = compiled(folder.path(), "static", &["-Ctarget-feature=+crt-static"]);
    let mut command = bare(WORKSPAN);
    command.arg0("workspan-runner").arg(&fixed);
    let output = command
        .env("WORKSPAN_LIBRARY", "/none.so")
        .env("WORKSPAN_SPOOL_DIR", folder.path())
        .output()
        .unwrap();
    assert_eq!(
        (output.status.code(), printed(&output).as_str()),
        (Some(5), "ran\n"),
        "{}",
        said(&output)
    );
    assert!(
        said(&output).contains("is linked statically"),
        "{}",
        said(&output)
    );
    let note = fs::read_to_string(folder.path().join("unrecorded.txt")).unwrap();
    assert!(note.contains("is linked statically"));
}
