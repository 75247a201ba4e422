//! `workspan record` as a program's supervisor: the exit code is the program's even if the reader
//! of workspan's output is gone; signals reach the program; and no signal loses a trace silently.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use crate::native::try_compile;
use crate::project::{WORKSPAN, bare, printed, read, said};

fn program() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
        let flags = ["-I", include.to_str().unwrap()];
        let program = try_compile("cc", "supervised.c", folder.path(), &flags);
        let program = program.expect("a C compiler, as linking Rust programs takes one");
        (folder, program)
    });
    program
}

/// `workspan record -o FOLDER/run.wspan -- PROGRAM ARGUMENTS`.
fn record(folder: &Path, arguments: &[&str]) -> Command {
    // With all signals heeded: who runs the tests may have some ignored, as a shell does for what
    // it puts into the background.
    let mut command = bare("env");
    command.current_dir(folder);
    command.args(["--default-signal", WORKSPAN]);
    command.args(["record", "--max-overhead", "off", "-o", "run.wspan", "--"]);
    command.arg(program()).args(arguments);
    command
}

/// A pipe without a reader.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn the_exit_code_is_the_programs_when_stderr_can_not_be_written() {
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    for (name, stderr) in [
        ("a closed pipe", closed_pipe as fn() -> Stdio),
        ("a full disk", full),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = record(folder.path(), &["tasks", "100", "7"]);
        let status = command
            .stdout(Stdio::null())
            .stderr(stderr())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(7), "{name}");
        read(&folder.path().join("run.wspan"));
        // A failure is reported by the exit code of an error, not of a panic.
        for command in ["report", "info", "html"] {
            let mut failing = bare(WORKSPAN);
            failing
                .args([command, "no such file"])
                .stdout(Stdio::null());
            let status = failing.stderr(stderr()).status().unwrap();
            assert_eq!(status.code(), Some(1), "{command}, {name}");
        }
        // A refused counter is reported before the program starts.
        let mut counted = bare(WORKSPAN);
        counted
            .args(["record", "--no-report", "-o"])
            .arg(folder.path().join("run.wspan"));
        counted
            .args(["--counters", "cycles,page-faults", "--"])
            .arg(program());
        counted.args(["tasks", "10", "3"]);
        let status = counted
            .stdout(Stdio::null())
            .stderr(stderr())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(3), "{name}");
    }
}

fn kill(child: &Child, signal: &str) {
    let pid = child.id().to_string();
    let killed = Command::new("kill").args(["-s", signal, &pid]).status();
    assert!(killed.unwrap().success(), "kill -s {signal}");
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    line
}

/// Each of these signals would end `workspan` without the program. There is no terminal here, so
/// SIGINT can't have come from one.
#[test]
fn signals_to_workspan_reach_the_program() {
    let signals = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("USR1", 10),
        ("ALRM", 14),
        ("TERM", 15),
        ("STKFLT", 16),
        ("XCPU", 24),
        ("VTALRM", 26),
        ("PROF", 27),
        ("IO", 29),
        ("PWR", 30),
        ("RTMIN", 34),
    ];
    for (name, number) in signals {
        let folder = tempfile::tempdir().unwrap();
        let mut command = record(folder.path(), &["signal", &number.to_string()]);
        // Out of the foreground of the terminal that runs the tests.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert_eq!(line, format!("ready {number}\n"));
        kill(&child, name);
        lines.read_line(&mut line).unwrap();
        assert!(line.ends_with(&format!("got {number}\n")), "{name}: {line}");
        assert_eq!(child.wait().unwrap().code(), Some(5), "{name}");
        assert!(folder.path().join("run.wspan").is_file(), "{name}");
    }
}

/// As `nohup` and `trap ''` have it.
#[test]
fn an_ignored_signal_stays_ignored_in_the_program() {
    for (name, number) in [("HUP", "1"), ("INT", "2"), ("USR1", "10")] {
        let folder = tempfile::tempdir().unwrap();
        let mut shell = bare("sh");
        shell.current_dir(folder.path());
        let script = format!("trap '' {name}; exec \"$@\"");
        shell.args([
            "-c",
            &script,
            "sh",
            WORKSPAN,
            "record",
            "--no-report",
            "-o",
            "run.wspan",
            "--",
        ]);
        shell.arg(program()).args(["ignores", number]);
        let output = shell.output().unwrap();
        assert_eq!(printed(&output), "ignored 1\n", "{name}: {}", said(&output));
    }
}

/// What became of a recording that got a signal some time after the program had ended.
struct Ended {
    status: ExitStatus,
    said: String,
    left: Vec<String>,
}

fn signalled(signal: &str, times: u32, after: Duration) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let mut command = record(folder.path(), &["tasks", "300000", "3"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(first_line(&mut child), "done 300000\n");
    std::thread::sleep(after);
    for _ in 0..times {
        kill(&child, signal);
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    let status = child.wait().unwrap();
    let entries = fs::read_dir(folder.path()).unwrap();
    let left: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    if left.iter().any(|name| name == "run.wspan") {
        read(&folder.path().join("run.wspan"));
    }
    Ended { status, said, left }
}

fn nothing_is_lost(signal: &str, times: u32, after: Duration) {
    let ended = signalled(signal, times, after);
    let about = format!(
        "{times} {signal} after {after:?}: {:?}, left {:?}, said {}",
        ended.status, ended.left, ended.said
    );
    let written = ended.left == ["run.wspan"];
    let place_told = ended.left.iter().any(|name| {
        ended
            .said
            .contains(&format!("{name}, and `workspan report`"))
    });
    assert!(written || place_told, "{about}");
    if times == 1 {
        assert!(written, "{about}");
        assert!(ended.said.contains("the trace is run.wspan"), "{about}");
    }
    // The program's own code, or an end by that signal.
    let by_signal = ended
        .status
        .signal()
        .is_some_and(|s| [1, 2, 3, 15].contains(&s));
    assert!(ended.status.code() == Some(3) || by_signal, "{about}");
}

#[test]
fn a_signal_while_the_trace_is_written_loses_nothing() {
    for (signal, times, after) in [
        ("TERM", 1, 10),
        ("INT", 1, 30),
        ("HUP", 1, 90),
        ("QUIT", 1, 60),
        ("TERM", 2, 20),
        ("USR1", 1, 20),
    ] {
        nothing_is_lost(signal, times, Duration::from_millis(after));
    }
}

#[test]
#[ignore = "takes a minute"]
fn no_signal_at_any_time_loses_a_trace() {
    for round in 0..60_u64 {
        let signal = ["TERM", "INT", "HUP", "QUIT", "USR1", "ALRM"][round as usize % 6];
        let times = 1 + (round as u32 / 6) % 2;
        nothing_is_lost(signal, times, Duration::from_millis(round * 37 % 400));
    }
}
