//! Time off the CPU is not work (MODEL.md §2): real programs, recorded as root and as an ordinary
//! user, with the kernel's context switches and with the threads' own statistics.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use crate::native;
use crate::project::{Project, WORKSPAN, bare, printed, read, said, trace_of};
use serde_json::Value;

/// An ordinary user's id: that of `nobody` on most systems.
const USER: &str = "65534";
/// Maximum number of attempts: other programs share the machine, and a run that they spoiled is
/// repeated.
const TRIES: usize = 3;

/// How a program is recorded.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    user: bool,
    perf: bool,
}

/// Shared by the cases: copies of the tool and the program that any user may start.
struct Place {
    _folder: tempfile::TempDir,
    tool: PathBuf,
    program: PathBuf,
}

impl Place {
    /// Where the trace and the tool's cache go.
    fn home(&self, user: bool) -> PathBuf {
        self.program.with_file_name(if user { "1" } else { "0" })
    }
}

fn place() -> &'static Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| {
        let project = Project::new("waiter");
        let output = project.cargo_workspan(&["build", "-q"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let text = said(&output);
        let line = text.lines().find(|l| l.contains("record a program from"));
        let (_, path) = line.unwrap().rsplit_once("workspan record -- ").unwrap();
        let built = path.trim_matches('\'').replace("PROGRAM", "waiter");
        let folder = tempfile::tempdir().unwrap();
        allow(folder.path());
        let (tool, program) = (folder.path().join("workspan"), folder.path().join("waiter"));
        fs::copy(WORKSPAN, &tool).unwrap();
        fs::copy(project.root.join(built), &program).unwrap();
        for user in ["0", "1"] {
            fs::create_dir(folder.path().join(user)).unwrap();
        }
        if is_root() {
            let user = USER.parse().ok();
            std::os::unix::fs::chown(folder.path().join("1"), user, user).unwrap();
        }
        Place {
            _folder: folder,
            tool,
            program,
        }
    })
}

fn allow(folder: &Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
}

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    status
        .lines()
        .any(|l| l.starts_with("Uid:") && l.split_whitespace().nth(2) == Some("0"))
}

/// A recorded run: the trace, and what was printed with the long report, in one line.
struct Run {
    trace: PathBuf,
    text: String,
}

impl Case {
    /// Records one of the program's ways, started by the words in `before`.
    fn record(self, before: &[&str], way: &str) -> Run {
        let place = place();
        let mut words: Vec<&str> = Vec::new();
        if self.user && is_root() {
            words.extend([
                "setpriv",
                "--reuid",
                USER,
                "--regid",
                USER,
                "--clear-groups",
            ]);
        }
        words.extend(before.iter().copied().chain(place.tool.to_str()));
        words.push("record");
        if !self.perf {
            words.push("--no-perf");
        }
        let home = place.home(self.user);
        let trace = home.join("t.wspan");
        let mut command = bare(words[0]);
        command.args(&words[1..]).arg("-o").arg(&trace).arg("--");
        command.arg(&place.program).arg(way).current_dir(&home);
        let output = command.env("XDG_CACHE_HOME", &home).output().unwrap();
        assert!(output.status.success(), "{}: {}", self.name, said(&output));
        assert_eq!(printed(&output), format!("{way} done\n"));
        let long = bare(WORKSPAN)
            .args(["report", "--long"])
            .arg(&trace)
            .output();
        let text = said(&output) + &printed(&long.unwrap());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Run { trace, text }
    }
}

impl Run {
    fn json(&self, options: &[&str]) -> Value {
        let output = bare(WORKSPAN)
            .args(["report", "--json"])
            .args(options)
            .arg(&self.trace)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn number(report: &Value, path: &str) -> f64 {
    let value = report.pointer(path).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("no {path} in {report:#}"))
}

/// Tries again if other programs disturbed the run.
fn settles(mut attempt: impl FnMut() -> Result<(), String>) {
    let failures: Vec<String> = (0..TRIES).map_while(|_| attempt().err()).collect();
    assert!(failures.len() < TRIES, "{failures:#?}");
}

fn holds(condition: bool, what: impl Fn() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what()) }
}

/// Prints around the test harness, which captures the output of passing tests.
fn skipped(case: Case, why: &str) {
    let line = format!("skipped: {}{why}\n", case.name);
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// All that must be seen in one case, or why it can't be.
fn check(case: Case) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    if !case.user && !is_root() {
        skipped(case, ": the tests do not run as root");
        return;
    }
    let first = case.record(&[], "receive");
    let estimates = "Off-CPU times are estimates: sums per chunk of records from schedstat";
    if case.perf && first.text.contains("context switches can't be watched") {
        assert!(
            first
                .text
                .contains("kernel.perf_event_paranoid of 2 or less, or CAP_PERFMON, allows it")
                || !first.text.contains("Permission denied"),
            "{}",
            first.text
        );
        skipped(case, ": the kernel refuses perf events");
        return;
    }
    if !case.perf && first.text.contains("Off-CPU times are not known") {
        skipped(case, ": this kernel keeps no schedstat");
        return;
    }
    assert_eq!(first.text.contains(estimates), !case.perf, "{}", first.text);
    settles(|| waiting_for_messages_is_no_work(case));
    settles(|| a_slow_reader_has_two_spans(case));
    settles(|| off_the_cpu_is_what_the_kernel_says(case, &[]));
    if Path::new("/usr/bin/taskset").exists() {
        settles(|| off_the_cpu_is_what_the_kernel_says(case, &["taskset", "-c", "0"]));
    } else {
        skipped(case, ", on one CPU: no taskset");
    }
}

fn waiting_for_messages_is_no_work(case: Case) -> Result<(), String> {
    let report = case.record(&[], "receive").json(&[]);
    let work = number(&report, "/work");
    let blocked = number(&report, "/work_with_blocked") - work;
    // Two tasks of a length; the main thread waits for one of them at least.
    holds(blocked > 0.4 * work, || {
        format!("work {work}, blocked {blocked}")
    })?;
    let span = number(&report, "/span");
    holds(span < 0.75 * work, || format!("work {work}, span {span}"))
}

fn a_slow_reader_has_two_spans(case: Case) -> Result<(), String> {
    let run = case.record(&[], "read");
    let report = run.json(&[]);
    let (span, with_blocked) = (
        number(&report, "/span"),
        number(&report, "/span_with_blocked"),
    );
    holds(with_blocked > 2.0 * span, || {
        format!("spans {span}, {with_blocked}")
    })?;
    let work = number(&report, "/work");
    let all = number(&report, "/work_with_blocked");
    // 300 ms of pauses, less what the reader computes meanwhile.
    let pauses = 0.2 * number(&report, "/ticks_per_second");
    holds(all - work > pauses, || format!("work {work}, {all}"))?;
    holds(run.text.contains("with blocked time)"), || run.text.clone())?;

    let counted = run.json(&["--count-blocked"]);
    assert_eq!(counted["span"], report["span_with_blocked"]);
    assert_eq!(counted["work"], report["work_with_blocked"]);
    assert!(number(&report, "/breakdown/recording") > 0.0);
    let raw = run.json(&["--raw"]);
    assert!(number(&raw, "/work") > work, "{raw:#}");
    assert_eq!(number(&raw, "/breakdown/recording"), 0.0);
    Ok(())
}

/// Two workers, with a CPU each or not, and other programs that compute there: each thread's own
/// CPU clock gives the expected values.
fn off_the_cpu_is_what_the_kernel_says(case: Case, before: &[&str]) -> Result<(), String> {
    let run = case.record(before, "shared");
    let took = fs::read_to_string(run.trace.with_file_name("took.txt")).unwrap();
    let took: Vec<f64> = took
        .split_whitespace()
        .map(|time| time.parse::<f64>().unwrap() / 1e9)
        .collect();
    let (on, off, longer) = (took[0], took[1], took[2]);
    let report = run.json(&[]);
    let seconds = |path| number(&report, path) / number(&report, "/ticks_per_second");
    for (path, expected, within) in [
        ("/work", on, 0.1 * on),
        ("/breakdown/descheduled", off, 0.1 * (on + off)),
        // Without perf, sums are spread over both halves that a thread ran one after the other.
        ("/span", longer, if case.perf { 0.1 } else { 0.3 } * longer),
    ] {
        let is = seconds(path);
        holds((is - expected).abs() < within, || {
            format!("{path} {is} s, by the threads' own clocks {expected} s, {before:?}")
        })?;
    }
    Ok(())
}

#[test]
fn as_root_with_perf() {
    check(Case {
        name: "as_root_with_perf",
        user: false,
        perf: true,
    });
}

#[test]
fn as_root_without_perf() {
    check(Case {
        name: "as_root_without_perf",
        user: false,
        perf: false,
    });
}

#[test]
fn as_an_ordinary_user_with_perf() {
    check(Case {
        name: "as_an_ordinary_user_with_perf",
        user: true,
        perf: true,
    });
}

#[test]
fn as_an_ordinary_user_without_perf() {
    check(Case {
        name: "as_an_ordinary_user_without_perf",
        user: true,
        perf: false,
    });
}

/// The kernel refuses perf events to every user: the threads' own statistics replace them, and all
/// worker time is still accounted for.
fn refused(name: &'static str, user: bool) {
    if !user && !is_root() {
        native::skipped(name, "the tests do not run as root");
        return;
    }
    let folder = place().program.parent().unwrap();
    let Some(program) = native::try_compile("gcc", "refuses.c", folder, &[]) else {
        native::skipped(name, "no gcc, or no headers of the kernel");
        return;
    };
    let wrapper = folder.join(name);
    fs::rename(program, &wrapper).unwrap();
    // EACCES, EPERM, ENOSYS: as by kernel.perf_event_paranoid, in a container, in a kernel without.
    for (error, remedy) in [
        (
            "13",
            "kernel.perf_event_paranoid of 2 or less, or CAP_PERFMON, allows it",
        ),
        (
            "1",
            "kernel.perf_event_paranoid of 2 or less, or CAP_PERFMON, allows it",
        ),
        ("38", "this kernel or container has no perf events"),
    ] {
        let case = Case {
            name,
            user,
            perf: true,
        };
        let run = {
            let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
            case.record(&[wrapper.to_str().unwrap(), error], "receive")
        };
        if run.text.contains("Off-CPU times are not known") {
            native::skipped(name, "this kernel keeps no schedstat");
            return;
        }
        assert!(
            run.text.contains("Off-CPU times are estimates")
                && run.text.contains("context switches can't be watched")
                && run.text.contains(remedy),
            "{error}: {}",
            run.text
        );
        let report = run.json(&[]);
        let parts = report["breakdown"].as_object().unwrap();
        let sum: u64 = [
            "work",
            "descheduled",
            "blocked",
            "recording",
            "delay",
            "no_work_sched",
            "no_work_app",
        ]
        .iter()
        .map(|part| {
            parts[*part]
                .as_u64()
                .unwrap_or_else(|| panic!("{part} of {parts:?}"))
        })
        .sum();
        let elapsed = number(&report, "/elapsed") as u64;
        assert_eq!(
            sum,
            number(&report, "/workers") as u64 * elapsed,
            "{report:#}"
        );
        // Its main thread waits for the others, which the statistics know.
        assert!(
            number(&report, "/work_with_blocked") > number(&report, "/work"),
            "{report:#}"
        );
        fs::remove_file(&run.trace).unwrap();
    }
}

#[test]
fn as_root_with_perf_refused() {
    refused("as_root_with_perf_refused", false);
}

#[test]
fn as_an_ordinary_user_with_perf_refused() {
    refused("as_an_ordinary_user_with_perf_refused", true);
}

#[test]
fn an_unoptimised_program_is_said_to_be_one() {
    let said_of = |fixture: &str, way: &[&str]| {
        let project = Project::new(fixture);
        let mut command = project.cargo_workspan(&["run", "-q", "--"]);
        let output = command.args(way).output().unwrap();
        let text = said(&output);
        let trace = trace_of(&output, &project.root);
        let warnings = read(&trace).meta.warnings;
        fs::remove_file(trace).unwrap();
        (
            text.split_whitespace().collect::<Vec<_>>().join(" "),
            warnings,
        )
    };
    let expected = "The program was built without optimisation (profile dev, opt-level 0)";
    let (text, warnings) = said_of("sorter", &["exit", "0"]);
    assert!(text.contains(expected), "{text}");
    assert!(
        warnings.iter().any(|w| w.starts_with(expected)),
        "{warnings:?}"
    );
    // Its dev profile has opt-level 1.
    let (text, warnings) = said_of("waiter", &["receive"]);
    assert!(!text.contains("optimisation"), "{text}");
    assert!(
        !warnings.iter().any(|w| w.contains("optimisation")),
        "{warnings:?}"
    );
}
