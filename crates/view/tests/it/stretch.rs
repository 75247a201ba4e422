//! The stretch in the Sites view, of each site and of its code, against the run on one worker.

use std::path::PathBuf;

use serde_json::Value;
use workspan_view::session::Settings;
use workspan_view::{Session, answer};

/// A root creates one task and waits for it. The task runs on `worker` over [`from`, `to`);
/// afterwards the root runs for `rest`.
fn trace(workers: u32, worker: u32, from: u64, to: u64, rest: u64) -> String {
    let places = r#"[{"label":"root"},{"label":"src/a.rs:5","file":"src/a.rs","line":5,"function":"a::go","primitive":"spawn"},{"label":"src/a.rs:9","file":"src/a.rs","line":9,"function":"a::go","primitive":"scope"}]"#;
    let head = format!(
        r#"{{"workspan_trace":1,"workers":{workers},"threads":{workers},"time_unit":"us","steals":"child","places":{places}}}"#
    );
    let end = to + rest;
    let lines = [
        head,
        r#"{"ev":"begin","t":0,"w":0,"task":0}"#.to_owned(),
        r#"{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"src/a.rs:5","at":"src/a.rs:5"}"#
            .to_owned(),
        r#"{"ev":"resume","t":10,"w":0,"task":0}"#.to_owned(),
        r#"{"ev":"wait","t":20,"w":0,"task":0,"at":"src/a.rs:9"}"#.to_owned(),
        format!(r#"{{"ev":"begin","t":{from},"w":{worker},"task":1}}"#),
        format!(r#"{{"ev":"end","t":{to},"w":{worker},"task":1}}"#),
        format!(r#"{{"ev":"resume","t":{to},"w":0,"task":0}}"#),
        format!(r#"{{"ev":"end","t":{end},"w":0,"task":0}}"#),
    ];
    lines.join("\n") + "\n"
}

#[test]
fn sites_and_their_code_are_stretched_by_what_they_took_longer() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    // The task takes 45 instead of 30 ticks, the root's last strand 12 instead of 10.
    let files = [
        file("two.jsonl", trace(2, 1, 10, 55, 12)),
        file("one.jsonl", trace(1, 0, 20, 50, 10)),
    ];
    let session = Session::new(&files, Settings::default()).unwrap();
    session.load();
    let ask = |url: &str| -> Value {
        serde_json::from_slice(answer(&session, url).unwrap().bytes()).unwrap()
    };
    let codes = ask("api/v1/meta")["runs"][0]["codes"].clone();
    let sites = ask("api/v1/sites?run=a")["sites"].clone();
    let find = |place: u64| {
        let all = sites.as_array().unwrap().iter();
        all.clone().find(|s| s["place"] == place).unwrap().clone()
    };
    let (root, task) = (find(0), find(1));
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
    };
    near(&task["stretch"], 0.5);
    near(&root["stretch"], 2.0 / 30.0);
    near(&task["blocks"][0]["stretch"], 0.5);
    let by_code = |label: &str| {
        let all = root["blocks"].as_array().unwrap().iter();
        let found = all
            .clone()
            .find(|block| codes[block["code"].as_u64().unwrap() as usize]["label"] == label);
        found.unwrap_or_else(|| panic!("no {label}: {codes}"))["stretch"].clone()
    };
    near(&by_code("after go:9"), 0.2);
    near(&by_code("after go:5"), 0.0);
    // The run on one worker has no run to be compared with.
    assert_eq!(
        ask("api/v1/sites?run=b")["sites"][0]["stretch"],
        Value::Null
    );
}
