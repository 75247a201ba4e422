//! Programs in pairs, one with a fault in the whole program and its twin without: the report's
//! first finding about the faulty one names the cause and the line, and names neither for the twin.
//!
//! Findings about the machine (other programs, too many threads where that is not the fault) may
//! come before it. A few pairs are recorded in every run of the tests, all with `--ignored`, ten
//! times each beside threads that keep each CPU busy twice; that prints a table.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::native::{compile, skipped};
use crate::project::{Project, WORKSPAN, bare, said, trace_of};
use serde_json::Value;

/// Where a pair's source is.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Rust,
    C,
    Cpp,
}

struct Pair {
    source: Source,
    name: &'static str,
    /// What the finding may be called.
    causes: &'static [&'static str],
}

const fn pair(source: Source, name: &'static str, causes: &'static [&'static str]) -> Pair {
    Pair {
        source,
        name,
        causes,
    }
}

const PAIRS: [Pair; 25] = [
    pair(Source::Rust, "lock_around_work", &["lock"]),
    pair(Source::Rust, "lock_held_long", &["lock"]),
    pair(Source::Rust, "lock_across_join", &["lock-across-join"]),
    pair(Source::Rust, "reader_writer", &["lock"]),
    pair(Source::Rust, "bounded_channel", &["channel"]),
    pair(Source::Rust, "slow_bridge", &["lock"]),
    pair(Source::Rust, "sleeping_tasks", &["sleep"]),
    pair(Source::Rust, "writing_tasks", &["io", "blocked"]),
    pair(Source::Rust, "serial_start", &["serial-strand"]),
    pair(Source::Rust, "join_each_thread", &["serial-strand"]),
    pair(Source::Rust, "pool_of_one", &["other-pool"]),
    pair(Source::Rust, "two_pools", &["other-pool"]),
    pair(Source::Rust, "too_many_threads", &["oversubscription"]),
    pair(Source::Rust, "one_request_at_a_time", &["serial-strand"]),
    pair(Source::C, "locked", &["lock"]),
    pair(Source::C, "critical", &["lock"]),
    pair(Source::C, "waited", &["lock-across-join"]),
    pair(Source::C, "semaphore", &["channel"]),
    pair(Source::C, "sleeping", &["sleep"]),
    pair(Source::C, "writing", &["io", "blocked"]),
    pair(Source::C, "reading", &["lock"]),
    pair(Source::C, "allocating", &["lock"]),
    pair(Source::Cpp, "guarded", &["lock"]),
    pair(Source::Cpp, "consumer", &["channel", "serial-strand"]),
    pair(Source::Cpp, "joins", &["serial-strand"]),
];

/// Findings about the machine or the runtime.
const OF_THE_MACHINE: [&str; 4] = ["descheduled", "oversubscription", "slow-thief", "none"];

/// The programs, built.
struct Programs {
    folder: tempfile::TempDir,
    rust: Project,
}

impl Programs {
    fn new() -> Programs {
        let folder = tempfile::tempdir().unwrap();
        compile("gcc", "pairs.c", folder.path(), &["-fopenmp", "-pthread"]);
        let made = folder.path().join("pairs");
        std::fs::rename(made, folder.path().join("pairs_c")).unwrap();
        compile("g++", "pairs.cpp", folder.path(), &["-pthread"]);
        Programs {
            folder,
            rust: Project::new("faults"),
        }
    }

    /// Records one program and reads its report.
    fn report(&self, pair: &Pair, kind: &str) -> (Value, String) {
        let (mut command, root) = match pair.source {
            Source::Rust => {
                let words = [
                    "--no-report",
                    "run",
                    "--release",
                    "--",
                    "pair",
                    pair.name,
                    kind,
                ];
                let mut command = self.rust.cargo_workspan(&words);
                command.env("RAYON_NUM_THREADS", "2");
                (command, self.rust.root.clone())
            }
            of => {
                let program = match of {
                    Source::C => "pairs_c",
                    _ => "pairs",
                };
                let mut command = bare(WORKSPAN);
                command.args(["record", "--no-report", "--"]);
                command.arg(self.folder.path().join(program));
                command.args([pair.name, kind]).current_dir(&self.folder);
                (command, self.folder.path().to_owned())
            }
        };
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let trace = trace_of(&output, &root);
        let report = |more: &[&str]| {
            let mut command = bare(WORKSPAN);
            command.arg("report").args(more).arg(&trace);
            let output = command.current_dir(&root).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let json = serde_json::from_str(&report(&["--json"])).unwrap();
        let text = report(&["--color", "never"]);
        std::fs::remove_file(trace).unwrap();
        (json, text)
    }
}

/// The file of a pair's source, and the lines that its comment marks.
fn marked(pair: &Pair) -> (&'static str, Vec<u64>) {
    let (file, source) = match pair.source {
        Source::Rust => ("pairs.rs", include_str!("../fixtures/faults/src/pairs.rs")),
        Source::C => ("pairs.c", include_str!("../fixtures/native/pairs.c")),
        Source::Cpp => ("pairs.cpp", include_str!("../fixtures/native/pairs.cpp")),
    };
    let mark = format!("fault: {}", pair.name);
    let is_marked = |line: &str| {
        let rest = line.split_once(&mark).map(|(_, rest)| rest);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let lines = (1..)
        .zip(source.lines())
        .filter(|(_, line)| is_marked(line));
    (file, lines.map(|(number, _)| number).collect())
}

/// The first finding about the program, in the report's order.
fn first<'a>(pair: &Pair, json: &'a Value) -> Option<&'a Value> {
    let mut findings: Vec<&Value> = json["findings"].as_array().unwrap().iter().collect();
    findings.sort_by_key(|finding| finding["rank"].as_u64());
    let of_program = |finding: &&Value| {
        let id = finding["id"].as_str().unwrap();
        pair.causes.contains(&id) || !OF_THE_MACHINE.contains(&id)
    };
    findings.into_iter().find(of_program)
}

/// Whether a text in the finding, or in the report's sentence about it, is the marked line.
fn names_line(pair: &Pair, finding: &Value, text: &str) -> bool {
    let (file, lines) = marked(pair);
    let words = format!("{finding}{text}");
    lines.iter().any(|line| {
        let name = format!("{file}:{line}");
        let ends = words.split(&name).skip(1);
        let in_words = ends
            .into_iter()
            .any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
        let at = |place: &Value| {
            place["line"] == *line && place["file"].as_str().is_some_and(|f| f.ends_with(file))
        };
        in_words || at(&finding["place"]) || at(&finding["blocked_in"])
    })
}

/// The error in the report about the faulty program; `None` if there is none.
fn missed(pair: &Pair, json: &Value, text: &str) -> Option<String> {
    let Some(found) = first(pair, json) else {
        return Some("no finding about the program".into());
    };
    let id = found["id"].as_str().unwrap();
    if !pair.causes.contains(&id) {
        return Some(format!("first finding {id}"));
    }
    if !names_line(pair, found, text) {
        return Some("another line".into());
    }
    (!text.contains("Remedy:")).then(|| "no remedy".into())
}

/// The share of the workers' time, in percent, that findings about the marked lines charge to the
/// pair's causes; of the time in which no worker waited for a CPU, if that share is larger.
fn blamed(pair: &Pair, json: &Value) -> f64 {
    let all = json["elapsed"].as_f64().unwrap() * json["workers"].as_f64().unwrap();
    let findings = json["findings"].as_array().unwrap().iter();
    let is_named = |finding: &&Value| {
        let is_of = pair.causes.iter().any(|cause| finding["id"] == *cause);
        is_of && names_line(pair, finding, "")
    };
    let charged = findings.filter(is_named).map(|finding| {
        let lost = 100.0 * finding["lost"].as_f64().unwrap() / all;
        lost.max(finding["undisturbed_percent"].as_f64().unwrap_or(0.0))
    });
    charged.sum()
}

/// Maximum share, in percent, that the variant without the fault may lose to the pair's cause,
/// because it takes a lock too.
const SILENT: f64 = 10.0;

#[test]
fn a_fault_is_named_and_its_twin_is_not_blamed() {
    if !cfg!(target_arch = "x86_64") {
        return skipped("pairs", "waits are logged on x86-64 alone");
    }
    let programs = Programs::new();
    let some = [
        "reader_writer",
        "join_each_thread",
        "reading",
        "joins",
        "consumer",
    ];
    for pair in PAIRS.iter().filter(|pair| some.contains(&pair.name)) {
        // While other tests run, the threads may run one at a time.
        let mut said = Vec::new();
        let named = (0..5).any(|_| {
            let (json, text) = programs.report(pair, "fault");
            let missed = missed(pair, &json, &text);
            let is_named = missed.is_none();
            said.extend(missed.map(|why| format!("{why}\n{text}")));
            is_named
        });
        assert!(named, "{}:\n{}", pair.name, said.join("\n"));
        // While other tests run, a task may wait for the other one's time on a CPU.
        let blamed: Vec<f64> = (0..3)
            .map(|_| blamed(pair, &programs.report(pair, "twin").0))
            .take_while(|share| *share >= SILENT)
            .collect();
        assert!(blamed.len() < 3, "{}: twin, {blamed:?} %", pair.name);
    }
}

/// Threads that keep each CPU busy twice while this lives.
struct Load(std::sync::Arc<AtomicBool>);

impl Load {
    fn new() -> Load {
        let ends = std::sync::Arc::new(AtomicBool::new(false));
        let cpus = std::thread::available_parallelism().unwrap().get();
        for _ in 0..2 * cpus {
            let ends = std::sync::Arc::clone(&ends);
            std::thread::spawn(move || {
                while !ends.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Load(ends)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
#[ignore = "records 25 pairs 10 times on an idle and on a busy machine: 20 minutes"]
fn all_faults_are_named_on_a_busy_machine_too() {
    let programs = Programs::new();
    let mut table = String::from(
        "| pair | idle | busy | twin silent, idle | busy | else |\n|---|---|---|---|---|---|\n",
    );
    let mut worst = 10;
    let rounds: usize = std::env::var("WORKSPAN_TEST_ROUNDS").map_or(10, |n| n.parse().unwrap());
    let only = std::env::var("WORKSPAN_TEST_PAIR").unwrap_or_default();
    for pair in PAIRS.iter().filter(|pair| pair.name.contains(&only)) {
        let mut why: Vec<String> = Vec::new();
        let (mut named, mut silent) = ([0; 2], [0; 2]);
        for busy in [0, 1] {
            let _load = (busy == 1).then(Load::new);
            for _ in 0..rounds {
                let (json, text) = programs.report(pair, "fault");
                match missed(pair, &json, &text) {
                    None => named[busy] += 1,
                    Some(missed) => why.push(missed),
                }
                let (json, _) = programs.report(pair, "twin");
                silent[busy] += usize::from(blamed(pair, &json) < SILENT);
            }
        }
        why.sort_unstable();
        why.dedup();
        let row = format!(
            "| `{}` | {}/{rounds} | {}/{rounds} | {}/{rounds} | {}/{rounds} | {} |",
            pair.name,
            named[0],
            named[1],
            silent[0],
            silent[1],
            why.join(", ")
        );
        eprintln!("{row}");
        writeln!(table, "{row}").unwrap();
        worst = worst.min(named[0]);
    }
    println!("{table}");
    assert!(worst * 10 >= rounds * 9, "{table}");
}
