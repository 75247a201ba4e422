//! A subtree that the recorder folded may be inside one that the reader folded. It is marked as
//! folded by the recorder, and all sums are those of the run recorded in full.

use std::collections::BTreeSet;

use serde_json::Value;
use workspan_reader::open::Grain;
use workspan_view::Session;

use crate::folding::{json, planes, read, session, trace};

/// A run that was folded below 600 ns while it was recorded, and again while it was read.
fn folded_twice(folder: &tempfile::TempDir) -> Session {
    let path = folder.path().join("twice.wspan");
    std::fs::write(&path, trace(9, |records| records.folded(600))).unwrap();
    read(path, Grain::Nanoseconds(4000))
}

/// Collects everything shown when node `id` and all nodes inside it are expanded.
fn opened(session: &Session, id: &str, all: &mut Vec<Value>) {
    let answer = json(session, &format!("dag?run=a&ids={id}"));
    for item in answer["nodes"][id]["items"].as_array().unwrap() {
        all.push(item.clone());
        match item["kind"] == "strand" {
            true if item["inside"].is_object() => opened(session, &format!("s{}", item["id"]), all),
            false if item["expandable"] == true => {
                opened(session, item["id"].as_str().unwrap(), all)
            }
            _ => {}
        }
    }
}

/// The sums and times of a collapsed task.
fn sums(item: &Value) -> Vec<u64> {
    let facts = ["start", "end", "tasks", "strands", "work", "span"];
    facts.map(|fact| item[fact].as_u64().unwrap()).into()
}

#[test]
fn sums_around_it_are_those_of_the_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, twice) = (session(&folder, Grain::None), folded_twice(&folder));
    let (mut all, mut shown) = (Vec::new(), Vec::new());
    opened(&whole, "r", &mut all);
    opened(&twice, "r", &mut shown);
    let tasks = |items: &[Value]| -> Vec<Vec<u64>> {
        let tasks = items.iter().filter(|item| item["kind"] == "task");
        tasks.map(sums).collect()
    };
    let known: BTreeSet<_> = tasks(&all).into_iter().collect();
    let found = tasks(&shown);
    assert!(
        found.len() > 50 && found.len() < known.len(),
        "{}",
        found.len()
    );
    for task in found {
        assert!(known.contains(&task), "{task:?}");
    }
}

#[test]
fn a_strand_that_stands_for_more_says_so_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let twice = folded_twice(&folder);
    let mut shown = Vec::new();
    opened(&twice, "r", &mut shown);
    let is_inside = |item: &&Value| item["kind"] == "strand" && item["inner"].is_u64();
    let inside: Vec<&Value> = shown.iter().filter(is_inside).collect();
    let folds: Vec<&&Value> = inside.iter().filter(|item| item["folded"] != 0).collect();
    assert!(
        folds.len() > 20 && folds.len() < inside.len(),
        "{}",
        folds.len()
    );
    for strand in &inside {
        assert!(strand["inside"].is_null());
        let (id, at) = (&strand["id"], &strand["start"]);
        let told = json(&twice, &format!("inside_strand?run=a&id={id}&at={at}"));
        if told["start"] == strand["start"] && told["end"] == strand["end"] {
            let tasks = told["stands_for"]["tasks"].as_u64().unwrap_or(0);
            assert_eq!(strand["folded"], tasks, "{told}");
        }
    }
    // The boxes of the timeline are marked as folded, with only sums known.
    let tile = "run=a&level=0&index=1";
    let boxes = planes(&twice, &format!("inside?{tile}"));
    let starts = |of: &mut dyn Iterator<Item = u64>| of.collect::<BTreeSet<u64>>();
    let marked = (0..boxes["id"].len()).filter(|&i| boxes["flags"][i] == f64::from(8 + 64));
    let marked = starts(&mut marked.map(|i| boxes["start"][i] as u64));
    let known = starts(&mut folds.iter().map(|item| item["start"].as_u64().unwrap()));
    assert!(marked.len() > 2 && marked.is_subset(&known), "{marked:?}");
}

#[test]
fn whether_a_folded_strand_can_be_looked_into_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let twice = folded_twice(&folder);
    let path = folder.path().join("twice.wspan");
    let once = read(path, Grain::None);
    let folded = |session: &Session| {
        let strands = json(session, "meta")["runs"][0]["strands"]
            .as_u64()
            .unwrap();
        let strand = |id| json(session, &format!("strand?run=a&id={id}"));
        let all = (0..strands).map(strand).filter(|s| s["folded"] != 0);
        all.collect::<Vec<Value>>()
    };
    let (inner, outer) = (folded(&once), folded(&twice));
    assert!(!inner.is_empty() && !outer.is_empty());
    assert!(inner.iter().all(|strand| strand["sums_alone"] == true));
    assert!(outer.iter().all(|strand| strand["sums_alone"] == false));
}
