//! Partly read traces: the unknown worker time is a part of its own.

use serde_json::Value;
use workspan_analysis::{Options, binned_timeline, report};
use workspan_dag::Dag;
use workspan_export::{
    Cells, Charset, TextOptions, TimelineOptions, report_json, report_text, summary, timeline_bins,
    timeline_text,
};

/// Worker 1's records end at 60, while the root's task goes on to 200.
fn run(unread: &str) -> Dag {
    let text = format!(
        r#"{{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child"{unread}}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"create","t":20,"w":0,"task":0,"child":1,"site":"a"}}
{{"ev":"resume","t":20,"w":0,"task":0}}
{{"ev":"begin","t":30,"w":1,"task":1}}
{{"ev":"end","t":60,"w":1,"task":1}}
{{"ev":"wait","t":190,"w":0,"task":0}}
{{"ev":"resume","t":195,"w":0,"task":0}}
{{"ev":"end","t":200,"w":0,"task":0}}
"#
    );
    workspan_reader::text::read(text.as_bytes()).unwrap()
}

const UNREAD: &str = r#","unread":{"damaged":1,"threads":1}"#;

#[test]
fn text_and_json_have_it_and_the_verdict_promises_nothing() {
    let (dag, options) = (run(UNREAD), Options::default());
    let report = report(&dag, &options).unwrap();
    let text = report_text(&dag, &report, &options, &TextOptions::default());
    let row = text.lines().find(|line| line.contains("not read")).unwrap();
    assert!(row.contains("145") && row.contains("36 %"), "{text}");
    // Nobody is said to have run alone there.
    assert!(!text.contains("from 60 ns"), "{text}");
    let json: Value = serde_json::from_str(&report_json(&dag, &report, &options)).unwrap();
    assert_eq!(json["breakdown"]["unread"], 145);
    let said = summary(&dag, &report, &options).verdict;
    assert!(!said.contains("would gain nothing"), "{said}");
    let whole = run("");
    let of_whole = workspan_analysis::report(&whole, &options).unwrap();
    let json: Value = serde_json::from_str(&report_json(&whole, &of_whole, &options)).unwrap();
    assert_eq!(json["breakdown"].get("unread"), None);
}

#[test]
fn the_terminals_timeline_has_marks_where_records_are_missing() {
    let drawn = |unread: &str| {
        let dag = run(unread);
        let looks = TimelineOptions {
            width: 80,
            color: false,
            charset: Charset::Ascii,
            cells: Cells::Load,
        };
        let timeline = binned_timeline(&dag, (0, u64::MAX), timeline_bins(looks.width));
        timeline_text(&dag, &timeline, &looks)
    };
    let part = drawn(UNREAD);
    let row = part.lines().find(|line| line.contains("worker 1")).unwrap();
    assert!(row.contains("????") && row.contains(">="), "{row}");
    assert!(part.contains("?: not read"), "{part}");
    // Nothing is missing where the other worker runs.
    let row = part.lines().find(|line| line.contains("worker 0")).unwrap();
    assert!(!row.contains("????"), "{row}");
    assert!(!drawn("").contains('?'));
}
