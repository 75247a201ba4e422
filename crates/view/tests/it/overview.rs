//! The preview of a run while it is read, and how a page can stop the reading.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use workspan_view::session::Settings;
use workspan_view::{Session, answer};

use crate::two_workers::trace;

fn session(folder: &tempfile::TempDir, joins: u64) -> Session {
    let path = folder.path().join("run.wspan");
    std::fs::write(&path, trace(joins)).unwrap();
    let settings = Settings {
        overview_from: 0,
        ..Settings::default()
    };
    Session::new(&[path], settings).unwrap()
}

fn json(session: &Session, url: &str) -> Value {
    serde_json::from_slice(answer(session, url).unwrap().bytes()).unwrap()
}

/// A plane of bytes, by its name.
fn plane(session: &Session, url: &str, name: &str) -> Vec<u8> {
    let reply = answer(session, url).unwrap();
    let bytes = reply.bytes();
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let mut at = (8 + length).next_multiple_of(8);
    for plane in header["planes"].as_array().unwrap() {
        let size = match plane["type"].as_str().unwrap() {
            "u8" => 1,
            "u16" => 2,
            "u32" | "f32" => 4,
            _ => 8,
        };
        let size = size * plane["length"].as_u64().unwrap() as usize;
        if plane["name"] == name {
            return bytes[at..at + size].to_vec();
        }
        at = (at + size).next_multiple_of(8);
    }
    panic!("there is no plane {name}");
}

#[test]
fn the_overview_is_the_run_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(&folder, 400);
    assert!(answer(&session, "api/v1/meta").unwrap_err().loading);
    session.look_over();
    let early = json(&session, "api/v1/meta")["runs"][0].clone();
    // Times off the CPU are not known yet, so no thread has a busy share.
    let threads = early["threads"].as_array().unwrap();
    assert!(
        threads.iter().all(|thread| thread["busy"].is_null()),
        "{threads:?}"
    );
    let top = early["top_level"].as_u64().unwrap();
    let finest = early["overview"].as_u64().unwrap();
    assert!(finest < top, "{finest} of {top}");
    let labels: Vec<&str> = early["codes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|code| code["label"].as_str().unwrap())
        .collect();
    // The owner's and the thief's halves of both sites: 200 · (300 + 650) ticks against 200 · 800.
    assert_eq!(labels, ["src/a.rs:1", "src/a.rs:2", "root"]);
    // Requests for later stages are answered with "loading", not with "not found".
    for request in [
        "strands?run=a&level=9&index=0",
        "arcs?run=a&level=9&index=0",
        "report?run=a",
    ] {
        let failure = answer(&session, &format!("api/v1/{request}")).unwrap_err();
        assert!(failure.loading, "{request}: {failure:?}");
    }
    let finer = format!("api/v1/rows?run=a&level={}&index=0", finest - 1);
    assert!(answer(&session, &finer).unwrap_err().loading);
    let beyond = format!("api/v1/rows?run=a&level={top}&index=1");
    assert!(!answer(&session, &beyond).unwrap_err().loading);
    let tiles: Vec<String> = (finest..=top)
        .flat_map(|level| (0..1u64 << (top - level)).map(move |index| (level, index)))
        .map(|(level, index)| format!("api/v1/rows?run=a&level={level}&index={index}"))
        .filter(|url| answer(&session, url).is_ok())
        .collect();
    let coverage = |url: &String| plane(&session, url, "work");
    let before: Vec<Vec<u8>> = tiles.iter().map(coverage).collect();
    assert!(before.iter().flatten().any(|&share| share > 0));
    session.load();
    let late = json(&session, "api/v1/meta")["runs"][0].clone();
    assert_eq!(late["overview"], Value::Null);
    for same in [
        "begin",
        "elapsed",
        "top_level",
        "workers",
        "tasks",
        "ticks_per_second",
    ] {
        assert_eq!(late[same], early[same], "{same}");
    }
    // The picture is the same to the bit, as nothing was off the CPU.
    for (url, before) in tiles.iter().zip(before) {
        assert_eq!(coverage(url), before, "{url}");
    }
}

#[test]
fn a_page_stops_the_reading_and_has_it_done_after_all() {
    let folder = tempfile::tempdir().unwrap();
    let session = Arc::new(session(&folder, 10));
    session.stop();
    let loader = session.clone();
    let loading = std::thread::spawn(move || loader.load());
    let end = Instant::now() + Duration::from_secs(60);
    while !session.runs[0].stage().stopped {
        assert!(Instant::now() < end, "the reading was not stopped");
        std::thread::sleep(Duration::from_millis(5));
    }
    let failure = answer(&session, "api/v1/report?run=a").unwrap_err();
    assert!(
        failure.loading && failure.error.contains("stopped"),
        "{failure:?}"
    );
    session.go();
    loading.join().unwrap();
    assert_eq!(json(&session, "api/v1/report?run=a")["tasks"], 21);
    assert!(!session.runs[0].stage().stopped);
}

#[test]
fn what_is_no_trace_is_not_sketched() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("x");
    std::fs::write(&path, b"nothing of the kind").unwrap();
    let settings = Settings {
        overview_from: 0,
        ..Settings::default()
    };
    let session = Session::new(&[path], settings).unwrap();
    session.load();
    let failure = answer(&session, "api/v1/meta").unwrap_err();
    assert!(failure.error.contains("is not a trace"), "{failure:?}");
}
