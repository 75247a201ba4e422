//! Samples with logical stacks in the formats of other profilers, read back by readers that share
//! no code with the writers.

use std::io::Read;

use serde_json::{Value, json};
use workspan_analysis::{FlameOf, FlameOptions, Options, flame, report};
use workspan_dag::Dag;
use workspan_export::profile::{self, Profile};

use crate::viewers::{python, read_back, skipped};

/// A sort whose last strand merges alone: four samples in it, one in a stolen sort, one in the
/// runtime.
const SAMPLED: &str = r#"{"workspan_trace":1,"workers":2,"threads":2,"time_unit":"us","steals":"child","burden":2,"name":"sort","sample_hz":10000,"places":[{"label":"root"},{"label":"src/sort.rs:37","file":"src/sort.rs","line":37,"function":"sort::msort","primitive":"join"}]}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"scope","task":0,"scope":1,"kind":"group"}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"scope":1,"site":"src/sort.rs:37","at":"src/sort.rs:37"}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"begin","t":20,"w":1,"task":1}
{"ev":"end","t":200,"w":1,"task":1}
{"ev":"wait","t":150,"w":0,"task":0,"scope":1,"at":"src/sort.rs:37"}
{"ev":"resume","t":210,"w":0,"task":0}
{"ev":"end","t":900,"w":0,"task":0}
{"ev":"frame","frame":0,"function":"merge","file":"src/sort.rs","line":43}
{"ev":"frame","frame":1,"function":"msort","file":"src/sort.rs","line":38}
{"ev":"frame","frame":2,"function":"wait_until","runtime":true}
{"ev":"frame","frame":3,"function":"main","file":"src/main.rs","line":5}
{"ev":"stack","stack":0,"frames":[0,3]}
{"ev":"stack","stack":1,"frames":[1,2]}
{"ev":"stack","stack":2,"frames":[2]}
{"ev":"sample","t":100,"w":1,"stack":1}
{"ev":"sample","t":170,"w":0,"stack":2}
{"ev":"sample","t":300,"w":0,"stack":0}
{"ev":"sample","t":400,"w":0,"stack":0}
{"ev":"sample","t":500,"w":0,"stack":0}
{"ev":"sample","t":600,"w":0,"stack":0}
"#;

fn sampled() -> Dag {
    workspan_reader::text::read(SAMPLED.as_bytes()).unwrap()
}

type Writer = fn(&Profile<'_>, &mut Vec<u8>) -> std::io::Result<()>;

fn written(dag: &Dag, write: Writer) -> Vec<u8> {
    let mut out = Vec::new();
    write(&Profile::new(dag, &Options::default()).unwrap(), &mut out).unwrap();
    out
}

fn read(script: &str, write: Writer) -> Option<Value> {
    let Some(python) = python("import json, gzip") else {
        skipped(script, "no python3");
        return None;
    };
    let bytes = written(&sampled(), write);
    Some(read_back(&python, script, "sampled", &bytes))
}

#[test]
fn pprof_has_the_reports_samples() {
    let Some(profile_read) = read("read_pprof.py", profile::pprof) else {
        return;
    };
    assert_eq!(
        profile_read["types"],
        json!([["samples", "count"], ["cpu", "nanoseconds"]])
    );
    assert_eq!(profile_read["period"], 100_000);
    let dag = sampled();
    let heat = report(&dag, &Options::default()).unwrap().samples;
    let samples = profile_read["samples"].as_array().unwrap();
    let sum = |keep: &dyn Fn(&Value) -> bool, value: usize| -> u64 {
        let kept = samples.iter().filter(|s| keep(s));
        kept.map(|s| s["values"][value].as_u64().unwrap()).sum()
    };
    let all = heat.inside + heat.outside;
    assert_eq!(all, 6);
    assert_eq!(sum(&|_| true, 0), all);
    assert_eq!(sum(&|_| true, 1), all * 100_000);
    let outermost = |s: &Value| s["stack"].as_array().unwrap().last().unwrap()[0].clone();
    assert_eq!(sum(&|s| outermost(s) == "[no task]", 0), heat.outside);
    // As many as in the flame graph of the critical path.
    let critical = flame(
        &dag,
        &Options::default(),
        &FlameOf::CriticalPath,
        FlameOptions::default(),
    );
    let critical: u64 = critical.unwrap().iter().map(|stack| stack.ns).sum();
    assert_eq!(sum(&|s| s["labels"]["critical_path"] == "yes", 1), critical);
    // Innermost first: the stolen sort is below its spawn site, with its line.
    let stolen = samples
        .iter()
        .find(|s| s["labels"]["thread"] == "worker 1")
        .unwrap();
    assert_eq!(
        stolen["stack"],
        json!([
            ["msort", "src/sort.rs", 38],
            ["sort::msort: join (src/sort.rs:37)", "src/sort.rs", 37],
            ["root", "", 0]
        ])
    );
    for row in &heat.lines {
        let at = json!([row.function, row.file, row.line]);
        assert_eq!(sum(&|s| s["stack"][0] == at, 0), row.samples, "{at}");
    }
}

#[test]
fn speedscope_has_every_sample_of_every_thread() {
    let Some(profile_read) = read("read_speedscope.py", profile::speedscope) else {
        return;
    };
    assert_eq!(profile_read["name"], "sort");
    let profiles = profile_read["profiles"].as_array().unwrap();
    let count = |i: usize| profiles[i]["stacks"].as_array().unwrap().len();
    let names: Vec<&Value> = profiles.iter().map(|p| &p["name"]).collect();
    assert_eq!(names, ["all threads", "worker 0", "worker 1"]);
    assert_eq!((count(0), count(1), count(2)), (6, 5, 1));
    assert_eq!(profiles[0]["weight"], 600_000);
    assert_eq!(
        profiles[2]["stacks"][0],
        json!(["root", "sort::msort: join (src/sort.rs:37)", "msort"])
    );
}

#[test]
fn firefox_has_every_sample_at_its_time() {
    let Some(profile_read) = read("read_firefox.py", profile::firefox) else {
        return;
    };
    assert_eq!(profile_read["product"], "sort");
    let threads = profile_read["threads"].as_array().unwrap();
    let of = |name: &str| threads.iter().find(|t| t["name"] == name).unwrap();
    // The file has differences of times, whose sums are not exact.
    let times = of("worker 0")["times"].as_array().unwrap();
    let times = times
        .iter()
        .map(|t| (t.as_f64().unwrap() * 1e6).round() / 1e6);
    assert_eq!(
        times.collect::<Vec<_>>(),
        [0.17, 0.3, 0.4, 0.5, 0.6],
        "milliseconds"
    );
    assert_eq!(
        of("worker 1")["stacks"],
        json!([[
            "root",
            "sort::msort: join (src/sort.rs:37)",
            "msort (src/sort.rs:38)"
        ]])
    );
}

#[test]
fn a_redacted_run_has_the_same_numbers_and_none_of_its_names() {
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let read = |name: &str| {
        let text = std::fs::read(golden.join(format!("{name}.jsonl"))).unwrap();
        workspan_reader::text::read(&text).unwrap()
    };
    let named = [
        "serial_merge",
        "hostile_names",
        "counters_and_off",
        "balanced",
    ];
    let mut runs: Vec<(String, Dag)> = named.map(|n| (n.to_owned(), read(n))).into();
    runs.push(("sampled".into(), sampled()));
    for (name, dag) in &mut runs {
        dag.meta.host = Some("workstation17".into());
        dag.meta.command = Some("/home/alice/sort --password hunter2".into());
        for (key, value) in [
            ("exe", "/home/alice/sort"),
            ("cwd", "/home/alice"),
            ("source folder", "/home/alice/project"),
            ("process", "31337"),
            ("recorded", "2026-01-01 00:00:00 UTC"),
        ] {
            dag.meta.facts.push((key.into(), value.into()));
        }
        dag.meta.warnings.push("alice's folder was full.".into());
        let mut shared = dag.clone();
        workspan_export::redact(&mut shared);
        let options = Options::default();
        let numbers = |dag: &Dag| {
            let report = report(dag, &options).unwrap();
            let samples = (report.samples.inside, report.samples.outside);
            (
                report.work_span,
                report.breakdown,
                report.causes.by_cause,
                samples,
            )
        };
        assert_eq!(numbers(dag), numbers(&shared), "{name}");
        let names = names_of(dag);
        assert!(names.len() > 5, "{name}: {names:?}");
        for (format, text) in outputs(&shared) {
            for one in &names {
                assert!(!text.contains(one.as_str()), "{name}, {format}: `{one}`");
            }
        }
        // The written run can be read, and redacting it again changes nothing.
        let mut text = Vec::new();
        workspan_reader::text::write(&shared, &mut text).unwrap();
        let again = workspan_reader::text::read(&text).unwrap();
        assert_eq!(numbers(&again), numbers(&shared), "{name}");
    }
}

/// Every name in the run, except words that any run has.
fn names_of(dag: &Dag) -> Vec<String> {
    let mut all: Vec<String> = ["workstation17", "alice", "hunter2", "31337", "password"]
        .map(str::to_owned)
        .into();
    for place in &dag.places {
        let texts = [&place.file, &place.function, &place.source];
        all.extend(texts.into_iter().flatten().cloned());
        all.push(place.label.clone());
    }
    for frame in dag.samples.frames.iter() {
        all.extend(frame.file.clone());
        all.push(frame.function.clone());
    }
    all.extend(dag.labels.iter().cloned());
    all.extend(dag.meta.name.clone());
    // Short names are parts of words; `sort` is also a keyword of some formats.
    all.retain(|name| name.len() >= 5 && !["root", "sort"].contains(&name.as_str()));
    all
}

/// The run in every format.
fn outputs(dag: &Dag) -> Vec<(&'static str, String)> {
    let options = Options::default();
    let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let mut text = Vec::new();
    workspan_reader::text::write(dag, &mut text).unwrap();
    let mut chrome = Vec::new();
    workspan_export::chrome(dag, &options)
        .unwrap()
        .write(&mut chrome)
        .unwrap();
    let mut perfetto = Vec::new();
    workspan_export::perfetto(dag, &options)
        .unwrap()
        .write(&mut perfetto)
        .unwrap();
    let dot = workspan_export::dot(dag, &options, workspan_export::DotOptions::default()).unwrap();
    let mut pprof = Vec::new();
    let packed = written(dag, profile::pprof);
    flate2::read::GzDecoder::new(packed.as_slice())
        .read_to_end(&mut pprof)
        .unwrap();
    vec![
        ("text", lossy(text)),
        ("chrome", lossy(chrome)),
        ("perfetto", lossy(perfetto)),
        ("dot", dot),
        ("pprof", lossy(pprof)),
        ("speedscope", lossy(written(dag, profile::speedscope))),
        ("firefox", lossy(written(dag, profile::firefox))),
    ]
}
