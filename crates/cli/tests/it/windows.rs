//! Parts of runs: `--delay`, `--duration`, `--ring`, and SIGUSR2 to `workspan record`.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::native;
use crate::project::{WORKSPAN, bare, printed, read, said, trace_of};
use workspan_dag::Dag;

fn program(folder: &Path) -> PathBuf {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let flags = ["-I", include.to_str().unwrap(), "-pthread"];
    native::compile("cc", "accidents.c", folder, &flags)
}

/// `workspan record FLAGS -- accidents steady COUNT`: COUNT tasks of a millisecond or more, one
/// after the other. Further arguments are numbers of tasks after which the program prints a line
/// and waits for its input.
fn steady(folder: &Path, flags: &[&str], count: &str) -> Command {
    let mut command = bare(WORKSPAN);
    command.current_dir(folder).args(["record", "--no-report"]);
    command.args(flags).arg("--").arg(program(folder));
    command.args(["steady", count]);
    command
}

fn recorded(folder: &Path, flags: &[&str], count: &str) -> Output {
    let output = steady(folder, flags, count).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(printed(&output), "before\nsteady\n");
    output
}

fn tasks(dag: &Dag) -> usize {
    let root = workspan_dag::TaskKind::Root;
    dag.tasks.kind.iter().filter(|&&kind| kind != root).count()
}

fn seconds(dag: &Dag) -> f64 {
    let end = dag.strands.end.iter().max().copied().unwrap_or(0);
    end as f64 / dag.meta.ticks_per_second as f64
}

fn part(dag: &Dag) -> &str {
    let mut facts = dag.meta.facts.iter();
    let (_, part) = facts.find(|(key, _)| key == "part of the run").unwrap();
    part
}

#[test]
fn after_a_delay_and_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--delay", "300ms", "--duration", "0.4"];
    let output = recorded(folder.path(), &flags, "1000");
    let dag = read(&trace_of(&output, folder.path()));
    assert_eq!(part(&dag), "0.300000 s to 0.700000 s after its start");
    // The program runs for a second at least, so all of the part is there, to the tick.
    assert!((seconds(&dag) - 0.4).abs() < 1e-3, "{}", seconds(&dag));
    assert!((1..=400).contains(&tasks(&dag)), "{}", tasks(&dag));
    let warnings = dag.meta.warnings.join(" ");
    assert!(
        warnings.contains("This is a part of the run, from 0.300 s"),
        "{warnings}"
    );
}

#[test]
fn a_program_that_ends_before_the_delay_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let output = recorded(folder.path(), &["--delay", "1h"], "5");
    let dag = read(&trace_of(&output, folder.path()));
    assert_eq!(tasks(&dag), 0);
    let warnings = dag.meta.warnings.join(" ");
    assert!(
        warnings.contains("before the part to keep began"),
        "{warnings}"
    );
}

/// Runs [`steady`] with signals: one after each given number of tasks.
fn signalled(folder: &Path, flags: &[&str], count: &str, after: &[&str]) -> Output {
    let mut command = steady(folder, flags, count);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let command = command.args(after).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut out = started(&mut child);
    for tasks in after {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), *tasks);
        signal(&child, "USR2");
        // It has been handled by then, unless the machine is very busy.
        std::thread::sleep(Duration::from_millis(100));
        input.write_all(b"\n").unwrap();
    }
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "steady\n");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    output
}

/// Reads the program's first line, so that it is known to run.
fn started(child: &mut Child) -> BufReader<std::process::ChildStdout> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "before\n");
    out
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn from_signal_to_signal() {
    let folder = tempfile::tempdir().unwrap();
    let output = signalled(folder.path(), &[], "600", &["150", "300"]);
    let text = said(&output);
    assert!(text.contains("2 parts of the run are kept"), "{text}");
    let mut parts: Vec<Dag> = ["accidents.wspan", "accidents-2.wspan"]
        .map(|name| read(&folder.path().join(name)))
        .into();
    // The line of the run's part: its name, and the number of tasks in it instead of the run's.
    let listed = text.lines().rev().find(|line| line.starts_with("  "));
    let listed: Vec<&str> = listed.unwrap().split_whitespace().collect();
    let other = read(&folder.path().join(listed[0]));
    assert_eq!(listed[1..], [&tasks(&other).to_string(), "tasks"], "{text}");
    parts.sort_by_key(|dag| part(dag).to_owned());
    let ends = |dag: &Dag| -> (f64, f64) {
        let words: Vec<f64> = part(dag)
            .split(' ')
            .filter_map(|w| w.parse().ok())
            .collect();
        (words[0], words[1])
    };
    let ((first, stop), (again, _)) = (ends(&parts[0]), ends(&parts[1]));
    assert!(
        first == 0.0 && stop >= 0.15 && again >= stop + 0.1,
        "{stop} {again}"
    );
    let both: usize = parts.iter().map(tasks).sum();
    assert!(
        (400..=500).contains(&both),
        "{both} of 600 tasks, less those from 150 to 300"
    );
}

#[test]
fn each_signal_keeps_a_part_where_parts_are_triggered() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--ring", "10s", "--on-signal"];
    let output = signalled(folder.path(), &flags, "400", &["100", "200"]);
    let text = said(&output);
    assert!(text.contains("2 parts of it are kept"), "{text}");
    let parts = ["accidents.wspan", "accidents-2.wspan"].map(|name| {
        let dag = read(&folder.path().join(name));
        let mut facts = dag.meta.facts.iter();
        let why = facts.find(|(key, _)| key == "kept because").unwrap();
        assert_eq!(why.1, "SIGUSR2 came");
        tasks(&dag)
    });
    // The recording went on behind the first, and the second has all that lay in the ring.
    assert_eq!(parts, [100, 200]);
}

#[test]
fn signals_while_the_delay_is_not_over() {
    let folder = tempfile::tempdir().unwrap();
    let output = signalled(folder.path(), &["--delay", "1h"], "400", &["100"]);
    let dag = read(&trace_of(&output, folder.path()));
    assert!((250..=300).contains(&tasks(&dag)), "{}", tasks(&dag));
    let left = std::fs::read_dir(folder.path()).unwrap();
    let mut left = left.map(|entry| entry.unwrap().file_name());
    assert!(!left.any(|name| name.to_string_lossy().contains("spool")));
}

#[test]
fn the_programs_own_handler_of_the_signal_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let output = bare(WORKSPAN)
        .current_dir(folder.path())
        .args(["record", "--no-report", "--delay", "1ms", "--"])
        .arg(program(folder.path()))
        .args(["handler", "10"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(printed(&output), "before\nhandled 1\nafter\n");
}

#[test]
fn parts_before_the_first_task() {
    // The first ends before the program's main function begins.
    for (length, expected) in [(1e-6, "Nothing was recorded in this part"), (0.05, "")] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = bare(WORKSPAN);
        let command = command.current_dir(folder.path()).arg("record");
        let command = command.args(["--duration", &length.to_string(), "--"]);
        let command = command.arg(program(folder.path())).args(["late", "1000"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let dag = read(&folder.path().join("accidents.wspan"));
        assert_eq!((tasks(&dag), dag.tasks.len()), (0, 1), "{length}");
        assert!(seconds(&dag) <= length + 1e-3, "{}", seconds(&dag));
        let warnings = dag.meta.warnings.join(" ");
        assert!(warnings.contains(expected), "{length}: {warnings}");
    }
}

#[test]
fn a_part_takes_room_for_itself_alone() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--ring", "200ms"];
    let output = recorded(folder.path(), &flags, "800");
    let dag = read(&trace_of(&output, folder.path()));
    assert!((seconds(&dag) - 0.2).abs() < 1e-3, "{}", seconds(&dag));
    assert!((1..=200).contains(&tasks(&dag)), "{}", tasks(&dag));

    // 4 million tasks are 70 MB of records; where files may be 16 MB there is room for the end of
    // them.
    let program = program(folder.path());
    let run = |flags: &str| {
        let script = format!(
            "ulimit -f 16384; exec '{WORKSPAN}' record --no-report --no-perf {flags} -- '{}' '' 4000000",
            program.display()
        );
        let output = bare("bash")
            .current_dir(folder.path())
            .args(["-c", &script])
            .output();
        let output = output.unwrap();
        assert_eq!(printed(&output), "before\nafter\n", "{}", said(&output));
        read(&trace_of(&output, folder.path()))
    };
    let lost = |dag: &Dag| {
        dag.meta
            .warnings
            .iter()
            .any(|w| w.contains("because the disk was full"))
    };
    assert!(lost(&run("")), "all of it is too much");
    // What comes before and after the part that is asked for is not kept in the file either.
    for flags in ["--ring 20ms", "--duration 20ms", "--delay 1h"] {
        let least = usize::from(!flags.contains("1h"));
        // A busy machine may take all of the first 20 ms before the first task: then another run
        // has some.
        let mut parts = (0..5).map(|_| run(flags));
        let part = parts.find(|part| {
            assert!(!lost(part), "{flags}: {:?}", part.meta.warnings);
            tasks(part) >= least
        });
        let tasks = part.map(|part| tasks(&part));
        let tasks = tasks.unwrap_or_else(|| panic!("{flags}: no task in five runs"));
        assert!(tasks < 4_000_000, "{flags}: {tasks}");
    }
}

#[test]
fn lengths_that_are_none_are_refused() {
    for (flags, expected) in [
        (["--delay", "soon"], "is not a length of time"),
        (["--ring", "-1s"], "value"),
    ] {
        let output = bare(WORKSPAN)
            .arg("record")
            .args(flags)
            .args(["--", "true"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
}
