//! Pictures of a trace that could be read only in part.

use workspan_analysis::{Options, report};

use crate::pictures::look::{session, tile, tiles, top_level};

/// A trace in which worker 1's records end at 60, while the root's task goes on until 200.
fn trace(unread: &str) -> String {
    format!(
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
    )
}

const UNREAD: &str = r#","unread":{"damaged":1,"threads":1}"#;
const KINDS: [&str; 4] = ["delay", "no_work_sched", "no_work_app", "unread"];

/// The free time by kind: for each row (in 255ths of bins), and in the profile.
fn drawn(text: &str) -> ([[f64; 4]; 2], [f64; 4]) {
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let session = session(dag);
    let level = top_level(&session);
    let (mut rows, mut profile) = ([[0.0; 4]; 2], [0.0; 4]);
    let ticks = (1u64 << level) as f64;
    for index in 0..tiles(&session, level) {
        let (of_rows, of_all) = (
            tile(&session, "rows", level, index),
            tile(&session, "profile", level, index),
        );
        for (kind, name) in KINDS.into_iter().enumerate() {
            for (row, sums) in rows.iter_mut().enumerate() {
                let own = &of_rows.plane(name)[row * 1024..(row + 1) * 1024];
                sums[kind] += own.iter().sum::<f64>() * ticks / 255.0;
            }
            profile[kind] += of_all.plane(name).iter().sum::<f64>() * ticks;
        }
    }
    (rows, profile)
}

#[test]
fn what_was_not_read_is_neither_delay_nor_missing_work() {
    let (rows, profile) = drawn(&trace(UNREAD));
    assert_eq!(rows[1], [10.0, 0.0, 20.0, 140.0]);
    // The root waits for something that was not read.
    assert_eq!(rows[0], [0.0, 0.0, 0.0, 5.0]);
    assert_eq!(profile, [10.0, 0.0, 20.0, 145.0]);
    // If everything was read, the same strands leave no doubt.
    let (_, profile) = drawn(&trace(""));
    assert_eq!(profile[3], 0.0);
    assert_eq!(profile.iter().sum::<f64>(), 175.0);
}

#[test]
fn the_report_says_the_same_and_its_parts_add_up() {
    let text = trace(UNREAD);
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    let b = &report.breakdown;
    assert_eq!((b.delay, b.no_work_app, b.unread), (10, 20, 145));
    assert_eq!(b.work + b.lost() + b.unread, b.total());
    assert_eq!(report.causes.lost, b.lost());
}
