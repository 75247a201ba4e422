//! Words and tables, compared with the analyses that they come from.

use std::path::PathBuf;

use serde_json::Value;
use workspan_analysis::causes::{Headline, headline};
use workspan_analysis::named_section::{named_section, section_name};
use workspan_analysis::{Options, report};
use workspan_dag::{Dag, Frame, Samples, dag::RaggedArray};
use workspan_export::{TextOptions, report_json, report_text};
use workspan_reader::{OpenOptions, open};
use workspan_view::session::Settings;
use workspan_view::{Session, answer};

const TRACES: [&str; 8] = [
    "serial_merge.jsonl",
    "example_a.jsonl",
    "balanced.jsonl",
    "buried.jsonl",
    "tiny_tasks.jsonl",
    "hostile_names.jsonl",
    "one_task.jsonl",
    "no_time.jsonl",
];

fn golden(name: &str) -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.join("../export/tests/golden").join(name)
}

fn loaded(names: &[&str]) -> Session {
    let files: Vec<PathBuf> = names.iter().map(|name| golden(name)).collect();
    let session = Session::new(&files, Settings::default()).unwrap();
    session.load();
    session
}

fn ask(session: &Session, request: &str) -> Value {
    let reply = answer(session, &format!("api/v1/{request}"));
    serde_json::from_slice(reply.unwrap_or_else(|e| panic!("{request}: {e}")).bytes()).unwrap()
}

fn read(name: &str) -> Dag {
    open(&golden(name), &OpenOptions::default()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap().iter();
    list.map(|v| v.as_f64().unwrap()).collect()
}

/// The sites of `meta` are known before the report is made, and are the same as the report's.
#[test]
fn sites_have_the_reports_order() {
    for name in TRACES {
        let session = loaded(&[name]);
        let meta = ask(&session, "meta");
        let report = ask(&session, "report?run=a");
        let sites = ask(&session, "sites?run=a")["sites"].clone();
        let of = |list: &Value, key: &str| -> Vec<Value> {
            let list = list.as_array().unwrap().iter();
            list.map(|site| site[key].clone()).collect()
        };
        let expected = of(&report["sites"], "id");
        assert!(!expected.is_empty());
        assert_eq!(of(&meta["runs"][0]["sites"], "place"), expected, "{name}");
        assert_eq!(of(&sites, "place"), expected, "{name}");
    }
}

/// A part of a run has the numbers and the words of `--only`, with that clock. Its pictures keep
/// the run's times.
#[test]
fn a_part_has_the_report_of_its_section() {
    let measured = Options::default();
    let mut looked_at = 0;
    for name in TRACES {
        let session = loaded(&[name]);
        let meta = ask(&session, "meta");
        let run = &meta["runs"][0];
        let dag = read(name);
        for part in run["parts"].as_array().unwrap() {
            let id = part["id"].as_str().unwrap();
            let only = ask(&session, &format!("only?run={id}"));
            let argument = only["only"]["argument"].as_str().unwrap();
            let asked = section_name(argument).unwrap();
            let section = named_section(&dag, &asked, &measured).unwrap();
            let expected = report(&section, &measured).unwrap();
            let text = report_json(&section, &expected, &measured);
            let text: Value = serde_json::from_str(&text).unwrap();
            let said = ask(&session, &format!("report?run={id}"));
            for (key, value) in text.as_object().unwrap() {
                if key != "statistics" {
                    assert_eq!(&said[key], value, "{name}, {argument}: {key}");
                }
            }
            assert_eq!(
                only["only"]["elapsed"], said["elapsed"],
                "{name}, {argument}"
            );
            assert_eq!(only["elapsed"], run["elapsed"], "{name}, {argument}");
            let words = ask(&session, &format!("summary?run={id}"));
            let spoken = workspan_export::summary(&section, &expected, &measured);
            assert_eq!(
                words["verdict"],
                spoken.verdict.as_str(),
                "{name}, {argument}"
            );
            for finding in words["findings"].as_array().unwrap() {
                let end = finding["show"]["t1"].as_u64().unwrap();
                assert!(
                    end <= run["elapsed"].as_u64().unwrap(),
                    "{name}, {argument}"
                );
            }
            looked_at += 1;
        }
    }
    assert!(looked_at > 5, "{looked_at} parts");
}

/// The page has the same sentences as the terminal.
#[test]
fn the_summary_has_the_words_of_the_report() {
    for name in TRACES {
        let (dag, measured) = (read(name), Options::default());
        let made = report(&dag, &measured).unwrap();
        let looks = TextOptions {
            width: 10_000,
            charset: workspan_export::Charset::Unicode,
            ..TextOptions::default()
        };
        let text = report_text(&dag, &made, &measured, &looks);
        let squeezed = |text: &str| -> String {
            let plain = text.replace('`', "").replace('\u{a0}', " ");
            plain.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let text = squeezed(&text);
        let summary = ask(&loaded(&[name]), "summary?run=a");
        let verdict = squeezed(summary["verdict"].as_str().unwrap());
        assert!(text.contains(&verdict), "{name}: {verdict} in {text}");
        let words = |list: &Value| -> String {
            let all = list.as_array().unwrap().iter();
            all.map(|w| w["text"].as_str().unwrap()).collect()
        };
        let found = summary["findings"].as_array().unwrap();
        let lost = headline(&made) == Headline::Lost;
        let expected = if lost {
            made.causes.findings().len()
        } else {
            0
        };
        assert_eq!(found.len(), expected, "{name}");
        // In the terminal's order: what the program can change comes first.
        let order = made.causes.findings_program_first();
        for (finding, (index, reported)) in found.iter().zip(order) {
            assert_eq!(finding["index"], index, "{name}");
            assert_eq!(finding["id"], reported.cause.id(), "{name}");
        }
        for finding in found {
            // Names with control characters are escaped only for a terminal.
            let title = squeezed(&words(&finding["title"]));
            assert!(
                name == "hostile_names.jsonl" || text.contains(title.trim()),
                "{name}: {title} in {text}"
            );
            let show = &finding["show"];
            let (t0, t1) = (show["t0"].as_u64().unwrap(), show["t1"].as_u64().unwrap());
            assert!(t0 < t1 || dag.strands.len() < 2, "{name}");
            if let Some(strand) = show["strand"].as_u64() {
                let i = strand as usize;
                let begin = dag.strands.start[0];
                let elapsed = dag.strands.end.iter().max().unwrap() - begin;
                let (start, end) = (dag.strands.start[i] - begin, dag.strands.end[i] - begin);
                // The interval shown for a wait begins when its strand became ready.
                let exact = t0 <= start && t1 == end;
                assert!(exact || (t0, t1) == (0, elapsed), "{name}: {show}");
            }
        }
    }
}

/// Sparks are compared with a sum over all strands for every bin, and delays with the run's.
#[test]
fn sparks_and_delays_of_sites_add_up() {
    for name in TRACES {
        let dag = read(name);
        let session = loaded(&[name]);
        let sites = ask(&session, "sites?run=a")["sites"].clone();
        let report = ask(&session, "report?run=a");
        let begin = dag.strands.start.iter().min().unwrap();
        let elapsed = dag.strands.end.iter().max().unwrap() - begin;
        let mut delay = 0;
        for site in sites.as_array().unwrap() {
            delay += site["delay"].as_u64().unwrap();
            let place = site["place"].as_u64().unwrap() as u32;
            let spark = numbers(&site["spark"]);
            let mut blocks = vec![0.0; 64];
            for block in site["blocks"].as_array().unwrap() {
                for (sum, v) in blocks.iter_mut().zip(numbers(&block["spark"])) {
                    *sum += v;
                }
            }
            for bin in 0..64u64 {
                if elapsed == 0 {
                    break;
                }
                let edge = |i: u64| begin + (u128::from(elapsed) * u128::from(i) / 64) as u64;
                // In a run of fewer ticks than bins, a bin may be the next one's tick.
                let with_ticks = (bin..64).find(|&i| edge(i) < edge(i + 1)).unwrap();
                let (from, to) = (edge(with_ticks), edge(with_ticks + 1));
                let mut ticks = 0;
                for s in 0..dag.strands.len() {
                    if dag.tasks.site[dag.strands.task[s] as usize] == place {
                        let (a, b) = (dag.strands.start[s].max(from), dag.strands.end[s].min(to));
                        ticks += b.saturating_sub(a);
                    }
                }
                let mean = ticks as f64 / (to - from) as f64;
                let i = bin as usize;
                assert!((spark[i] - mean).abs() < 1e-3, "{name} {place} {bin}");
                assert!((blocks[i] - mean).abs() < 1e-3, "{name} {place} {bin}");
            }
        }
        assert_eq!(Some(delay), report["breakdown"]["delay"].as_u64(), "{name}");
    }
}

/// Every strand has a code, and the times of all codes add up to the run's work.
#[test]
fn codes_share_out_the_work() {
    for name in TRACES {
        let session = loaded(&[name]);
        let meta = ask(&session, "meta");
        let report = ask(&session, "report?run=a");
        let codes = meta["runs"][0]["codes"].as_array().unwrap();
        let ticks: Vec<u64> = codes.iter().map(|c| c["ticks"].as_u64().unwrap()).collect();
        assert!(ticks.is_sorted_by(|a, b| a >= b), "{name}: {ticks:?}");
        let work = report["work"].as_u64().unwrap();
        assert_eq!(ticks.iter().sum::<u64>(), work, "{name}");
        let labels: std::collections::BTreeSet<&str> =
            codes.iter().map(|c| c["label"].as_str().unwrap()).collect();
        assert_eq!(labels.len(), codes.len(), "{name}: labels tell codes apart");
    }
}

/// MODEL.md §8, example A: the bounds follow the formulas, and so does the what-if for the root's
/// first strand, A1 and A2.
#[test]
fn bounds_and_what_if_of_the_worked_example() {
    let session = loaded(&["example_a.jsonl"]);
    let scalability = ask(&session, "scalability");
    let run = &scalability["runs"][0];
    assert_eq!(
        (run["work"].as_u64(), run["span"].as_u64()),
        (Some(175), Some(145))
    );
    for point in run["points"].as_array().unwrap() {
        let p = point["workers"].as_f64().unwrap();
        let burdened = run["burdened_span"].as_f64().unwrap();
        let lower = 175.0 / (175.0 / p + 1.7 * (1.0 - 1.0 / p) * burdened);
        assert!((point["lower"].as_f64().unwrap() - lower).abs() < 1e-9);
        assert!((point["upper"].as_f64().unwrap() - p.min(175.0 / 145.0)).abs() < 1e-9);
    }
    // If all code is faster by two, the span is halved.
    let codes = ask(&session, "meta")["runs"][0]["codes"]
        .as_array()
        .unwrap()
        .len();
    let all: Vec<String> = (0..codes).map(|code| format!("code:{code}")).collect();
    let what = all.join(",");
    let whatif = ask(&session, &format!("whatif?run=a&what={what}&factors=2,4"));
    let rows = whatif["rows"].as_array().unwrap();
    let spans: Vec<u64> = rows.iter().map(|r| r["span"].as_u64().unwrap()).collect();
    assert_eq!(
        spans,
        [73, 36],
        "145 halved and quartered, halves away from zero"
    );
    let critical = whatif["critical"].as_array().unwrap().iter();
    let weight: f64 = critical.map(|c| c["weight"].as_f64().unwrap()).sum();
    assert!(
        (weight - 72.5).abs() < 1e-9,
        "the path's codes add up to the span"
    );
}

#[test]
fn two_runs_are_compared_in_words_and_numbers() {
    let session = loaded(&["serial_merge.jsonl", "balanced.jsonl"]);
    let compared = ask(&session, "compare?a=a&b=b");
    let title = compared["words"]["title"].as_str().unwrap();
    assert!(title.contains(" against "), "{title}");
    assert!(compared["table"]["quantities"]["elapsed"].is_object());
    // Every block that ran in a run has a code of it.
    let blocks = compared["table"]["blocks"].as_array().unwrap();
    let codes = compared["codes"].as_array().unwrap();
    assert_eq!(codes.len(), blocks.len());
    for (block, code) in blocks.iter().zip(codes) {
        for side in 0..2 {
            let ran = block["count"][side]["mean"].as_f64().unwrap() > 0.0;
            assert_eq!(code[side].is_u64(), ran, "{block} {code}");
        }
    }
    let measured = ask(&session, "scalability");
    assert_eq!(measured["measured"].as_array().unwrap().len(), 2);
}

/// Lines in the trace are shown if the file isn't here. Files that the trace does not name are not
/// shown.
#[test]
fn sources_are_those_the_trace_names() {
    let session = loaded(&["serial_merge.jsonl"]);
    let dag = read("serial_merge.jsonl");
    let place = dag
        .places
        .iter()
        .find(|p| p.file.is_some() && p.line.is_some());
    if let Some(place) = place {
        let file = place.file.clone().unwrap();
        let source = ask(
            &session,
            &format!("source?run=a&file={}", file.replace('/', "%2F")),
        );
        let lines = source["lines"].as_array().unwrap();
        assert_eq!(source["missing"].is_string(), lines.is_empty());
    }
    assert!(answer(&session, "api/v1/source?run=a&file=src%2Fmain.zig").is_err());
}

/// For a file that is not here, the lines of samples are shown too, with the reason why there are
/// no others.
#[test]
fn lines_with_samples_are_shown_without_their_file() {
    let mut dag = read("serial_merge.jsonl");
    let file = dag.places.iter().find_map(|p| p.file.clone()).unwrap();
    let strand = (0..dag.strands.len())
        .find(|&s| dag.strands.start[s] < dag.strands.end[s])
        .unwrap();
    dag.samples = Samples {
        hertz: 1000,
        t: vec![dag.strands.start[strand]],
        thread: vec![dag.strands.thread[strand]],
        stack: vec![0],
        strand: vec![strand as u32],
        frames: vec![Frame {
            function: "f".into(),
            file: Some(file.clone()),
            line: Some(9_999),
            runtime: false,
        }],
        stacks: RaggedArray::default(),
        ..Samples::default()
    };
    dag.samples.stacks.push([0]);
    let session = Session::of_dag("run".into(), dag, Settings::default()).unwrap();
    let request = format!("source?run=a&file={}", file.replace('/', "%2F"));
    let source = ask(&session, &request);
    assert!(source["missing"].is_null() && source["part"].is_string());
    let line = source["lines"].as_array().unwrap().last().unwrap();
    let told = (&line["line"], &line["samples"], &line["text"]);
    assert_eq!(told, (&9_999.into(), &1.into(), &"".into()));
}

/// A run is compared with a run on one worker of its own program, not of another one.
#[test]
fn a_foreign_serial_run_is_no_base() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(golden("serial_merge.jsonl")).unwrap();
    let (head, _) = text.split_once('\n').unwrap();
    let one = head.replace("\"workers\":4,\"threads\":4", "\"workers\":1,\"threads\":1");
    assert_ne!(one, head);
    let events = "\n{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n{\"ev\":\"end\",\"t\":50000,\"w\":0,\"task\":0}\n";
    let own = folder.path().join("own.jsonl");
    std::fs::write(&own, format!("{one}{events}")).unwrap();
    let foreign = folder.path().join("foreign.jsonl");
    let other = one.replace("\"name\":\"sort\"", "\"name\":\"queue\"");
    assert_ne!(other, one);
    std::fs::write(&foreign, format!("{other}{events}")).unwrap();
    let how = |serial: &PathBuf| {
        let files = [golden("serial_merge.jsonl"), serial.clone()];
        let session = Session::new(&files, Settings::default()).unwrap();
        session.load();
        let found = ask(&session, "scalability");
        found["measured"][0]["how"].as_str().unwrap().to_owned()
    };
    assert!(how(&own).contains("run B on one worker"), "{}", how(&own));
    assert!(how(&foreign).contains("its own work"), "{}", how(&foreign));
}
