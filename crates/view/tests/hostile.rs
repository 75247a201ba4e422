//! Traces that were written to harm whoever opens them: answers must stay small, and memory
//! proportional to the file.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../reader/tests/heap/mod.rs"]
mod heap;

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value;
use workspan_view::html::{self, Carry};
use workspan_view::session::Settings;
use workspan_view::{Session, answer};

/// A trace in which each child of the root has its own spawn site in its own file.
fn many_sites(count: usize) -> String {
    let mut text = String::from(
        "{\"workspan_trace\":1,\"workers\":2,\"time_unit\":\"ns\",\"steals\":\"child\",\"name\":\"many sites\"}\n\
         {\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n",
    );
    for task in 1..=count {
        let (t, end) = (task * 10, task * 10 + 10);
        writeln!(
            text,
            "{{\"ev\":\"create\",\"t\":{t},\"w\":0,\"task\":0,\"child\":{task},\"site\":\"made/up{task}.c:{task}\"}}\n\
             {{\"ev\":\"resume\",\"t\":{t},\"w\":0,\"task\":0}}\n\
             {{\"ev\":\"begin\",\"t\":{t},\"w\":1,\"task\":{task}}}\n\
             {{\"ev\":\"end\",\"t\":{end},\"w\":1,\"task\":{task}}}"
        )
        .unwrap();
    }
    let t = count * 10 + 10;
    for event in ["wait", "resume", "end"] {
        writeln!(text, "{{\"ev\":\"{event}\",\"t\":{t},\"w\":0,\"task\":0}}").unwrap();
    }
    text
}

fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.jsonl");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn loaded(path: PathBuf) -> Session {
    let session = Session::new(&[path], Settings::default()).unwrap();
    session.load();
    session
}

fn ask(session: &Session, request: &str) -> Vec<u8> {
    let reply = answer(session, &format!("api/v1/{request}"));
    let reply = reply.unwrap_or_else(|e| panic!("{request}: {e}"));
    reply.bytes().to_vec()
}

/// If any step took time quadratic in the number of sites, this test would take hours.
#[test]
fn a_trace_may_have_any_number_of_sites() {
    let long = std::env::var_os("WORKSPAN_LONG").is_some();
    let count: usize = if long { 1_000_000 } else { 60_000 };
    let text = many_sites(count);
    let size = text.len();
    let (_folder, path) = written(&text);
    drop(text);
    heap::within(size, || {
        let mut session = loaded(path);
        // The sites shown, and the number of further ones.
        let meta: Value = serde_json::from_slice(&ask(&session, "meta")).unwrap();
        let run = &meta["runs"][0];
        let shown = run["sites"].as_array().unwrap().len();
        assert!((1000..10_000).contains(&shown), "{shown}");
        let more = run["more_sites"].as_u64().unwrap() as usize;
        assert_eq!(shown + more, count + 1);
        for request in ["report?run=a", "sites?run=a"] {
            let bytes = ask(&session, request);
            assert!(bytes.len() < 20_000_000, "{request}: {}", bytes.len());
            let told: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(told["sites"].as_array().unwrap().len(), shown, "{request}");
        }
        for request in [
            "summary?run=a",
            "critical?run=a",
            "regions?run=a",
            "scalability",
            "dag?run=a&ids=r",
            "dag?run=a&ids=t0",
            "task?run=a&id=0",
            "strand?run=a&id=7",
            "ancestors?run=a&task=9",
            "source?run=a&file=made%2Fup7.c",
            "whatif?run=a&what=site%3A1&factors=2",
        ] {
            let bytes = ask(&session, request);
            assert!(bytes.len() < 4_000_000, "{request}: {}", bytes.len());
        }
        let carry = Carry {
            budget: 5_000_000,
            whole_sources: true,
        };
        match html::report(&mut session, &carry) {
            Ok(made) => assert!(made.html.len() < 5_000_000, "{}", made.html.len()),
            Err(why) => println!("skipped: a report of many sites: {why}"),
        }
    });
}
