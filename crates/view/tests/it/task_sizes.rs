//! The sizes that tasks tell, from the counters of a trace to each answer that shows them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use workspan_view::session::Settings;
use workspan_view::{Session, answer};

/// Number of elements that the root task sorts.
const ELEMENTS: u64 = 10_000_000;

/// A merge sort in which each task tells its size with its first strand: half of its parent's.
fn sort_with_sizes() -> (tempfile::TempDir, Session) {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../export/tests/golden");
    let text = fs::read_to_string(golden.join("serial_merge.jsonl")).unwrap();
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::from([(0, ELEMENTS)]);
    let mut told = BTreeSet::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let task = line["task"].as_u64();
        if let (Some(task), Some(child)) = (task, line["child"].as_u64()) {
            sizes.insert(child, sizes[&task] / 2);
        }
        let ends_a_strand = ["create", "wait", "end"].map(Value::from);
        if let Some(task) = task
            && ends_a_strand.contains(&line["ev"])
            && told.insert(task)
        {
            line["counters"] = json!({ "size": sizes[&task] });
        }
        lines.push(line.to_string());
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sort.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    let session = Session::new(&[file], Settings::default()).unwrap();
    session.load();
    (folder, session)
}

fn ask(session: &Session, request: &str) -> Value {
    let reply = answer(session, &format!("api/v1/{request}"));
    serde_json::from_slice(reply.unwrap_or_else(|e| panic!("{request}: {e}")).bytes()).unwrap()
}

#[test]
fn sizes_stand_with_tasks_strands_frames_and_the_critical_path() {
    let (_folder, session) = sort_with_sizes();
    assert_eq!(ask(&session, "meta")["runs"][0]["has"]["sizes"], true);
    // A size is no counter of the hardware.
    let summary = ask(&session, "summary?run=a").to_string();
    assert!(summary.contains("none recorded"), "{summary}");

    let task = ask(&session, "task?run=a&id=2");
    assert_eq!(task["size"], ELEMENTS / 2);
    // A later strand of the task has its size, though the first one told it.
    let last = task["last"].as_u64().unwrap();
    assert_ne!(task["first"].as_u64().unwrap(), last);
    let strand = ask(&session, &format!("strand?run=a&id={last}"));
    assert_eq!(strand["size"], ELEMENTS / 2);

    let inside = ask(&session, "dag?run=a&ids=t0");
    let items = inside["nodes"]["t0"]["items"].as_array().unwrap();
    for item in items {
        let expected = match item["kind"].as_str().unwrap() {
            "task" => ELEMENTS / 2,
            _ => ELEMENTS,
        };
        assert_eq!(item["size"], expected, "{item}");
    }

    let flame = ask(&session, "flame?run=a&of=all&recursion=1");
    let mut ends = BTreeSet::new();
    for frame in flame["frames"].as_array().unwrap() {
        if frame["code"].is_null() && !frame["parent"].is_null() {
            ends.insert(frame["sizes"].to_string());
        }
    }
    let halves = [2, 4, 8, 16].map(|n| ELEMENTS / n);
    let expected = halves.map(|n| format!("[{n},{n}]"));
    assert_eq!(ends, BTreeSet::from(expected));

    // The merges on the path are a row each, the largest last.
    let path = ask(&session, "critical?run=a");
    let rows = path["rows"].as_array().unwrap();
    let sizes: Vec<u64> = rows.iter().filter_map(|r| r["size"].as_u64()).collect();
    assert_eq!(sizes.last(), Some(&ELEMENTS), "{path}");
    assert!(halves.iter().all(|half| sizes.contains(half)), "{path}");
    let span: u64 = rows.iter().filter_map(|r| r["weight"].as_u64()).sum();
    assert_eq!(path["span"], span);
}

#[test]
fn the_table_by_size_is_by_the_sizes_that_tasks_told() {
    let (_folder, session) = sort_with_sizes();
    let codes = ask(&session, "sites?run=a")["codes"].clone();
    let mut some = 0;
    for code in codes.as_array().unwrap() {
        let rows = code["sizes"].as_array().unwrap();
        let sizes: Vec<f64> = rows.iter().filter_map(|r| r["size"].as_f64()).collect();
        assert_eq!(sizes.len(), rows.len(), "{code}");
        assert!(sizes.is_sorted(), "{code}");
        let strands: u64 = rows.iter().filter_map(|r| r["strands"].as_u64()).sum();
        assert_eq!(code["count"], strands);
        some += rows.len();
    }
    assert!(some > 3);
}
