//! Files for other viewers, read back by independent readers: Perfetto's own schema in Python,
//! Python's JSON, Graphviz.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use workspan_analysis::{Options, report, stolen_strands, strand_facts};
use workspan_dag::Dag;
use workspan_export::{DotColors, DotOptions, chrome, dot, perfetto};
use workspan_reader::text;

/// Prints around the test harness, which captures the output of tests.
pub(crate) fn skipped(test: &str, why: &str) {
    let line = format!("skipped: {test}: {why}\n");
    let _ = std::io::stdout().write_all(line.as_bytes());
}

const RUNS: [&str; 5] = [
    "example_a",
    "buried",
    "counters_and_off",
    "near_2_63",
    "hostile_names",
];

fn run(name: &str) -> Dag {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    text::read(&std::fs::read(golden.join(format!("{name}.jsonl"))).unwrap()).unwrap()
}

/// A Python that can run `import`, if there is one: that of `cargo xtask test`, else the machine's.
pub(crate) fn python(import: &str) -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../python/bin/python3");
    [own, "python3".into()].into_iter().find(|python| {
        let tried = Command::new(python)
            .args(["-c", import])
            .stderr(Stdio::null())
            .status();
        tried.is_ok_and(|s| s.success())
    })
}

/// The script's result for the file's content.
pub(crate) fn read_back(python: &Path, script: &str, name: &str, content: &[u8]) -> Value {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("viewers-{name}-{script}"));
    std::fs::write(&file, content).unwrap();
    let reader = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/readers")
        .join(script);
    let out = Command::new(python)
        .arg(reader)
        .arg(&file)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{name}: {error}");
    serde_json::from_slice(&out.stdout).unwrap()
}

/// What a reader must find, computed from the DAG itself.
fn expected(dag: &Dag) -> Value {
    let strands = &dag.strands;
    let begin = *strands.start.iter().min().unwrap();
    let rate = u128::from(dag.meta.ticks_per_second.max(1));
    let ns = |t: u64| (u128::from(t - begin) * 1_000_000_000 / rate) as u64;
    let name = |thread: u32| match dag.is_worker(thread) {
        true => format!("worker {thread}"),
        false => format!("thread {thread}"),
    };
    let slices: Vec<Value> = (0..strands.len())
        .map(|s| {
            let site = dag.tasks.site[strands.task[s] as usize];
            json!([
                name(strands.thread[s]),
                ns(strands.start[s]),
                ns(strands.end[s]),
                dag.places[site as usize].label,
                s
            ])
        })
        .collect();
    let facts = strand_facts(dag, &Options::default()).unwrap();
    let ready_counts = &facts.ready;
    let ready = (0..ready_counts.len()).map(|i| {
        let start = strands.start[ready_counts.strands()[i] as usize];
        ns(start) - ns(ready_counts.at(dag, i))
    });
    let ready: u64 = ready.sum();
    json!({
        "slices": slices,
        "flows": stolen_strands(dag).len(),
        "ready": ready,
    })
}

fn check(dag: &Dag, read_facts: &Value, name: &str) {
    let expected = expected(dag);
    let mut slices: Vec<Value> = read_facts["slices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| json!([s[0], s[1], s[2], s[4][0], s[5]]))
        .collect();
    slices.sort_by_key(|s| s[4].as_u64());
    assert_eq!(json!(slices), expected["slices"], "{name}");
    assert_eq!(read_facts["flows"], expected["flows"], "{name}");
    assert_eq!(read_facts["regions"], dag.regions.len() + dag.parts.len());
    let ready = read_facts["integrals"]["ready strands"].as_u64().unwrap();
    assert_eq!(ready, expected["ready"].as_u64().unwrap(), "{name}");
    let profile = report(dag, &Options::default()).unwrap().profile;
    let elapsed =
        (profile.end - profile.begin) as f64 * 1e9 / dag.meta.ticks_per_second.max(1) as f64;
    let running = read_facts["integrals"]["running strands"].as_f64().unwrap();
    let mean = profile.mean_running * elapsed;
    assert!(
        (running - mean).abs() <= 1e-6 * mean + 1.0,
        "{name}: {running}, {mean}"
    );
}

#[test]
fn perfetto_is_read_by_its_own_schema() {
    let import = "import perfetto.protos.perfetto.trace.perfetto_trace_pb2";
    let Some(python) = python(import) else {
        return skipped("export to Perfetto", "no Python with the package perfetto");
    };
    for name in RUNS {
        let dag = run(name);
        let mut bytes = Vec::new();
        let options = Options::default();
        perfetto(&dag, &options).unwrap().write(&mut bytes).unwrap();
        check(
            &dag,
            &read_back(&python, "read_perfetto.py", name, &bytes),
            name,
        );
    }
}

#[test]
fn chrome_events_are_read_as_json() {
    let Some(python) = python("import json") else {
        return skipped("export to Chrome's events", "no Python");
    };
    // Microseconds in floating point: what is near 2^63 ns is rounded.
    for name in RUNS.into_iter().filter(|&name| name != "near_2_63") {
        let dag = run(name);
        let mut bytes = Vec::new();
        let options = Options::default();
        chrome(&dag, &options).unwrap().write(&mut bytes).unwrap();
        let read_facts = read_back(&python, "read_chrome.py", name, &bytes);
        check(&dag, &read_facts, name);
    }
}

#[test]
fn graphviz_draws_the_dag() {
    let version = Command::new("dot").arg("-V").stderr(Stdio::null()).status();
    if !version.is_ok_and(|s| s.success()) {
        return skipped("export to dot", "no Graphviz");
    }
    for name in RUNS {
        let dag = run(name);
        for most in [1, 4, 1000] {
            let drawn = DotOptions {
                nodes: most,
                ..DotOptions::default()
            };
            let text = dot(&dag, &Options::default(), drawn).unwrap();
            let mut child = Command::new("dot")
                .arg("-Tsvg")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            child
                .stdin
                .take()
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
            let out = child.wait_with_output().unwrap();
            assert!(out.status.success(), "{name}");
            let svg = String::from_utf8_lossy(&out.stdout);
            let drawn = svg.matches("class=\"node\"").count();
            let roots = dag
                .tasks
                .parent
                .iter()
                .filter(|&&p| p == workspan_dag::NONE);
            assert!(
                drawn <= most.max(roots.count()),
                "{name}: {drawn} of {most}"
            );
            if most == 1000 {
                assert_eq!(drawn, dag.strands.len(), "{name}");
                let mut edges = 0;
                for s in 0..dag.strands.len() as u32 {
                    dag.for_each_predecessor(s, |_, _| edges += 1);
                }
                assert_eq!(svg.matches("class=\"edge\"").count(), edges, "{name}");
            }
        }
    }
}

#[test]
fn levels_of_a_dot_file_are_limited_and_nodes_have_their_counters() {
    let dag = run("counters_and_off");
    let drawn = |levels, colors| {
        let drawn = DotOptions {
            levels,
            colors,
            ..DotOptions::default()
        };
        dot(&dag, &Options::default(), drawn).unwrap()
    };
    let whole = drawn(None, DotColors::Critical);
    let nodes = |text: &str, kind: &str| {
        let is_node = |line: &&str| line.starts_with(kind) && line.contains("label=\"");
        text.lines()
            .filter(|l| !l.contains("->"))
            .filter(is_node)
            .count()
    };
    assert_eq!(nodes(&whole, "  s"), dag.strands.len());
    // Only the root, collapsed, with the sums of all counters.
    let root = drawn(Some(0), DotColors::Critical);
    assert_eq!((nodes(&root, "  s"), nodes(&root, "  t")), (0, 1), "{root}");
    for counter in &dag.counters {
        let sum: u64 = counter.values.iter().map(|v| v.1).sum();
        let sum = workspan_export::thousands(sum.into());
        assert!(
            root.contains(&format!("\\n{} {sum}", counter.name)),
            "{root}"
        );
        let (_, value) = counter.values[0];
        let value = workspan_export::thousands(value.into());
        assert!(
            whole.contains(&format!("\\n{} {value}", counter.name)),
            "{whole}"
        );
    }
    assert!(!dag.counters.is_empty());
    // The root's strands, and each of its children collapsed.
    let one = drawn(Some(1), DotColors::Level);
    let of_root = dag.tasks.level.iter().filter(|&&level| level == 1).count();
    assert_eq!(nodes(&one, "  t"), of_root, "{one}");
    // Fills of the root's level and of the next one.
    assert!(one.contains("fillcolor=\"#ffffff\"") && one.contains("fillcolor=\"#dbe9f6\""));
}

#[test]
fn an_empty_run_is_written_too() {
    let dag = Dag::default();
    let options = Options::default();
    let mut bytes = Vec::new();
    chrome(&dag, &options).unwrap().write(&mut bytes).unwrap();
    let events: Value = serde_json::from_slice(&bytes).unwrap();
    assert!(events["traceEvents"].is_array());
    perfetto(&dag, &options).unwrap().write(&mut bytes).unwrap();
    let drawn = DotOptions::default();
    assert!(dot(&dag, &options, drawn).unwrap().ends_with("}\n"));
}
