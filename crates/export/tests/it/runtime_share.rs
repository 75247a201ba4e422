//! The sentence on the runtime's part of the work, by samples.

use workspan_analysis::{Options, report};
use workspan_export::{TextOptions, report_text};

/// A task of 100 ms with 100 samples, of which `of_runtime` are the runtime's.
fn said(of_runtime: u64) -> String {
    let mut text =
        r#"{"workspan_trace":1,"workers":2,"time_unit":"ms","steals":"child","sample_hz":1000}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":0,"w":0,"task":0,"child":1,"site":"a.c:7"}
{"ev":"resume","t":0,"w":0,"task":0}
{"ev":"wait","t":0,"w":0,"task":0}
{"ev":"begin","t":0,"w":0,"task":1}
{"ev":"end","t":100,"w":0,"task":1}
{"ev":"resume","t":100,"w":0,"task":0}
{"ev":"end","t":100,"w":0,"task":0}
{"ev":"frame","frame":0,"function":"work","file":"a.c","line":9}
{"ev":"frame","frame":1,"function":"GOMP_task","runtime":true}
{"ev":"stack","stack":0,"frames":[0,1]}
{"ev":"stack","stack":1,"frames":[1,0,1]}
"#
        .to_owned();
    for t in 0..100 {
        let stack = u64::from(t < of_runtime);
        text += &format!("{{\"ev\":\"sample\",\"t\":{t},\"w\":0,\"stack\":{stack}}}\n");
    }
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let options = Options::default();
    let report = report(&dag, &options).unwrap();
    let text = report_text(&dag, &report, &options, &TextOptions::default());
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn the_runtimes_part_of_the_work_is_told_from_a_third_on() {
    let part = |percent: u64| format!("By samples, {percent} % of ");
    let most = said(93);
    assert!(
        most.contains("however many workers it has. By samples, 93 % of its work is the runtime's"),
        "{most}"
    );
    assert_eq!(most.matches("By samples").count(), 1, "{most}");
    let some = said(40);
    assert!(
        some.contains(&(part(40) + "the work is the runtime's")),
        "{some}"
    );
    assert!(some.contains("bounds include it."), "{some}");
    let few = said(20);
    assert!(!few.contains("By samples"), "{few}");
}
