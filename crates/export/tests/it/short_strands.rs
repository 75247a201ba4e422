//! The rule of short strands in the report: Cilkview's 500 instructions.

use serde_json::Value;
use workspan_analysis::{Metric, Options, report};
use workspan_export::{TextOptions, report_json, report_text};

/// Ten tasks of `each` instructions, created by a root whose strands have `each` instructions in
/// total.
fn trace(each: u64) -> String {
    let mut text =
        r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child","name":"short"}
{"ev":"begin","t":0,"w":0,"task":0}
"#
        .to_owned();
    let counters = format!(r#""counters":{{"instructions":{each}}}"#);
    for i in 0..10u64 {
        let (t, child) = (100 * i, i + 1);
        text += &format!(
            r#"{{"ev":"create","t":{t},"w":0,"task":0,"child":{child},"site":"a.c:7",{counters}}}
{{"ev":"begin","t":{t},"w":0,"task":{child}}}
{{"ev":"end","t":{end},"w":0,"task":{child},{counters}}}
{{"ev":"resume","t":{end},"w":0,"task":0}}
"#,
            end = t + 100
        );
    }
    text + &format!(
        r#"{{"ev":"wait","t":1000,"w":0,"task":0,{counters}}}
{{"ev":"resume","t":1000,"w":0,"task":0}}
{{"ev":"end","t":1000,"w":0,"task":0,{counters}}}
"#
    )
}

fn said(each: u64) -> (String, Value) {
    let dag = workspan_reader::text::read(trace(each).as_bytes()).unwrap();
    let measured = Options {
        metric: Metric::Counter("instructions".into()),
        ..Options::default()
    };
    let report = report(&dag, &measured).unwrap();
    let text = report_text(&dag, &report, &measured, &TextOptions::default());
    let json = report_json(&dag, &report, &measured);
    let words: Vec<&str> = text.split_whitespace().collect();
    (words.join(" "), serde_json::from_str(&json).unwrap())
}

#[test]
fn strands_below_500_instructions_are_short() {
    // 22 strands with instructions, divided by 1 + 2 x 10 + 1.
    let (text, json) = said(499);
    let says = "The tasks are small, and most of them are created at a.c:7: a strand has 499 \
                instructions on average, and below 500 the overhead of scheduling dominates.";
    assert!(text.contains(says), "{text}");
    assert_eq!(json["short_strands"]["rule"], "instructions", "{json}");
    assert_eq!(json["short_strands"]["threshold"], 500);
    // Above it, only the cost of a steal counts.
    let (text, json) = said(500);
    assert!(!text.contains("overhead of scheduling dominates"), "{text}");
    assert_eq!(json["short_strands"]["rule"], "steal");
    let (text, json) = said(15_000);
    assert!(!text.contains("The tasks are small"), "{text}");
    assert_eq!(json["short_strands"], Value::Null);
}
