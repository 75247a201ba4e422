//! Steal attempts, sleep, leapfrogs and spawns, compared with counts by hand.

use workspan_analysis::{Options, statistics::statistics};
use workspan_dag::{NONE, TaskKind, ThreadEvent};

use crate::pictures::look::{json, session, tile, tiles, top_level};
use crate::pictures::runs::{Shape, make};

#[test]
fn failed_attempts_and_sleep_stand_where_they_were() {
    let mut dag = make(3, Shape::default());
    let begin = dag.strands.start[0];
    let end = *dag.strands.end.iter().max().unwrap();
    let elapsed = end - begin;
    dag.thread_events.clear();
    for i in 0..40 {
        let t = begin + elapsed * i / 40;
        dag.thread_events.push((t, 1, ThreadEvent::StealFailed(0)));
    }
    // The thread sleeps for a quarter of the time, and from the last tenth to the end.
    for (t, event) in [
        (begin + elapsed / 4, ThreadEvent::Sleep),
        (begin + elapsed / 2, ThreadEvent::Wake),
        (end - elapsed / 10, ThreadEvent::Sleep),
    ] {
        dag.thread_events.push((t, 0, event));
    }
    dag.thread_events.sort_by_key(|event| event.0);
    let session = session(dag);
    let run = &json(&session, "meta")["runs"][0];
    assert_eq!(run["has"]["attempts"], true);
    assert_eq!(run["has"]["sleeps"], true);
    for level in [top_level(&session), top_level(&session).saturating_sub(2)] {
        let (mut failed, mut asleep) = ([0.0; 2], [0.0; 2]);
        for index in 0..tiles(&session, level) {
            let rows = tile(&session, "rows", level, index);
            for row in 0..2 {
                let own = row * 1024..(row + 1) * 1024;
                failed[row] += rows.plane("failed")[own.clone()].iter().sum::<f64>();
                let sum: f64 = rows.plane("asleep")[own].iter().sum();
                asleep[row] += sum * (1u64 << level) as f64 / 255.0;
            }
        }
        assert_eq!(failed, [0.0, 40.0], "level {level}");
        assert_eq!(asleep[1], 0.0);
        let share = asleep[0] / elapsed as f64;
        assert!((share - 0.35).abs() < 0.02, "level {level}: {share}");
    }
}

/// Worker 1 takes task 2 from the root while its task 1 waits for task 3, which worker 0 took.
const LEAPFROG: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":0,"w":0,"task":0,"child":1,"site":"a"}
{"ev":"resume","t":0,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":2,"site":"b"}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"begin","t":10,"w":1,"task":1}
{"ev":"create","t":20,"w":1,"task":1,"child":3,"site":"c"}
{"ev":"resume","t":20,"w":1,"task":1}
{"ev":"wait","t":30,"w":1,"task":1}
{"ev":"wait","t":30,"w":0,"task":0}
{"ev":"begin","t":35,"w":0,"task":3}
{"ev":"begin","t":40,"w":1,"task":2}
{"ev":"end","t":80,"w":1,"task":2}
{"ev":"end","t":100,"w":0,"task":3}
{"ev":"resume","t":100,"w":1,"task":1}
{"ev":"end","t":120,"w":1,"task":1}
{"ev":"resume","t":120,"w":0,"task":0}
{"ev":"end","t":130,"w":0,"task":0}"#;

#[test]
fn steals_of_waiting_thieves_are_leapfrogs_though_no_runtime_told() {
    let mut seen = 0;
    let random = (1..6).map(|seed| make(seed, Shape::default()));
    let by_hand = workspan_reader::text::read(LEAPFROG.as_bytes()).unwrap();
    for mut dag in random.chain([by_hand]) {
        dag.steals.clear();
        let all = statistics(&dag, &Options::default()).unwrap();
        let session = session(dag);
        let run = &json(&session, "meta")["runs"][0];
        assert_eq!(run["leaps"], all.steals.leapfrogs);
        assert_eq!(run["steals"], all.steals.count);
        let mut drawn = 0;
        let top = top_level(&session);
        for index in 0..tiles(&session, top) {
            let arcs = tile(&session, "arcs", top, index);
            drawn += arcs
                .plane("leap")
                .iter()
                .filter(|&&leap| leap > 0.0)
                .count();
        }
        assert_eq!(drawn as u64, all.steals.leapfrogs);
        seen += drawn;
    }
    assert!(seen > 0, "no run has a leapfrog");
}

#[test]
fn a_dot_tells_what_was_spawned_there_and_how_much_before() {
    let dag = make(5, Shape::default());
    let creators = |w: u32, deferred: bool| {
        let tasks = 0..dag.tasks.len();
        let own = tasks.filter(|&task| {
            let by = dag.tasks.creator[task];
            let kind = dag.tasks.kind[task] == TaskKind::Deferred || !deferred;
            by != NONE && dag.strands.thread[by as usize] == w && kind
        });
        own.count() as u64
    };
    let all = [creators(0, false), creators(1, false)];
    let deferred = [creators(0, true), creators(1, true)];
    let session = session(dag.clone());
    let level = top_level(&session);
    for row in 0..2 {
        let mut total = 0;
        let mut before = 0;
        for bin in 0..1024 {
            let url = format!("spawned?run=a&row={row}&level={level}&bin={bin}");
            let told = json(&session, &url);
            let here = told["total"].as_u64().unwrap();
            total += here;
            assert!(told["before"].as_u64().unwrap() >= before);
            before = told["before"].as_u64().unwrap();
            let sites = told["sites"].as_array().unwrap().iter();
            let by_site: u64 = sites.map(|site| site[1].as_u64().unwrap()).sum();
            assert_eq!(by_site, here);
        }
        assert_eq!(total, all[row]);
        assert_eq!(before, deferred[row]);
    }
    assert!(all[0] > 0);
}
