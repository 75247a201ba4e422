//! Valid traces with targeted damage go through everything: reading, building, reports and exports
//! give an error or an answer, and never take more memory than is appropriate for the file.
#![allow(clippy::unwrap_used, reason = "a test that can not go on has failed")]

mod damage;
#[path = "../../../reader/tests/heap/mod.rs"]
mod heap;
mod lines;
mod run;

use std::path::Path;
use std::sync::Mutex;

use proptest::prelude::*;
use workspan_analysis::{Options, report};
use workspan_dag::{Dag, Error};
use workspan_export::{Charset, TextOptions, report_json, report_text};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;
use workspan_reader::recorded::preview::preview;
use workspan_trace::entry::ClockPair;
use workspan_trace::window::{Window, copy_window};
use workspan_trace::{Tolerance, Trace, TraceWriter};

use damage::{damage, file, number};
use lines::line_damage;
use run::Run;

/// Allocations are counted for the whole process, so only one test runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn opened(bytes: &[u8], allow_truncated: bool) -> Result<Dag, Error> {
    let options = OpenOptions {
        allow_truncated,
        ..OpenOptions::default()
    };
    if let Ok(preview) = heap::within(bytes.len(), || preview(bytes, &options)) {
        assert!(preview.begin <= preview.end);
        let width = 1u128 << preview.level;
        let all = preview.threads.iter().flatten();
        assert!(
            all.map(|bin| u128::from(bin.busy))
                .all(|busy| busy <= width)
        );
    }
    heap::within(bytes.len(), || read(Path::new("t"), bytes, &options))
}

/// What `record` makes of it if a part of the run is kept.
fn part(bytes: &[u8], from: u64, to: u64) -> Option<Vec<u8>> {
    let pair = |ticks| ClockPair { ticks, ns: ticks };
    heap::within(bytes.len(), || {
        let trace = Trace::open(bytes).ok()?;
        let window = Window {
            from: pair(from),
            to: pair(to),
        };
        let out = std::io::Cursor::new(Vec::new());
        let mut writer = TraceWriter::new(out, trace.header).unwrap();
        copy_window(&trace, &window, &[], &mut writer).unwrap();
        let part = writer.finish().unwrap().into_inner();
        let cut = Trace::open(&part).unwrap();
        let whole = cut.chunks(Tolerance::Strict).all(|chunk| chunk.is_ok());
        assert!(whole, "a file we wrote is damaged");
        Some(part)
    })
}

/// Checks what all code after the reading relies on.
fn in_order(dag: &Dag) {
    let s = &dag.strands;
    for i in 0..s.len() {
        assert!(s.start[i] <= s.end[i], "strand {i} ends before it starts");
        dag.for_each_predecessor(i as u32, |p, kind| {
            assert!(p < i as u32, "{kind:?} {p} → {i}");
            assert!(s.end[p as usize] <= s.start[i], "{kind:?} {p} → {i}");
        });
    }
}

/// Makes the report and the exports of a run.
fn report_and_export(dag: &Dag, length: usize) {
    in_order(dag);
    heap::within(length, || {
        let options = Options::default();
        let report = report(dag, &options).unwrap();
        let sum = &report.breakdown;
        assert_eq!(
            sum.work + sum.lost() + sum.unread,
            sum.total(),
            "MODEL.md §5: what the workers did adds up to W · elapsed"
        );
        let looks = TextOptions {
            charset: Charset::Strict,
            ..TextOptions::default()
        };
        assert!(report_text(dag, &report, &options, &looks).is_ascii());
        let json = report_json(dag, &report, &options);
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
    });
    let mut text = Vec::new();
    workspan_reader::text::write(dag, &mut text).unwrap();
    let again = read(Path::new("t"), &text, &OpenOptions::default()).unwrap_or_else(|error| {
        let lines: Vec<&str> = std::str::from_utf8(&text).unwrap().lines().collect();
        let last = &lines[lines.len().saturating_sub(3)..];
        panic!("what was exported can't be read: {error}; it ends in {last:?}")
    });
    assert_eq!(again.strands.len(), dag.strands.len());
    assert_eq!(again.tasks.len(), dag.tasks.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_not_damaged_is_read_in_full(seed in any::<u64>(), threads in 1..5usize) {
        let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
        let run = Run::new(seed, threads, 40);
        let bytes = file(&run.pieces());
        let dag = opened(&bytes, false).unwrap();
        let creates: u64 = run.threads.iter().flatten().map(|r| match r.kind {
            workspan_trace::wire::Kind::Create | workspan_trace::wire::Kind::Root => 1,
            workspan_trace::wire::Kind::Join => 2,
            _ => 0,
        }).sum();
        prop_assert_eq!(dag.tasks.len() as u64, creates);
        prop_assert!(
            !dag.meta.warnings.iter().any(|w| w.contains("repair") || w.contains("damage")),
            "{:?}", dag.meta.warnings
        );
        report_and_export(&dag, bytes.len());
    }

    #[test]
    fn damaged_records_and_chunks_end_in_an_error_or_an_answer(
        seed in any::<u64>(),
        threads in 1..5usize,
        all in prop::collection::vec(damage(), 1..6),
        from in 0..3000u64,
        to in number(),
    ) {
        let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
        let mut run = Run::new(seed, threads, 30);
        for one in &all {
            one.to_records(&mut run);
        }
        let mut pieces = run.pieces();
        for one in &all {
            one.to_pieces(&mut pieces);
        }
        let bytes = file(&pieces);
        for allow_truncated in [false, true] {
            match opened(&bytes, allow_truncated) {
                Ok(dag) => report_and_export(&dag, bytes.len()),
                Err(error) => prop_assert!(error.to_string().len() < 1000),
            }
        }
        if let Some(part) = part(&bytes, from, to) {
            prop_assert!(part.len() <= bytes.len() * 4 + (64 << 10), "{}", part.len());
            if let Ok(dag) = opened(&part, false) {
                report_and_export(&dag, bytes.len());
            }
        }
    }

    #[test]
    fn damaged_lines_end_in_an_error_or_an_answer(
        seed in any::<u64>(),
        threads in 1..4usize,
        all in prop::collection::vec(line_damage(), 1..5),
    ) {
        let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
        let run = Run::new(seed, threads, 20);
        let dag = opened(&file(&run.pieces()), false).unwrap();
        let mut text = Vec::new();
        workspan_reader::text::write(&dag, &mut text).unwrap();
        let mut lines = lines::of(&text);
        for one in &all {
            one.to(&mut lines);
        }
        let text = lines::joined(&lines);
        for allow_truncated in [false, true] {
            match opened(&text, allow_truncated) {
                Ok(dag) => report_and_export(&dag, text.len()),
                Err(error) => prop_assert!(error.to_string().len() < 1000),
            }
        }
    }
}

/// Unread data never appears as a measured 0, or as a fact about the whole run.
#[test]
fn a_report_of_a_part_says_so_first_and_ticks_nothing_off() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let line = concat!(
        r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","recorded":true,"#,
        r#""unread":{"damaged":1,"threads":1,"off_cpu":true}}"#,
        "\n",
        r#"{"ev":"begin","t":0,"w":0,"task":0}"#,
        "\n",
        r#"{"ev":"create","t":50,"w":0,"task":0,"child":1,"site":"a.rs:1"}"#,
        "\n",
        r#"{"ev":"begin","t":50,"w":0,"task":1}"#,
        "\n",
        r#"{"ev":"end","t":90,"w":0,"task":1}"#,
        "\n",
        r#"{"ev":"resume","t":90,"w":0,"task":0}"#,
        "\n",
        r#"{"ev":"end","t":99,"w":0,"task":0}"#,
        "\n",
    );
    let dag = opened(line.as_bytes(), false).unwrap();
    let options = Options::default();
    let report = report(&dag, &options).unwrap();
    let said = workspan_export::summary(&dag, &report, &options);
    assert!(
        said.verdict
            .starts_with("Only part of this trace could be read."),
        "{}",
        said.verdict
    );
    assert!(!said.verdict.contains("busy"), "{}", said.verdict);
    for checked in &said.checked {
        assert_eq!(checked.state, workspan_export::State::Absent, "{checked:?}");
    }
    let value = |what: &str| said.checked.iter().find(|c| c.what == what).unwrap();
    assert!(value("Waiting for a CPU").value.contains("unknown"));
    let json = report_json(&dag, &report, &options);
    assert!(json.contains("\"off_cpu\": true"), "{json}");
}

/// With one task, or tasks of no length, it is not known whether the rest had more.
#[test]
fn a_report_of_a_part_does_not_say_what_the_rest_did() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let verdict = |unread: &str, end: u64| {
        let text = format!(
            r#"{{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child"{unread}}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"end","t":{end},"w":0,"task":0}}
"#
        );
        let dag = opened(text.as_bytes(), false).unwrap();
        let options = Options::default();
        let report = report(&dag, &options).unwrap();
        workspan_export::summary(&dag, &report, &options).verdict
    };
    let unread = r#","unread":{"damaged":1,"threads":1}"#;
    let fact = "it created no other tasks";
    assert!(verdict("", 99).contains(fact));
    let part = verdict(unread, 99);
    assert!(
        part.starts_with("Only part of this trace could be read."),
        "{part}"
    );
    assert!(!part.contains(fact), "{part}");
    assert!(verdict("", 0).starts_with("No time passes in this trace"));
    assert!(verdict(unread, 0).contains("what could be read of this trace"));
}
