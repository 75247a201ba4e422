//! Strands that were folded while a trace was read are shown at a high zoom level. They are the
//! same as in the unfolded run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use workspan_reader::open::Grain;
use workspan_view::answer;

use crate::folding::{json, planes, session};

/// A strand: row, start, end, level of its task, and spawn site as text.
type Box = (u64, u64, u64, u64, String);

fn boxes(planes: &BTreeMap<String, Vec<f64>>, meta: &Value) -> Vec<Box> {
    let column = |name: &str, i: usize| planes[name][i] as u64;
    let site = |i: usize| {
        let label = &meta["runs"][0]["sites"][column("site", i) as usize]["label"];
        label.as_str().unwrap_or("?").to_owned()
    };
    (0..planes["id"].len())
        .map(|i| {
            let (start, end) = (column("start", i), column("end", i));
            (column("row", i), start, end, column("level", i), site(i))
        })
        .collect()
}

/// Minimum width of a folded strand that is expanded, in bins.
const MIN_EXPANDED_BINS: u64 = 48;

#[test]
fn inside_folded_strands_are_those_of_the_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let whole = session(&folder, Grain::None);
    let folded = session(&folder, Grain::Nanoseconds(2000));
    let (meta, short) = (json(&whole, "meta"), json(&folded, "meta"));
    let (all, left) = (&meta["runs"][0], &short["runs"][0]);
    assert_eq!(all["has"]["inside"], false);
    assert_eq!(left["has"]["inside"], true);
    assert_eq!(all["tasks"], left["tasks"]);
    let strands = |run: &Value| run["strands"].as_u64().unwrap();
    assert!(
        strands(all) > 10 * strands(left),
        "hardly anything was folded"
    );
    let tiles = all["elapsed"].as_u64().unwrap() / 1024 + 1;
    let (mut compared, mut looked_into) = (0, 0);
    for index in 0..tiles {
        let tile = format!("run=a&level=0&index={index}");
        let outer = planes(&folded, &format!("strands?{tile}"));
        let inner = boxes(&planes(&folded, &format!("inside?{tile}")), &short);
        let is_folded = |i: usize| outer["flags"][i] as u8 & 8 != 0;
        // Strands that stay one box because they are too short to be expanded.
        let mut closed: Vec<(u64, u64)> = Vec::new();
        let mut shown: BTreeSet<Box> = inner.iter().cloned().collect();
        assert_eq!(shown.len(), inner.len(), "a strand is there twice");
        looked_into += inner.len();
        for (i, strand) in boxes(&outer, &short).into_iter().enumerate() {
            if !is_folded(i) {
                shown.insert(strand);
            } else if strand.2 - strand.1 < MIN_EXPANDED_BINS {
                closed.push((strand.1, strand.2));
            }
        }
        let strands = boxes(&planes(&whole, &format!("strands?{tile}")), &meta);
        let expected = strands.into_iter().filter(|s| {
            let inside = |c: &(u64, u64)| c.0 <= s.1 && s.2 <= c.1;
            s.2 > s.1 && !closed.iter().any(inside)
        });
        let expected: BTreeSet<Box> = expected.collect();
        shown.retain(|s| s.2 > s.1);
        assert_eq!(shown, expected, "tile {index}");
        compared += expected.len();
    }
    assert!(
        compared > 1000 && looked_into > 1000,
        "{compared} {looked_into}"
    );
}

#[test]
fn a_strand_inside_has_its_place_and_its_parents() {
    let folder = tempfile::tempdir().unwrap();
    let folded = session(&folder, Grain::Nanoseconds(2000));
    let meta = json(&folded, "meta");
    let inner = planes(&folded, "inside?run=a&level=0&index=1");
    let all = boxes(&inner, &meta);
    let deepest = (0..all.len()).max_by_key(|&i| (all[i].3, i)).unwrap();
    let id = inner["id"][deepest] as u64;
    let at = all[deepest].1;
    let told = json(&folded, &format!("inside_strand?run=a&id={id}&at={at}"));
    assert_eq!(told["start"], at);
    assert_eq!(told["end"], all[deepest].2);
    assert_eq!(told["level"], all[deepest].3);
    // One frame for each level below the folded strand's own task.
    let strand = json(&folded, &format!("strand?run=a&id={id}"));
    let task = json(&folded, &format!("task?run=a&id={}", strand["task"]));
    let frames = told["stack"].as_array().unwrap();
    let above = task["level"].as_u64().unwrap();
    assert_eq!(frames.len() as u64, all[deepest].3 - above);
    assert!(frames.len() > 2);
    for pair in frames.windows(2) {
        assert!(pair[0]["created"].as_u64() >= pair[1]["begun"].as_u64());
    }
    assert_eq!(told["folded"]["start"], strand["start"]);
    assert_eq!(told["folded"]["end"], strand["end"]);
    assert!(told["folded"]["tasks"].as_u64().unwrap() > 2);
}

#[test]
fn nothing_is_inside_what_was_not_folded_or_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let whole = session(&folder, Grain::None);
    let folded = session(&folder, Grain::Nanoseconds(2000));
    assert!(planes(&whole, "inside?run=a&level=0&index=0")["id"].is_empty());
    for url in [
        "inside_strand?run=a&id=0&at=1",
        "inside_strand?run=a&id=4294967295&at=1",
        "inside_strand?run=a&id=3&at=18446744073709551615",
    ] {
        let url = format!("api/v1/{url}");
        assert!(answer(&whole, &url).is_err(), "{url}");
        if !url.contains("id=0&") {
            assert!(answer(&folded, &url).is_err(), "{url}");
        }
    }
    // At a low zoom level, every folded strand is too short to be expanded.
    let top = json(&folded, "meta")["runs"][0]["top_level"]
        .as_u64()
        .unwrap();
    let far = format!("inside?run=a&level={top}&index=0");
    let _ = planes(&folded, &far);
}
