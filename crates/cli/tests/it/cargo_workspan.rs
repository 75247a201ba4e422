//! `cargo workspan` end to end on small projects.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::project::{CARGO_WORKSPAN, Project, WORKSPAN, printed, read, said, sites, trace_of};

/// A script that writes its arguments, one a line, to `log` and then becomes them.
fn runner(folder: &Path, name: &str, log: &Path) -> String {
    let path = folder.join(name);
    let text = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\nshift\nexec \"$@\"\n",
        log.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    printed(&output)
        .lines()
        .find_map(|l| l.strip_prefix("host: "))
        .unwrap()
        .to_owned()
}

#[test]
fn the_program_is_as_without_and_the_report_names_its_line() {
    let project = Project::new("sorter");
    let lock = fs::read(project.root.join("Cargo.lock")).unwrap();
    let run = |args: &[&str]| project.cargo_workspan(args).output().unwrap();

    let output = run(&["run", "--locked", "--", "exit", "7", "a b", "--no-report"]);
    let text = said(&output);
    assert_eq!(
        printed(&output),
        "[\"exit\", \"7\", \"a b\", \"--no-report\"]\n144\n",
        "{text}"
    );
    assert_eq!(output.status.code(), Some(7), "{text}");
    assert!(text.contains("on stderr"), "{text}");
    assert!(
        text.contains("src/lib.rs:5"),
        "no report that names the join:\n{text}"
    );
    assert_eq!(fs::read(project.root.join("Cargo.lock")).unwrap(), lock);

    let trace = trace_of(&output, &project.root);
    assert_eq!(trace.file_name().unwrap(), "sorter.wspan");
    let dag = read(&trace);
    assert_eq!(sites(&dag), ["src/lib.rs:5"]);
    // fib(12) makes 232 joins of two tasks each.
    assert_eq!(
        dag.tasks
            .kind
            .iter()
            .filter(|k| **k != workspan_dag::TaskKind::Root)
            .count(),
        464
    );
    let place = dag
        .places
        .iter()
        .find(|p| p.label == "src/lib.rs:5")
        .unwrap();
    assert_eq!(place.function.as_deref(), Some("fib"));
    assert_eq!(place.primitive.as_deref(), Some("join"));
    assert_eq!(
        place.source.as_deref(),
        Some("let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));")
    );
    assert_eq!(
        dag.meta.runtime.as_deref(),
        Some("Rayon (rayon-core 1.13.0)")
    );
    let fact = |key: &str| {
        dag.meta
            .facts
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(fact("exit status"), Some("7"));
    assert_eq!(
        fact("cargo"),
        Some("cargo run --locked -- exit 7 'a b' --no-report")
    );

    // Second run: nothing is built again, nothing is printed again, nothing is overwritten.
    let again = run(&["run", "--frozen", "--no-report", "--", "exit", "0"]);
    let text = said(&again);
    assert_eq!(again.status.code(), Some(0), "{text}");
    assert!(
        !text.contains("Compiling")
            && !text.contains("building into")
            && !text.contains("src/lib.rs:5"),
        "{text}"
    );
    assert_ne!(trace_of(&again, &project.root), trace);
    assert!(trace.exists());
}

#[test]
fn the_programs_environment_and_input_are_the_users() {
    let project = Project::new("sorter");
    let mut command = project.cargo_workspan(&["run", "-q", "--no-report", "environment"]);
    let output = command
        .env("LD_PRELOAD", "")
        .env("RUSTC_WRAPPER", "")
        .output()
        .unwrap();
    let text = printed(&output);
    assert_eq!(
        text,
        "[\"environment\"]\n144\nLD_PRELOAD=\nRUSTC_WRAPPER=\n".to_owned(),
        "{}",
        said(&output)
    );

    let mut command = project.cargo_workspan(&["run", "-q", "--no-report", "--", "stdin"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"one\ntwo\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        printed(&output),
        "[\"stdin\"]\n144\nread one\nread two\n",
        "{}",
        said(&output)
    );
}

#[test]
fn a_killed_program_leaves_its_trace_and_its_signal() {
    let project = Project::new("sorter");
    let output = project
        .cargo_workspan(&["run", "-q", "--", "abort"])
        .output()
        .unwrap();
    assert_eq!(output.status.signal(), Some(6), "{}", said(&output));
    assert_eq!(
        sites(&read(&trace_of(&output, &project.root))),
        ["src/lib.rs:5"]
    );

    // Ctrl-C: everything in the terminal's foreground gets it. Whoever runs the tests may have the
    // signal ignored, as a shell does for what it puts into the background; then the program
    // ignores it too.
    let mut command = heeding("INT", &project.cargo_workspan(&["run", "-q", "--", "wait"]));
    let mut child = command
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "waiting"));
    let group = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process_group(group, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("src/lib.rs:5"), "{}", said(&output));
    assert_eq!(
        sites(&read(&trace_of(&output, &project.root))),
        ["src/lib.rs:5"]
    );
}

#[test]
fn time_off_the_cpu_is_known_or_said_not_to_be() {
    let project = Project::new("sorter");
    let output = project
        .cargo_workspan(&["run", "-q", "--no-report", "nap"])
        .output()
        .unwrap();
    let dag = read(&trace_of(&output, &project.root));
    if dag
        .meta
        .warnings
        .iter()
        .any(|w| w.starts_with("Off-CPU times are not known: "))
    {
        return;
    }
    let nap = dag.meta.ticks_per_second / 1000 * 60;
    let slept = |off: &workspan_dag::OffCpuInterval| {
        off.why == workspan_dag::OffCpuReason::Blocked && off.end - off.start >= nap
    };
    assert!(
        dag.offs.iter().any(slept),
        "no interval of {nap} ticks in {:?}",
        dag.offs
    );
}

#[test]
fn the_users_own_runner_stays_in_the_chain() {
    let project = Project::new("sorter");
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let host = host();
    let spaced = folder.path().join("with space");
    fs::create_dir(&spaced).unwrap();
    let plain = runner(folder.path(), "plain", &log);
    let spaced = runner(&spaced, "run ner", &log);
    let variable = format!(
        "CARGO_TARGET_{}_RUNNER",
        host.to_uppercase().replace('-', "_")
    );

    let check = |given: &str, args: &[&str], set: Option<(&str, &str)>| {
        let _ = fs::remove_file(&log);
        let mut all = vec!["run", "-q", "--no-report"];
        all.extend(args);
        all.extend(["--", "exit", "3"]);
        let output = project.cargo_workspan(&all).envs(set).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{given}: {}", said(&output));
        let seen = fs::read_to_string(&log)
            .unwrap_or_else(|e| panic!("{given}: the runner did not run: {e}"));
        let seen: Vec<&str> = seen.lines().collect();
        assert_eq!(
            (seen[0], &seen[2..]),
            ("first", &["exit", "3"][..]),
            "{given}"
        );
        assert!(seen[1].ends_with("/sorter"), "{given}: {seen:?}");
        assert_eq!(
            sites(&read(&trace_of(&output, &project.root))),
            ["src/lib.rs:5"],
            "{given}"
        );
    };
    check(
        "environment",
        &[],
        Some((&variable, &format!("{plain} first"))),
    );
    check(
        "cfg",
        &[
            "--config",
            &format!("target.'cfg(unix)'.runner=['{spaced}','first']"),
        ],
        None,
    );
    check(
        "triple, array",
        &[
            "--config",
            &format!("target.{host}.runner=['{spaced}','first']"),
        ],
        None,
    );
    check(
        "triple, string",
        &["--config", &format!("target.{host}.runner='{plain} first'")],
        None,
    );
}

#[test]
fn the_users_own_wrapper_stays_in_the_chain() {
    let project = Project::named("serial", "serial, wrapped");
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let wrapper = folder.path().join("wrap per");
    fs::write(
        &wrapper,
        format!(
            "#!/bin/sh\necho \"$@\" >> '{}'\nexec \"$@\"\n",
            log.display()
        ),
    )
    .unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    // A fresh crate for rustc each time.
    fs::write(
        project.root.join("src/main.rs"),
        format!("fn main() {{}} // {}\n", std::process::id()),
    )
    .unwrap();
    let output = project
        .cargo_workspan(&["build"])
        .env("RUSTC_WRAPPER", &wrapper)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        fs::read_to_string(&log)
            .unwrap()
            .contains("--crate-name serial")
    );
    assert!(
        said(&output).contains("workspan record -- "),
        "{}",
        said(&output)
    );
}

#[test]
fn of_several_processes_the_one_with_most_parallel_work_is_reported() {
    let project = Project::new("sorter");
    let output = project
        .cargo_workspan(&["test", "--no-fail-fast"])
        .output()
        .unwrap();
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(
        printed(&output).contains("test tests::small ... ok"),
        "{}",
        printed(&output)
    );
    let main = text
        .lines()
        .find(|l| l.contains("the one with most parallel work is"))
        .unwrap_or_else(|| panic!("{text}"));
    // Two test programs with tasks, and that of the program without tests.
    assert!(
        main.contains("3 processes were recorded") && main.contains("large.wspan"),
        "{main}"
    );
    assert!(
        text.lines()
            .any(|l| l.contains("/sorter.wspan") && l.ends_with("tasks")),
        "{text}"
    );
    let run = project
        .runs()
        .into_iter()
        .rfind(|run| run.join("large.wspan").exists())
        .unwrap();
    let names: Vec<_> = fs::read_dir(run)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 3, "nothing but traces: {names:?}");
}

/// `cargo workspan` records what it starts: the outer recording records neither cargo nor the
/// program.
#[test]
fn inside_of_a_recording_that_follows_the_program_is_recorded_once() {
    let project = Project::new("sorter");
    let folder = tempfile::tempdir().unwrap();
    let [inner, outer] = ["inner", "outer"].map(|name| folder.path().join(name));
    let mut command = project.command(WORKSPAN);
    command
        .args(["record", "--follow", "--no-report", "-o"])
        .arg(outer.with_extension("wspan"))
        .args(["--", CARGO_WORKSPAN, "workspan", "run", "-q"])
        .args(["--no-report", "-o"])
        .arg(inner.with_extension("wspan"));
    let output = command.args(["--", "x"]).output().unwrap();
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(
        sites(&read(&inner.with_extension("wspan"))),
        ["src/lib.rs:5"]
    );
    let others = ["rustc.wspan", "cargo.wspan", "cargo-workspan.wspan"];
    assert!(others.iter().all(|name| !text.contains(name)), "{text}");
    assert!(sites(&read(&outer.with_extension("wspan"))).is_empty());
}

#[test]
fn the_trace_goes_where_the_user_says() {
    let project = Project::new("sorter");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my trace.wspan");
    let name = file.to_str().unwrap();
    for round in 0..2 {
        let output = project
            .cargo_workspan(&["run", "-q", "-o", name, "--no-report", "x"])
            .output()
            .unwrap();
        assert!(output.status.success(), "round {round}: {}", said(&output));
        assert_eq!(trace_of(&output, &project.root), file);
        assert_eq!(sites(&read(&file)), ["src/lib.rs:5"]);
    }
    let taken = folder.path().join("notes.txt");
    fs::write(&taken, "mine").unwrap();
    for (path, what) in [
        (taken.as_path(), "is not a trace"),
        (folder.path(), "is a directory"),
    ] {
        let output = project
            .cargo_workspan(&["run", "-o", path.to_str().unwrap()])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            said(&output).contains(what) && printed(&output).is_empty(),
            "{}",
            said(&output)
        );
    }
    assert_eq!(fs::read_to_string(taken).unwrap(), "mine");
}

#[test]
fn why_nothing_parallel_was_recorded_is_said() {
    let check = |name: &str, args: &[&str], expected: &[&str]| {
        let project = Project::new(name);
        let output = project.cargo_workspan(args).output().unwrap();
        let text = said(&output);
        assert!(output.status.success(), "{text}");
        for part in expected {
            assert!(text.contains(part), "expected {part:?} in:\n{text}");
        }
    };
    check(
        "sorter",
        &["run", "-q", "--", "serial"],
        &["`sorter` created no Rayon task in this run"],
    );
    check(
        "serial",
        &["run", "-q"],
        &["no rayon-core was built for `serial`"],
    );
    check(
        "old",
        &["run", "-q"],
        &[
            "rayon-core 1.10.2 is not recorded",
            "cargo update -p rayon-core",
        ],
    );
}

#[test]
fn an_unrecorded_rayon_core_beside_a_recorded_one_is_said_while_it_is_there() {
    let project = Project::named("sorter", "sorter and fork");
    let fork = project.root.join("fork");
    fs::create_dir_all(fork.join("src")).unwrap();
    fs::write(fork.join("src/lib.rs"), "pub fn one() {}\n").unwrap();
    let manifest = "[package]\nname = \"rayon-core\"\nversion = \"1.12.9\"\nedition = \"2021\"\n";
    fs::write(fork.join("Cargo.toml"), manifest).unwrap();
    let own = fs::read_to_string(project.root.join("Cargo.toml")).unwrap();
    let lock = fs::read_to_string(project.root.join("Cargo.lock")).unwrap();
    let with = "[dependencies]\nfork = { package = \"rayon-core\", path = \"fork\" }";
    let run = |report: &[&str]| {
        let args = [&["run", "-q", "--offline"], report, &["--", "exit", "0"]].concat();
        let output = project.cargo_workspan(&args).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let warnings = read(&trace_of(&output, &project.root)).meta.warnings;
        let text = said(&output)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        (text, warnings)
    };
    let expected = "This build's Rayon is only partly recorded: rayon-core 1.12.9 at";
    fs::write(
        project.root.join("Cargo.toml"),
        own.replace("[dependencies]", with),
    )
    .unwrap();
    for report in [&[][..], &["--no-report"]] {
        let (text, warnings) = run(report);
        assert!(text.contains(expected), "{report:?}: {text}");
        assert!(
            warnings.iter().any(|w| w.starts_with(expected)),
            "{warnings:?}"
        );
    }
    // The build folder still has the note.
    fs::write(project.root.join("Cargo.toml"), own).unwrap();
    fs::write(project.root.join("Cargo.lock"), lock).unwrap();
    let (text, warnings) = run(&[]);
    assert!(!text.contains("1.12.9"), "{text}");
    assert!(
        !warnings.iter().any(|w| w.contains("1.12.9")),
        "{warnings:?}"
    );
}

#[test]
fn cargos_own_failures_are_cargos() {
    let project = Project::named("sorter", "sorter, failing");
    let output = project
        .cargo_workspan(&["run", "--bin", "none"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(101));
    assert!(
        said(&output).contains("no bin target named `none`"),
        "{}",
        said(&output)
    );
    assert!(!said(&output).contains("recorded"), "{}", said(&output));

    let folder = tempfile::tempdir().unwrap();
    let output = project
        .cargo_workspan(&["run"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(101));
    assert!(
        said(&output).contains("could not find `Cargo.toml`"),
        "{}",
        said(&output)
    );
    assert_eq!(
        project.runs(),
        Vec::<std::path::PathBuf>::new(),
        "no run without a trace stays"
    );
}

/// The same command with its default action for a signal.
fn heeding(signal: &str, command: &Command) -> Command {
    let mut heeding = Command::new("env");
    heeding
        .arg(format!("--default-signal={signal}"))
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => heeding.env(name, value),
            None => heeding.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        heeding.current_dir(folder);
    }
    heeding
}
