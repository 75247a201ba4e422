//! Accidents of a real program, bare and recorded. When recorded, it has the same output and the
//! same end as bare, and leaves a trace that is readable up to the accident and says what is
//! missing (docs/reliability.md).

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::native::{skipped, try_compile};
use crate::project::{WORKSPAN, bare, printed, read, said, trace_of};
use workspan_dag::Dag;

/// The program that has accidents.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
        let flags = ["-I", include.to_str().unwrap(), "-pthread"];
        let program = try_compile("cc", "accidents.c", folder.path(), &flags)
            .expect("a C compiler, as linking Rust programs takes one");
        (folder, program)
    });
    program
}

/// A run of the program, recorded.
struct Run {
    folder: tempfile::TempDir,
    output: Output,
}

/// Runs `accidents HOW COUNT FILE` bare and recorded, and compares the two.
fn both(how: &str, count: u64) -> Run {
    both_with(how, count, &[], &[])
}

/// Does this with flags for `record`, and with environment variables.
fn both_with(how: &str, count: u64, flags: &[&str], environment: &[(&str, &Path)]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let count = count.to_string();
    let run = |command: &mut Command, own: &str| {
        let own = folder.path().join(own);
        command.current_dir(folder.path());
        command.envs(environment.iter().copied());
        command.arg(how).arg(&count).arg(own);
        command.output().unwrap()
    };
    let (alone, output) = std::thread::scope(|scope| {
        let alone = scope.spawn(|| run(&mut bare(program()), "own-bare"));
        let record = ["record", "--no-report"];
        let mut recorded = bare(WORKSPAN);
        recorded.args(record).args(flags).arg("--").arg(program());
        let output = run(&mut recorded, "own");
        (alone.join().unwrap(), output)
    });
    let ends = |output: &Output| {
        let status = output.status;
        (printed(output), status.code(), status.signal())
    };
    assert_eq!(ends(&output), ends(&alone), "{how}: {}", said(&output));
    Run { folder, output }
}

impl Run {
    fn trace(&self) -> PathBuf {
        trace_of(&self.output, self.folder.path())
    }

    fn dag(&self) -> Dag {
        read(&self.trace())
    }

    /// The output of `workspan info`, on one line.
    fn info(&self) -> String {
        let output = bare(WORKSPAN)
            .arg("info")
            .arg(self.trace())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        printed(&output)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Number of tasks created at the line with this mark in the program.
    fn tasks_at(&self, mark: &str) -> usize {
        tasks_at(&self.dag(), mark)
    }
}

fn tasks_at(dag: &Dag, mark: &str) -> usize {
    let source = include_str!("../fixtures/native/accidents.c");
    let line = source.lines().position(|l| l.contains(mark)).unwrap() as u32 + 1;
    let of_line = |task: &usize| dag.places[dag.tasks.site[*task] as usize].line == Some(line);
    (0..dag.tasks.len()).filter(of_line).count()
}

const CREATE: &str = "CREATE = WORKSPAN_HERE";
const LAST: &str = "LAST = WORKSPAN_HERE";
const CUT: &str = "was killed or ended by _exit or exec";

#[test]
fn killed_aborted_or_faulted_inside_a_task() {
    for (how, signal) in [("kill", 9), ("abort", 6), ("fault", 11)] {
        let run = both(how, 20_000);
        assert_eq!(run.output.status.signal(), Some(signal));
        assert_eq!(run.tasks_at(CREATE), 20_000, "{how}");
        assert_eq!(run.tasks_at(LAST), 1, "{how}");
        let info = run.info();
        assert!(info.contains(CUT) && info.contains("2 task(s)"), "{info}");
        assert!(
            info.contains(&format!("killed by signal {signal}")),
            "{info}"
        );
    }
}

/// Reused chunks and their restarts also leave an intact trace.
#[test]
fn killed_while_the_last_seconds_are_kept() {
    for (ring, all) in [("1h", true), ("20ms", false)] {
        let run = both_with("kill", 400_000, &["--ring", ring], &[]);
        assert_eq!(run.output.status.signal(), Some(9));
        let tasks = run.tasks_at(CREATE);
        assert_eq!(tasks == 400_000, all, "{ring}: {tasks}");
        assert!(tasks > 0 && run.tasks_at(LAST) == 1, "{ring}: {tasks}");
        assert!(run.info().contains("killed by signal 9"), "{}", run.info());
    }
}

#[test]
fn a_stack_that_overflows() {
    let run = both("overflow", 5_000);
    assert_eq!(run.output.status.signal(), Some(11));
    assert_eq!(run.tasks_at(CREATE), 5_005);
    assert_eq!(run.tasks_at(LAST), 1);
    assert!(run.info().contains(CUT));
}

#[test]
fn an_exit_while_all_threads_are_inside_of_tasks() {
    for (how, code) in [("exit", 6), ("_exit", 7)] {
        let run = both(how, 1_000);
        assert_eq!(run.output.status.code(), Some(code));
        assert!(run.tasks_at(CREATE) >= 1_000, "{how}");
        assert_eq!(run.tasks_at(LAST), 1, "{how}");
        assert_eq!(run.info().contains(CUT), how == "_exit", "{how}");
    }
}

#[test]
fn forked_children_do_not_write_into_the_parents_trace() {
    let run = both("fork", 3_000);
    assert_eq!(run.tasks_at(CREATE), 3_030);
    let info = run.info();
    assert!(info.contains("forked children 3"), "{info}");
    assert!(!info.contains(CUT), "{info}");
}

#[test]
fn an_exec_ends_the_trace_and_one_that_fails_does_not() {
    let run = both("exec", 3_000);
    assert_eq!(printed(&run.output), "before\nstill here\nexecuted\n");
    assert_eq!((run.tasks_at(CREATE), run.tasks_at(LAST)), (3_000, 1));
    assert!(run.info().contains(CUT));
}

#[test]
fn a_limit_of_the_size_of_files() {
    let run = both("limit", 200_000);
    let tasks = run.tasks_at(CREATE);
    assert!((1_000..200_000).contains(&tasks), "{tasks}");
    let info = run.info();
    assert!(info.contains("lost, because the disk was full"), "{info}");
}

#[test]
fn no_memory_is_left() {
    let run = both("memory", 200_000);
    assert_eq!(printed(&run.output), "nothing left\nfreed\n");
    let tasks = run.tasks_at(CREATE);
    assert!((10..600_020).contains(&tasks), "{tasks}");
    let info = run.info();
    assert!(info.contains("because memory ran out"), "{info}");
}

#[test]
fn no_file_handles_are_left_and_none_of_the_programs_was_taken() {
    let run = both("handles", 50_000);
    // Four threads and the main one, with chunks that were set aside when no handle was left.
    assert_eq!(run.tasks_at(CREATE), 250_000);
    assert!(!run.info().contains("lost"), "{}", run.info());
}

#[test]
fn the_recorders_file_is_closed_by_the_program() {
    let run = both("closed", 50_000);
    assert!(printed(&run.output).ends_with("4 bytes\nafter\n"));
    let own = fs::read(run.folder.path().join("own")).unwrap();
    assert_eq!(own, b"mine", "nothing was recorded into the program's file");
    assert_eq!(run.tasks_at(CREATE), 200_000);
}

#[test]
fn workers_appear_and_vanish() {
    let run = both("vanish", 20);
    // Three on each thread, and those of the cancelled one.
    assert_eq!(run.tasks_at(CREATE), 125);
    assert_eq!(run.tasks_at(LAST), 21);
    assert!(!run.info().contains(CUT));
}

#[test]
fn many_short_lived_threads_take_little_room_each() {
    let long = std::env::var_os("WORKSPAN_LONG").is_some();
    let count = if long { 1_000_000 } else { 20_000 };
    // There are at least as many off-CPU intervals as threads, which are not tested here.
    let run = both_with("threads", count, &["--no-perf"], &[]);
    let size = fs::metadata(run.trace()).unwrap().len();
    assert!(size < 300 * count, "{size} bytes");
    assert_eq!(run.tasks_at(CREATE) as u64, count);
    assert!(!run.info().contains("lost"));
}

/// Times pass what 32 bits hold of ticks and of nanoseconds; `WORKSPAN_HOUR` makes it the hour.
#[test]
fn a_program_that_runs_for_long() {
    let hour = std::env::var_os("WORKSPAN_HOUR").is_some();
    let seconds = if hour { 3600 } else { 5 };
    let run = both("long", seconds);
    let dag = run.dag();
    assert_eq!(tasks_at(&dag, LAST) as u64, 10 * seconds);
    assert_eq!(tasks_at(&dag, CREATE) as u64, 1000 * seconds + 20);
    let ticks = dag.strands.end.iter().max().unwrap() - dag.strands.start[0];
    let took = ticks as f64 / dag.meta.ticks_per_second as f64;
    assert!(took >= seconds as f64, "{took} s of {seconds}");
    assert!(ticks > 1 << 32, "{ticks} ticks");
    assert!(!run.info().contains("lost") && !run.info().contains(CUT));
}

/// One recording inside of another: the inner one's program is recorded once.
#[test]
fn a_program_that_is_recorded_by_two() {
    let folder = tempfile::tempdir().unwrap();
    for follow in [None, Some("--follow")] {
        let mut command = bare(WORKSPAN);
        command
            .current_dir(folder.path())
            .arg("record")
            .args(follow);
        command.args(["--no-report", "--"]);
        command.args([WORKSPAN, "record", "--no-report", "-o", "inner.wspan", "--"]);
        let output = command
            .arg(program())
            .args(["clock", "2000"])
            .output()
            .unwrap();
        assert_eq!(printed(&output), "before\nafter\n", "{}", said(&output));
        assert!(output.status.success(), "{}", said(&output));
        let inner = folder.path().join("inner.wspan");
        assert_eq!(tasks_at(&read(&inner), CREATE), 2_000);
        for file in fs::read_dir(folder.path()).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
}

/// The inner recording has a budget of its own: the default, unless it sets one.
#[test]
fn a_recording_in_another_has_its_own_budget() {
    let folder = tempfile::tempdir().unwrap();
    let budget_of = |inner: &[&str]| {
        let mut command = bare(WORKSPAN);
        command.current_dir(folder.path());
        command.args(["record", "--follow", "--no-report", "--max-overhead", "7%"]);
        command.args(["--", WORKSPAN, "record", "--follow", "--no-report"]);
        command.args(inner).args(["--", "sh", "-c"]);
        let output = command.arg("echo $WORKSPAN_MAX_OVERHEAD").output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        printed(&output)
    };
    assert_eq!(budget_of(&[]), "100000:16384\n");
    assert_eq!(budget_of(&["--max-overhead", "3%"]), "30000:8192\n");
}

#[test]
fn two_recordings_at_once_in_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        bare(WORKSPAN)
            .current_dir(folder.path())
            .args(["record", "--no-report", "--"])
            .arg(program())
            .args(["clock", "2000"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let runs: Vec<_> = (0..4).map(|_| start()).collect();
    let mut traces: Vec<PathBuf> = runs
        .into_iter()
        .map(|run| {
            let output = run.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", said(&output));
            let trace = trace_of(&output, folder.path());
            assert_eq!(tasks_at(&read(&trace), CREATE), 2_000);
            trace
        })
        .collect();
    traces.sort();
    traces.dedup();
    assert_eq!(traces.len(), 4, "{traces:?}");
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 4, "nothing but traces");
}

/// A library that is preloaded by the user and turns all clocks back by an hour with each call.
const CLOCKS: &str = "#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    static long hours = 1000000;
    (void)clock;
    now->tv_sec = __atomic_fetch_sub(&hours, 1, __ATOMIC_RELAXED) * 3600;
    now->tv_nsec = 0;
    return 0;
}
";

#[test]
fn a_clock_that_is_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (
        folder.path().join("clocks.c"),
        folder.path().join("clocks.so"),
    );
    fs::write(&source, CLOCKS).unwrap();
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .unwrap();
    assert!(status.success());
    let started = std::time::Instant::now();
    let run = both_with("clock", 1_000, &[], &[("LD_PRELOAD", &library)]);
    let most = started.elapsed().as_secs_f64();
    let dag = run.dag();
    if dag.meta.time_unit == workspan_dag::TimeUnit::Ns {
        skipped(
            "a_clock_that_is_set_back",
            "the CPU's counter is not used here",
        );
        return;
    }
    let end = dag.strands.end.iter().max().unwrap();
    let seconds = *end as f64 / dag.meta.ticks_per_second as f64;
    // The program slept for 50 ms of it.
    assert!((0.045..most).contains(&seconds), "{seconds} s of {most} s");
}

/// A file system of one megabyte, for as long as it lives.
struct Small(tempfile::TempDir);

impl Small {
    fn mount() -> Option<Small> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "none"])
            .arg(folder.path())
            .output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        mounted.then_some(Small(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk() {
    let Some(disk) = Small::mount() else {
        skipped("a_full_disk", "no file system of our own can be mounted");
        return;
    };
    let output = bare(WORKSPAN)
        .current_dir(disk.0.path())
        .args(["record", "--no-report", "--"])
        .arg(program())
        .args(["", "300000"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(printed(&output), "before\nafter\n");
    let trace = trace_of(&output, disk.0.path());
    let dag = read(&trace);
    assert!((1_000..300_000).contains(&dag.tasks.len()));
    let is_warned = |what: &str| dag.meta.warnings.iter().any(|w| w.contains(what));
    assert!(
        is_warned("lost, because the disk was full"),
        "{:?}",
        dag.meta.warnings
    );
    let left: Vec<_> = fs::read_dir(disk.0.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
