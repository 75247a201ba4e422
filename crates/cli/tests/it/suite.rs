//! The suite: `workspan bench suite` builds, runs and keeps it; every program prints the same on
//! every runtime, and its tasks are the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::native;

const WORKSPAN: &str = env!("CARGO_BIN_EXE_workspan");

/// Runtimes of the C++ programs, by name on the command line. The first one tells its tasks by
/// workspan.h from one thread.
const RUNTIMES: [&str; 4] = ["serial", "libgomp", "libomp", "onetbb"];

/// All 21 programs.
const PROGRAMS: usize = 21;

/// Measured parts of a run of all at size test: fft measures its way back, too.
const PARTS: usize = PROGRAMS + 1;

/// Their tasks depend on the schedule, as they prune by what was found so far.
const SCHEDULE_DEPENDENT: &str = "floorplan";

/// `workspan bench suite` with a cache of its own below `folder`.
fn bench(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(WORKSPAN)
        .args(["bench", "suite", "--size", "test", "--workers", "2"])
        .arg("--no-reports")
        .arg("--folder")
        .arg(folder.join("suite"))
        .args(arguments)
        .env("XDG_CACHE_HOME", folder)
        .env("WORKSPAN_NO_PERF", "1")
        .output()
        .unwrap()
}

/// The program that was built for a runtime; of the serial elision the one that is recorded.
fn built(folder: &Path, runtime: &str) -> PathBuf {
    let tool = std::fs::read_dir(folder.join("workspan")).unwrap();
    let mut bench = tool.map(|entry| entry.unwrap().path().join("bench/cpp"));
    let bench = bench.find(|path| path.is_dir()).unwrap();
    let programs = std::fs::read_dir(bench).unwrap();
    let named = programs.map(|entry| entry.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(&format!("{runtime}-"))
    });
    let mut programs: Vec<PathBuf> = named.map(|path| path.join("suite")).collect();
    if programs.len() > 1 {
        // The symbols of workspan.h's functions are in one of them.
        programs.retain(|path| {
            let bytes = std::fs::read(path).unwrap();
            let name = b"workspan_open_group";
            bytes.windows(name.len()).any(|window| window == name)
        });
    }
    assert_eq!(programs.len(), 1, "{runtime}: {programs:?}");
    programs.remove(0)
}

fn printed(program: &Path, workers: &str) -> String {
    let mut run = Command::new(program);
    run.args(["all", "--size", "test", "--workers", workers]);
    let output = run.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// How many tasks each spawn site of the suite's files has, in a run of all programs that marks
/// what it measures.
fn sites(trace: &Path) -> BTreeMap<String, u64> {
    let report = Command::new(WORKSPAN)
        .args(["report", "--json"])
        .arg(trace)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let parts = report["parts"].as_array().unwrap();
    let marked: Vec<_> = parts.iter().map(|p| (&p["part"], &p["count"])).collect();
    assert_eq!(marked, [(&"measured".into(), &PARTS.into())], "{trace:?}");
    let mut found = BTreeMap::new();
    for site in report["sites"].as_array().unwrap() {
        let Some(file) = site["file"].as_str() else {
            continue;
        };
        let name = file.rsplit('/').next().unwrap();
        // suite.h opens the parallel region: its implicit tasks are OpenMP's own.
        if name != "suite.h" && !name.starts_with(SCHEDULE_DEPENDENT) {
            let place = format!("{name}:{}", site["line"]);
            found.insert(place, site["count"].as_u64().unwrap());
        }
    }
    found
}

/// How many tasks of each file are at each depth below the suite's tasks, and how many joins of
/// each file's tasks there are by the number of tasks that they join.
const GRAPH: &str = "
with recursive
  own(task, parent, file, counts) as (
    select t.task, t.parent, replace(s.file, rtrim(s.file, replace(s.file, '/', '')), ''),
      t.parent is not null and s.file is not null
        and s.file not like '%suite.h' and s.file not like '%floorplan%'
    from tasks t left join sites s on s.site = t.site),
  depths(task, depth, file, counts) as (
    select task, counts, file, counts from own where parent is null
    union all
    select own.task, depths.depth + own.counts, own.file, own.counts from own
      join depths on own.parent = depths.task)
select 'tasks' what, file, depth size, count(*) number from depths where counts group by file, depth
union all
select 'joins', file, joined, count(*) from (
  select own.file, e.target, count(*) joined from edges e
    join strands st on st.strand = e.source join own on own.task = st.task
    where e.kind = 'end' and own.counts group by own.file, e.target)
  group by file, joined
order by 1, 2, 3";

type Graph = BTreeMap<(String, String, u64), u64>;

fn graph(trace: &Path) -> Graph {
    let rows = Command::new(WORKSPAN)
        .arg("sql")
        .arg(trace)
        .args([GRAPH, "--format", "csv"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&rows.stderr);
    assert!(rows.status.success(), "{said}");
    let rows = String::from_utf8(rows.stdout).unwrap();
    let row = |row: &str| {
        let cells: Vec<&str> = row.split(',').collect();
        let number = |at: usize| cells[at].parse::<u64>().unwrap();
        let key = (cells[0].to_owned(), cells[1].to_owned(), number(2));
        (key, number(3))
    };
    rows.lines().skip(1).map(row).collect()
}

/// OpenMP's wait is one for all children of a task, and its barrier joins what is left.
fn compared(runtime: &str, graph: Graph) -> Graph {
    let is_openmp = runtime.ends_with("omp");
    let same = graph.into_iter();
    same.filter(|((what, ..), _)| !(is_openmp && what == "joins"))
        .collect()
}

/// The sites and the graph of all programs, run on two workers.
fn recorded(program: &Path, folder: &Path) -> (BTreeMap<String, u64>, Graph) {
    let trace = folder.join("suite.wspan");
    let record = Command::new(WORKSPAN)
        .args(["record", "--no-report", "--max-overhead", "off", "-o"])
        .arg(&trace)
        .arg("--")
        .arg(program)
        .args(["all", "--size", "test", "--workers", "2"])
        .env("WORKSPAN_NO_PERF", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&record.stderr);
    assert!(record.status.success(), "{said}");
    let found = (sites(&trace), graph(&trace));
    std::fs::remove_file(&trace).unwrap();
    found
}

#[test]
fn all_programs_have_the_same_results_and_tasks_on_every_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let mut here = Vec::new();
    for runtime in RUNTIMES {
        let output = bench(
            folder.path(),
            &["--only", "fib", "--runtime", runtime, "--no-record"],
        );
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            here.push(runtime);
        } else {
            // A missing runtime is skipped, but a suite that does not compile is an error.
            assert!(said.contains("can't be used here"), "{runtime}: {said}");
            assert!(said.contains("; sudo apt-get install "), "{said}");
            native::skipped(&format!("the suite on {runtime}"), said.trim());
        }
    }
    let mut first: Option<(String, BTreeMap<String, u64>, Graph)> = None;
    for runtime in &here {
        let program = built(folder.path(), runtime);
        let lines = printed(&program, "2");
        assert_eq!(lines, printed(&program, "4"), "{runtime}: 4 workers");
        let (tasks, graph) = recorded(&program, folder.path());
        let (expected, sites, shape) =
            first.get_or_insert_with(|| (lines.clone(), tasks.clone(), graph.clone()));
        assert_eq!(*expected, lines, "{runtime}");
        assert_eq!(*sites, tasks, "{runtime}: tasks by spawn site");
        assert_eq!(
            compared(runtime, shape.clone()),
            compared(runtime, graph),
            "{runtime}: tasks by depth, and joins"
        );
    }
    let Some((lines, tasks, graph)) = first else {
        return;
    };
    // fib(20) goes down 6 calls, of which the second stays in its task: 6 over k tasks at depth k.
    let fib = |depth: u64| graph[&("tasks".to_owned(), "fib.h".to_owned(), depth)];
    assert_eq!([1, 2, 3, 4, 5, 6].map(fib), [6, 15, 20, 15, 6, 1]);
    assert_eq!(lines.lines().count(), PROGRAMS);
    // Numbers that follow from the arguments: fib(20) to depth 6, 12 proteins, 10 x 10 blocks'
    // steps.
    let count = |file: &str| -> u64 {
        let of_file = tasks.iter().filter(|(site, _)| site.starts_with(file));
        of_file.map(|(_, count)| count).sum()
    };
    assert_eq!(count("fib.h"), 63);
    assert_eq!(count("alignment.h"), 66);
    assert_eq!(count("uts.h"), 524);
    assert_eq!(count("strassen.h"), 56);
    assert_eq!(count("swaptions.h"), 31);
    assert!(lines.contains("nqueens(8) = 92\n"), "{lines}");
    the_programs_over_rayon_have_the_same_tasks(&tasks, folder.path());
    kept_turns_are_not_measured_again(folder.path(), &here);
}

/// Turns of the serial elision and one more runtime, first one of each, then two.
fn kept_turns_are_not_measured_again(folder: &Path, here: &[&str]) {
    let runtimes = here[..here.len().min(2)].join(",");
    let both = ["--only", "sort,fib", "--runtime", &runtimes, "--repeat"];
    let run = |repeat: &str| -> String {
        let output = bench(folder, &[&both[..], &[repeat]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        said.into_owned()
    };
    run("1");
    let turn = folder.join(format!("suite/turns/sort-test-{}-1-1.json", here[0]));
    let before = std::fs::read(&turn).unwrap();
    let said = run("2");
    let all = 4 * here.len().min(2);
    assert!(said.contains(&format!(" {all} turns, ")), "{said}");
    assert_eq!(
        before,
        std::fs::read(&turn).unwrap(),
        "it was measured again"
    );
    let suite = std::fs::read(folder.join("suite/suite.json")).unwrap();
    let suite: Value = serde_json::from_slice(&suite).unwrap();
    assert_eq!(
        suite["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|w| w.as_str().unwrap().contains(" on "))
            .count(),
        0,
        "{suite}"
    );
    let benchmarks = suite["benchmarks"].as_array().unwrap();
    let names: Vec<&Value> = benchmarks.iter().map(|b| &b["program"]).collect();
    assert_eq!(names, ["fib", "sort"]);
    for row in benchmarks
        .iter()
        .flat_map(|b| b["rows"].as_array().unwrap())
    {
        assert_eq!(row["bare"].as_array().unwrap().len(), 2, "{row}");
        let says = &row["says"];
        assert!(says["tasks"].as_u64().unwrap() > 60, "{row}");
        assert!(!says["says"].as_str().unwrap().is_empty(), "{row}");
        // Every run's trace is there.
        for trace in row["traces"].as_array().unwrap() {
            let trace = folder.join("suite").join(trace.as_str().unwrap());
            assert!(trace.exists(), "{trace:?}");
        }
    }
    let page = std::fs::read_to_string(folder.join("suite/index.html")).unwrap();
    assert!(page.contains("<tbody id=\"sort-2\">") && page.contains("<svg "));
    let csv = std::fs::read_to_string(folder.join("suite/suite.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + all / 2, "{csv}");
    the_fastest_run_has_a_viewer(folder, here[0]);
}

/// Uses the kept turns of one program, without measuring.
fn the_fastest_run_has_a_viewer(folder: &Path, runtime: &str) {
    let output = Command::new(WORKSPAN)
        .args(["bench", "suite", "--size", "test", "--workers", "2"])
        .args(["--only", "fib", "--repeat", "2", "--runtime", runtime])
        .arg("--folder")
        .arg(folder.join("suite"))
        .env("XDG_CACHE_HOME", folder)
        .env("WORKSPAN_NO_PERF", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let suite = std::fs::read(folder.join("suite/suite.json")).unwrap();
    let suite: Value = serde_json::from_slice(&suite).unwrap();
    let row = &suite["benchmarks"][0]["rows"][0];
    let report = row["report"].as_str().unwrap_or_else(|| panic!("{suite}"));
    let html = std::fs::read_to_string(folder.join("suite").join(report)).unwrap();
    assert!(html.starts_with("<!doctype html>"), "{report}");
    let page = std::fs::read_to_string(folder.join("suite/index.html")).unwrap();
    // It opens at the measured part.
    let link = format!("href=\"{report}#v=1&amp;tab=timeline&amp;t=");
    assert!(page.contains(&link), "{page}");
}

/// What the report of each benchmark may say first of its measured part (`--only part:measured`),
/// at size small on two workers. Which of them it is depends on the schedule: workers that go to
/// sleep (`slow-thief`, `blocked`) and the cost of a steal against a task's length (`grain-fine`)
/// differ by runtime and load. What the structure rules out is in no set: a tree of tasks has no
/// serial strand, no loop of one creator, no lock. Where preemption and waiting for preempted
/// workers took a quarter of the worker time, other programs lead, and nothing may be said of this
/// one. Where a set does not have ``, nothing may be said only of a part that lost less than
/// [`LITTLE`], and the row says so.
const FIRST: [(&str, &[&str]); 21] = [
    ("alignment", LOOPS),
    ("fft", TREE),
    ("fib", TREE),
    ("floorplan", TREE),
    // Patients change lists under the lock of a village.
    ("health", &["grain-fine", "slow-thief", "blocked", "lock"]),
    ("nqueens", TREE),
    ("sort", TREE),
    ("sparselu", LOOPS),
    ("strassen", SERIAL),
    (
        "uts",
        &["grain-fine", "bounded-queue", "slow-thief", "blocked"],
    ),
    ("blackscholes", TREE),
    ("bodytrack", SERIAL),
    ("canneal", LOOPS),
    ("dedup", PIPELINE),
    ("facesim", &["grain-coarse", "slow-thief", "blocked"]),
    ("ferret", PIPELINE),
    ("fluidanimate", TREE),
    ("freqmine", TREE),
    ("raytrace", TREE),
    ("streamcluster", PIPELINE),
    ("swaptions", TREE),
];

/// Percent of the worker time that is worth no finding.
const LITTLE: f64 = 5.0;

/// Nothing, or what a tree or a halved loop of tasks loses to its runtime. OpenMP bounds its
/// queues.
const TREE: &[&str] = &[
    "",
    "grain-fine",
    "grain-coarse",
    "slow-thief",
    "blocked",
    "bounded-queue",
    "restrained-stealing",
];
/// The findings of loops in which one task creates all others.
const LOOPS: &[&str] = &[
    "",
    "grain-fine",
    "grain-coarse",
    "slow-thief",
    "blocked",
    "bounded-queue",
    "restrained-stealing",
    "spawn-loop",
];
/// Serial parts between the parallel ones, with their line; on a busy machine other workers come
/// late.
const SERIAL: &[&str] = &["serial-strand", "slow-thief", "blocked"];
/// Serial stages that run in parallel with other tasks.
const PIPELINE: &[&str] = &[
    "",
    "serial-strand",
    "grain-fine",
    "grain-coarse",
    "slow-thief",
    "blocked",
    "lock",
];

/// Whether a row without a finding says how much was lost: less than [`LITTLE`], or with
/// `may_be_scattered` more without a dominant cause. The machine's load is not counted as the
/// program's loss.
fn says_how_little_was_lost(said: &Value, may_be_scattered: bool) -> bool {
    let parts = said["parts"].as_object().unwrap();
    let counts = |name: &str| !["workers", "elapsed", "oversubscribed"].contains(&name);
    let counted = parts.iter().filter(|part| counts(part.0));
    let all: u64 = counted.map(|part| part.1.as_u64().unwrap()).sum();
    let work = parts["work"].as_u64().unwrap();
    let load = said["lost_to_load"].as_u64().unwrap();
    let percent = 100.0 * (all - work).saturating_sub(load) as f64 / all as f64;
    let text = said["says"].as_str().unwrap();
    let (what, rest) = text.split_once(": ").unwrap();
    let printed = rest.split_once(" % of the worker time lost").unwrap().0;
    let printed: f64 = printed.parse().unwrap();
    let expected = match percent < LITTLE {
        true => "nothing to mend",
        false => "no cause stands out",
    };
    // Both are rounded.
    let agrees = (printed - percent).abs() < 0.11 && (what == expected || printed == LITTLE);
    agrees && (percent < LITTLE || may_be_scattered)
}

#[test]
#[ignore = "takes minutes; with --long"]
fn each_benchmark_says_first_what_its_structure_is_known_for() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(WORKSPAN)
        .args(["bench", "suite", "--size", "small", "--workers", "2"])
        .args(["--repeat", "1", "--no-reports", "--folder"])
        .arg(folder.path().join("suite"))
        .env("XDG_CACHE_HOME", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let suite = std::fs::read(folder.path().join("suite/suite.json")).unwrap();
    let suite: Value = serde_json::from_slice(&suite).unwrap();
    let benchmarks = suite["benchmarks"].as_array().unwrap();
    assert_eq!(benchmarks.len(), FIRST.len());
    let mut wrong = Vec::new();
    for benchmark in benchmarks {
        let program = benchmark["program"].as_str().unwrap();
        let (_, causes) = FIRST.iter().find(|row| row.0 == program).unwrap();
        for row in benchmark["rows"].as_array().unwrap() {
            let cause = row["says"]["cause"].as_str().unwrap_or("");
            let parts = &row["says"]["parts"];
            let time = |part: &str| parts[part].as_u64().unwrap();
            let late = time("delay") + time("descheduled");
            let disturbed = 4 * late > 2 * time("elapsed");
            let is_known = match cause {
                "" => disturbed || says_how_little_was_lost(&row["says"], causes.contains(&"")),
                cause => causes.contains(&cause),
            };
            // The serial elision has one worker, which never waits.
            if row["runtime"] != "serial" && !is_known {
                wrong.push(format!(
                    "{program} on {}: `{cause}` and not one of {causes:?}: {}",
                    row["title"], row["says"]["says"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unknown_names_are_refused_with_the_closest() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, says) in [
        (
            ["--only", "sparcelu"],
            "no program `sparcelu`; did you mean sparselu?",
        ),
        (
            ["--runtime", "tbb"],
            "no runtime `tbb`; did you mean onetbb?",
        ),
    ] {
        let output = bench(folder.path(), &arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(says), "{said}");
    }
}

/// Whether a site `FILE:LINE` of the Rust programs is a join.
fn is_join(site: &str) -> bool {
    let (file, line) = site.split_once(':').unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/src");
    // The recursive loops are in the library.
    let own = sources.join("bin/suite").join(file);
    let text =
        std::fs::read_to_string(own).or_else(|_| std::fs::read_to_string(sources.join(file)));
    let text = text.unwrap_or_else(|error| panic!("{site}: {error}"));
    let line: usize = line.parse().unwrap();
    text.lines().nth(line - 1).unwrap().contains("rayon::join(")
}

/// The Rust programs' tasks are those of the C++ ones, by site in `expected`: file by file where a
/// program creates its tasks itself, in all where the recursive loops of the library do it for it.
fn the_programs_over_rayon_have_the_same_tasks(expected: &BTreeMap<String, u64>, folder: &Path) {
    let trace = folder.join("rayon.wspan");
    let run = Command::new(env!("CARGO_BIN_EXE_cargo-workspan"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .args(["workspan", "--max-overhead", "off", "-o"])
        .arg(&trace)
        .args(["run", "--release", "--package", "workspan-bench"])
        .args(["--bin", "suite", "--", "all", "--size", "test"])
        .args(["--workers", "2"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let mut found = sites(&trace);
    for (site, count) in &mut found {
        // Both sides of a join are tasks, of which the C++ programs have one as a call.
        if is_join(site) {
            assert_eq!(*count % 2, 0, "{site}");
            *count /= 2;
        }
    }
    let by_file = |sites: &BTreeMap<String, u64>| -> BTreeMap<String, u64> {
        let mut files = BTreeMap::new();
        for (site, count) in sites {
            let name = site.split('.').next().unwrap().to_owned();
            *files.entry(name).or_default() += count;
        }
        files
    };
    let (expected, found) = (by_file(expected), by_file(&found));
    for program in [
        "alignment",
        "canneal",
        "dedup",
        "facesim",
        "fib",
        "health",
        "nqueens",
        "raytrace",
        "sort",
        "sparselu",
        "strassen",
        "uts",
    ] {
        assert_eq!(expected.get(program), found.get(program), "{program}");
    }
    assert_eq!(expected.values().sum::<u64>(), found.values().sum::<u64>());
}
