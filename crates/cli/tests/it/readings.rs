//! Reports of real programs must not depend on how the trace is read, and the commands that they
//! suggest must print the promised values.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::native;
use crate::project::{Project, WORKSPAN, bare, printed, said};
use serde_json::Value;

/// A recorded program.
struct Run {
    name: String,
    trace: PathBuf,
}

/// Ways of the fixture `faults`.
const WAYS: [&str; 9] = [
    "serial", "uneven", "fine", "spawns", "mutex", "sleepy", "threads", "pools", "many",
];

/// Records all programs once. The folder has a space in its name, as some users' have.
fn runs() -> &'static [Run] {
    static RUNS: OnceLock<(tempfile::TempDir, Vec<Run>)> = OnceLock::new();
    let (_, runs) = RUNS.get_or_init(|| {
        let folder = tempfile::Builder::new()
            .prefix("runs of ")
            .tempdir()
            .unwrap();
        let project = Project::new("faults");
        let build = ["build", "-q", "--release"];
        let built = project.cargo_workspan(&build).output().unwrap();
        let text = said(&built);
        assert!(built.status.success(), "{text}");
        let (_, path) = text.rsplit_once("workspan record -- ").unwrap();
        let path = path.trim().trim_matches('\'').replace("PROGRAM", "faults");
        let faults = project.root.join(path);
        let mut runs: Vec<Run> = WAYS
            .iter()
            .map(|way| {
                let options = ["--max-overhead", "off"];
                record(folder.path(), way, &faults, &[way], &options)
            })
            .collect();
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
        let flag = format!("-I{}", include.display());
        let tiny = native::compile("gcc", "tiny.c", folder.path(), &[&flag]);
        runs.push(record(
            folder.path(),
            "fib",
            &tiny,
            &["22"],
            &["--max-overhead", "off"],
        ));
        runs.push(record(
            folder.path(),
            "loops",
            &tiny,
            &["14", "-1", "500"],
            &[],
        ));
        for compiler in native::openmp_compilers("readings") {
            let program = native::compile(&compiler, "short.c", folder.path(), &["-fopenmp"]);
            let options = ["--max-overhead", "off"];
            let name = format!("openmp-{}", compiler.replace('/', "-"));
            runs.push(record(folder.path(), &name, &program, &["20"], &options));
        }
        (folder, runs)
    });
    runs
}

fn record(folder: &Path, name: &str, program: &Path, words: &[&str], options: &[&str]) -> Run {
    let trace = folder.join(format!("{name}.wspan"));
    let output = bare(WORKSPAN)
        .args(["record", "--no-report", "-o"])
        .arg(&trace)
        .args(options)
        .arg("--")
        .arg(program)
        .args(words)
        .env("RAYON_NUM_THREADS", "2")
        .env("OMP_NUM_THREADS", "2")
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: {}", said(&output));
    Run {
        name: name.to_owned(),
        trace,
    }
}

impl Run {
    fn report(&self, options: &[&str]) -> String {
        let mut command = bare(WORKSPAN);
        let output = command
            .arg("report")
            .args(options)
            .arg(&self.trace)
            .output();
        let output = output.unwrap();
        assert!(
            output.status.success(),
            "{} {options:?}: {}",
            self.name,
            said(&output)
        );
        printed(&output)
    }

    fn json(&self, options: &[&str]) -> Value {
        serde_json::from_str(&self.report(&[options, &["--json"]].concat())).unwrap()
    }
}

/// Words as a shell splits them.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted) = (None::<String>, false);
    for c in text.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

const OPTIONS_WITH_VALUE: [&str; 9] = [
    "--site",
    "--lines",
    "--lock",
    "--region",
    "--block",
    "--metric",
    "--burden",
    "--grain",
    "--workers",
];
const OPTIONS_WITHOUT: [&str; 6] = [
    "--subtree",
    "--raw",
    "--count-blocked",
    "--full",
    "--no-index",
    "--allow-truncated",
];

/// The number that a report promises, and the words of the `whatif` command that must print it.
fn promise(report: &str) -> Option<(String, Vec<String>)> {
    let joined = report.split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, command) = joined.split_once(": workspan whatif ")?;
    let (_, number) = before.rsplit_once("the parallelism would be ")?;
    let mut rest = words(command).into_iter();
    let mut found = vec![rest.next()?];
    while let Some(option) = rest.next() {
        match option.as_str() {
            o if OPTIONS_WITH_VALUE.contains(&o) => found.extend([option, rest.next()?]),
            o if OPTIONS_WITHOUT.contains(&o) => found.push(option),
            _ => break,
        }
    }
    Some((number.to_owned(), found))
}

#[test]
fn suggested_commands_print_what_reports_of_real_programs_promise() {
    let mut kept = 0;
    for run in runs() {
        for options in [
            &[][..],
            &["--full"],
            &["--grain", "20us"],
            &["--raw"],
            &["--count-blocked"],
            &["--burden", "500"],
        ] {
            let report = run.report(&[options, &["--long"]].concat());
            let json = run.json(options);
            let Some((number, command)) = promise(&report) else {
                assert!(
                    json["suggestion"].is_null(),
                    "{} {options:?}: {report}",
                    run.name
                );
                continue;
            };
            kept += 1;
            let output = bare(WORKSPAN)
                .arg("whatif")
                .args(&command)
                .args(["--factors", "2"])
                .output()
                .unwrap();
            let context = format!("{} {options:?}, {command:?}: {}", run.name, said(&output));
            assert!(output.status.success(), "{context}");
            let text = printed(&output);
            let row = text.lines().find(|l| l.trim_start().starts_with("2x"));
            let row = row.unwrap_or_else(|| panic!("{context}{text}"));
            let is_there = row.split_whitespace().any(|word| word == number);
            assert!(is_there, "{context}promised {number}:\n{text}");

            // The promise in the JSON report, through a shell.
            let words = json["suggestion"]["options"].as_array().unwrap();
            let words: Vec<&str> = words.iter().map(|w| w.as_str().unwrap()).collect();
            // The JSON report has the options of reading next to the file.
            let reading = match options {
                ["--full"] | ["--grain", _] => options,
                _ => &[],
            };
            let line = [
                &["\"$0\" whatif \"$1\" --factors 2 --json"],
                &words[..],
                reading,
            ]
            .concat();
            let line = line.join(" ");
            let mut shell = Command::new("sh");
            let output = shell
                .args(["-c", &line, WORKSPAN])
                .arg(&run.trace)
                .output()
                .unwrap();
            assert!(output.status.success(), "{line}: {}", said(&output));
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            let promised = &json["suggestion"]["what_if"]["span"];
            assert_eq!(&answer["all"][0]["span"], promised, "{} {line}", run.name);
        }
    }
    assert!(kept >= 6, "{kept}");
}

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or(0.0)
}

/// The findings: cause, site, and the share of the loss.
fn findings(report: &Value) -> Vec<(String, f64)> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|f| {
            (
                format!("{} {}", f["id"], f["place"]["site"]),
                number(f, "/lost_percent"),
            )
        })
        .collect()
}

/// The ready path goes through folded strands as a whole, so shares of the loss may differ by this
/// many percentage points.
const MOST_APART: f64 = 4.0;

#[test]
fn findings_are_the_same_task_by_task_and_through_the_fold() {
    for run in runs() {
        let full = run.json(&["--full"]);
        let uncertain = |of: &str| number(&full, &format!("/{of}_uncertainty"));
        for grain in ["10us", "50us", "1ms"] {
            let folded = run.json(&["--grain", grain]);
            let about = format!("{}, {grain}", run.name);
            for of in ["work", "span", "burdened_span"] {
                let (a, b) = (
                    number(&full, &format!("/{of}")),
                    number(&folded, &format!("/{of}")),
                );
                let most = 0.01 * a + uncertain(of).min(0.1 * a) + 1.0;
                assert!((a - b).abs() <= most, "{about}: {of} {a} and {b}, ± {most}");
            }
            for of in ["tasks", "spawns", "syncs"] {
                assert_eq!(
                    number(&full, &format!("/{of}")),
                    number(&folded, &format!("/{of}")),
                    "{about}: {of}"
                );
            }
            let (a, b) = (findings(&full), findings(&folded));
            for (one, other) in [(&a, &b), (&b, &a)] {
                for (what, share) in one {
                    // Several of one cause may be at one place.
                    let mut there = other
                        .iter()
                        .filter(|o| o.0 == *what)
                        .map(|o| o.1)
                        .peekable();
                    // A finding near the threshold may be in only one of the two.
                    let is_there = match there.peek() {
                        Some(_) => there.any(|there| (there - share).abs() <= MOST_APART),
                        None => *share < 10.0 + MOST_APART,
                    };
                    assert!(is_there, "{about}: {what} {share} %\n{a:?}\n{b:?}");
                }
            }
            // The time of a task may differ by the uncertainty that the two reports state, which
            // they do from a tenth on.
            for finding in full["findings"].as_array().unwrap() {
                let of = |f: &Value| number(f, "/evidence/task_ticks");
                let error = |f: &Value| number(f, "/evidence/task_ticks_error");
                let site = |f: &Value| (f["id"].clone(), f["place"]["site"].clone());
                let same = |f: &&Value| site(f) == site(finding);
                let other = folded["findings"].as_array().unwrap().iter().find(same);
                if let Some(other) = other {
                    let (a, b) = (of(finding), of(other));
                    let error = (error(finding) + error(other)).max(0.1 * a);
                    let most = 0.05 * a + error + 1.0;
                    assert!(
                        (a - b).abs() <= most,
                        "{about}: {a} and {b} ticks a task, ± {most}"
                    );
                }
            }
        }
    }
}

#[test]
fn no_row_of_a_report_is_more_critical_than_it_works() {
    for run in runs() {
        for options in [&["--full"][..], &["--grain", "100us"], &[]] {
            let report = run.json(options);
            let span = number(&report, "/span");
            // The work of a row inside folded subtrees has the same uncertainty as the work.
            let open = number(&report, "/work_uncertainty") / number(&report, "/work").max(1.0);
            let mut critical = 0.0;
            for site in report["sites"].as_array().unwrap() {
                let mut of_site = 0.0;
                for block in site["blocks"].as_array().unwrap() {
                    let (work, path) = (number(block, "/work"), number(block, "/critical_work"));
                    assert!(
                        path <= (1.01 + open) * work + 10.0,
                        "{} {options:?}: {block:#}",
                        run.name
                    );
                    of_site += path;
                }
                let of = number(site, "/critical_work");
                assert!(
                    (of - of_site).abs() <= 1.0,
                    "{} {options:?}: {site:#}",
                    run.name
                );
                critical += of;
            }
            assert!(
                (critical - span).abs() <= 1.0,
                "{} {options:?}: {critical} of {span}",
                run.name
            );
        }
    }
}
