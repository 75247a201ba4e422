//! Work time stretch in the formats for people and programs. The texts are under `runs/`.

use serde_json::Value;
use workspan_analysis::stretch::{Latency, Stretch, StretchOptions, stretch};
use workspan_analysis::{Options, report};
use workspan_export::{CompareOptions, StretchTables, stretch_json, stretch_text};

/// A root that works for 100 ms, spawns a task at fft.c:90 that takes `task` ms with `misses` cache
/// misses, works for `own` ms itself and waits; on one worker the task runs in the wait.
fn run(workers: u32, task: u64, own: u64, misses: u64) -> String {
    let places = r#"[{"label":"root"},{"label":"fft.c:90","file":"fft.c","line":90,"function":"fft","primitive":"task"},{"label":"fft.c:97","file":"fft.c","line":97,"function":"fft","primitive":"taskwait"}]"#;
    let waits = 100 + own;
    let (w, begun) = if workers > 1 { (1, 110) } else { (0, waits) };
    let end = begun + task;
    let joined = end.max(waits);
    let last = joined + 20;
    let half = begun + task / 2;
    format!(
        r#"{{"workspan_trace":1,"workers":{workers},"time_unit":"ms","steals":"child","name":"fft","places":{places}}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"region_begin","t":0,"w":0,"task":0,"region":"prepare"}}
{{"ev":"region_begin","t":40,"w":0,"task":0,"region":"inner"}}
{{"ev":"region_end","t":60,"w":0,"task":0,"region":"inner"}}
{{"ev":"region_end","t":100,"w":0,"task":0,"region":"prepare"}}
{{"ev":"create","t":100,"w":0,"task":0,"child":1,"site":"fft.c:90","at":"fft.c:90","counters":{{"cache_misses":1000}}}}
{{"ev":"resume","t":100,"w":0,"task":0}}
{{"ev":"wait","t":{waits},"w":0,"task":0,"at":"fft.c:97"}}
{{"ev":"begin","t":{begun},"w":{w},"task":1}}
{{"ev":"region_begin","t":{half},"w":{w},"task":1,"region":"transform"}}
{{"ev":"end","t":{end},"w":{w},"task":1,"counters":{{"cache_misses":{misses}}}}}
{{"ev":"resume","t":{joined},"w":0,"task":0}}
{{"ev":"end","t":{last},"w":0,"task":0}}
"#
    )
}

fn result(latencies: &[f64]) -> Stretch {
    result_of(latencies, None)
}

fn result_of(latencies: &[f64], metric: Option<&str>) -> Stretch {
    let read = |text: String| workspan_reader::text::read(text.as_bytes()).unwrap();
    let serial = read(run(1, 200, 150, 500_000));
    let parallel = read(run(2, 300, 160, 900_000));
    let report = report(&parallel, &Options::default()).unwrap();
    let options = StretchOptions {
        latencies: latencies
            .iter()
            .map(|&ns| Latency {
                counter: "cache_misses".into(),
                ns,
            })
            .collect(),
        metric: metric.map(str::to_owned),
        ..StretchOptions::default()
    };
    stretch(&serial, &parallel, &report, &options).unwrap()
}

#[test]
fn the_text_leads_with_what_stretched() {
    let text = stretch_text(
        &result(&[100.0]),
        "fft",
        StretchTables::default(),
        &CompareOptions::default(),
    );
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "{text}");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../runs");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("stretch", text));
}

#[test]
fn a_counter_takes_the_place_of_the_time_in_the_tables() {
    let result = result_of(&[], Some("cache_misses"));
    let (tables, looks) = (StretchTables::default(), CompareOptions::default());
    let text = stretch_text(&result, "fft", tables, &looks);
    let text: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for line in [
        "Of cache_misses it had 901,000, against 501,000 in the serial run.",
        "> Most of it is in fft.c:90: start -> end: +400,000, 80 % more.",
        "Levels serial parallel more",
        "level 1 500,000 900,000 +400,000 +80.0 %",
        "transform 250,000 450,000 +200,000 +80.0 %",
    ] {
        let found = text.iter().any(|l| l.replace('\u{a0}', " ") == line);
        assert!(found, "{line}\n{text:#?}");
    }
}

/// A region inside another one does not count; half of the task is in its region, with half of its
/// counters.
#[test]
fn marked_regions_add_up_to_what_lies_in_them() {
    let json: Value = serde_json::from_str(&stretch_json(&result(&[]), None)).unwrap();
    let regions = json["regions"].as_array().unwrap();
    let row = |row: &Value| {
        let number = |key: &str, side: &str| row[key][side].as_u64().unwrap();
        let name = row["region"].as_str().unwrap().to_owned();
        let misses = row["counters"]["cache_misses"]["parallel"].as_u64();
        (
            name,
            number("time", "serial"),
            number("time", "parallel"),
            misses.unwrap(),
        )
    };
    let rows: Vec<_> = regions.iter().map(row).collect();
    assert_eq!(
        rows,
        [
            ("transform".to_owned(), 100, 150, 450_000),
            ("prepare".to_owned(), 100, 100, 1000),
            ("inner".to_owned(), 0, 0, 0),
        ]
    );
}

#[test]
fn json_has_whole_ticks_that_add_up() {
    let json: Value = serde_json::from_str(&stretch_json(&result(&[100.0]), None)).unwrap();
    // 2 x 430 ms less 470 ms.
    assert_eq!(
        (&json["loss"], &json["serial_work"]),
        (&390.into(), &470.into())
    );
    let parts = json["loss_parts"].as_object().unwrap();
    assert_eq!(
        parts.values().map(|v| v.as_i64().unwrap()).sum::<i64>(),
        390
    );
    assert_eq!(parts["stretch"], 110);
    assert_eq!(json["sites"][0]["site"]["line"], 90);
    assert_eq!(json["sites"][0]["stretch"], 100);
    // 400,000 misses at 100 ns are 40 of the 100 ms.
    assert_eq!(json["sites"][0]["explains"]["cache_misses"], 0.4);
    assert_eq!(json["matched"]["path"]["parallel"], 580);
    assert_eq!(json["subtrees"][0]["serial_task"], 1);
}
