//! Runs at the limits of what can be measured.

use workspan_analysis::{
    Error, FreeTime, Metric, Options, Report, WarningTopic, report, site_delays,
};
use workspan_dag::meta::UnreadPart;
use workspan_dag::{Dag, NONE, Place, TaskKind, raw};

fn run_of(header: &str, lines: &[&str]) -> Dag {
    let mut text =
        format!("{{\"workspan_trace\":1,\"time_unit\":\"ns\",\"steals\":\"child\",{header}}}\n");
    text.push_str(&lines.join("\n"));
    workspan_reader::text::read(text.as_bytes()).unwrap()
}

fn measure_with(header: &str, lines: &[&str], options: &Options) -> Result<Report, Error> {
    report(&run_of(header, lines), options)
}

fn measure(header: &str, lines: &[&str]) -> Report {
    measure_with(header, lines, &Options::default()).unwrap()
}

#[test]
fn one_task() {
    let report = measure(
        r#""workers":4"#,
        &[
            r#"{"ev":"begin","t":5,"w":0,"task":0}"#,
            r#"{"ev":"end","t":15,"w":0,"task":0}"#,
        ],
    );
    let ws = &report.work_span;
    assert_eq!(
        (ws.work, ws.span, ws.burdened_span, ws.parallelism()),
        (10, 10, 10, 1.0)
    );
    assert_eq!((ws.tasks, ws.spawns, ws.syncs, ws.steals), (1, 0, 0, 0));
    assert_eq!(
        (report.breakdown.work, report.breakdown.no_work_app),
        (10, 30)
    );
    assert_eq!(report.sites.len(), 1);
    assert_eq!(report.sites[0].critical_percent, 100.0);
    assert_eq!(report.low_parallelism[0].strands[0].alone, 10);
    assert_eq!(report.low_parallelism[0].lost_percent, 100.0);
}

#[test]
fn no_time_at_all() {
    let report = measure(
        r#""workers":2,"burden":7"#,
        &[
            r#"{"ev":"begin","t":9,"w":0,"task":0}"#,
            r#"{"ev":"create","t":9,"w":0,"task":0,"child":1,"site":"s"}"#,
            r#"{"ev":"resume","t":9,"w":0,"task":0}"#,
            r#"{"ev":"wait","t":9,"w":0,"task":0}"#,
            r#"{"ev":"begin","t":9,"w":1,"task":1}"#,
            r#"{"ev":"end","t":9,"w":1,"task":1}"#,
            r#"{"ev":"resume","t":9,"w":0,"task":0}"#,
            r#"{"ev":"end","t":9,"w":0,"task":0}"#,
        ],
    );
    let ws = &report.work_span;
    assert_eq!((ws.work, ws.span, ws.burdened_span), (0, 0, 7));
    assert_eq!((ws.parallelism(), ws.speedup(8)), (1.0, (1.0, 1.0)));
    assert_eq!(
        (report.breakdown.elapsed(), report.breakdown.lost()),
        (0, 0)
    );
    assert!(report.profile.running.is_empty() && report.profile.mean_running == 0.0);
    assert!(report.sites.iter().all(|s| s.critical_percent == 0.0));
    assert!(
        report
            .warnings
            .iter()
            .any(|w| w.about == WarningTopic::NoTime)
    );
}

#[test]
fn times_near_the_largest() {
    let end = (1u64 << 63) - 1;
    let report = measure(
        r#""workers":3,"burden":9223372036854775807"#,
        &[
            r#"{"ev":"begin","t":0,"w":0,"task":0}"#,
            r#"{"ev":"create","t":0,"w":0,"task":0,"child":1,"site":"s"}"#,
            r#"{"ev":"begin","t":1,"w":1,"task":1}"#,
            r#"{"ev":"end","t":9223372036854775807,"w":1,"task":1}"#,
            r#"{"ev":"resume","t":0,"w":0,"task":0}"#,
            r#"{"ev":"end","t":9223372036854775807,"w":0,"task":0}"#,
        ],
    );
    let end = u128::from(end);
    let ws = &report.work_span;
    assert_eq!(
        (ws.work, ws.span, ws.burdened_span),
        (2 * end - 1, end, 2 * end - 1)
    );
    let b = &report.breakdown;
    assert_eq!((b.work, b.delay, b.no_work_app), (2 * end - 1, 1, end));
    assert_eq!(b.total(), 3 * end);
}

#[test]
fn no_worker_busy() {
    // Everything runs outside the pool, half of it blocked.
    let report = measure(
        r#""workers":2,"threads":3"#,
        &[
            r#"{"ev":"begin","t":0,"w":2,"task":0}"#,
            r#"{"ev":"off","t":4,"w":2,"why":"blocked","on":"lock"}"#,
            r#"{"ev":"on","t":9,"w":2}"#,
            r#"{"ev":"end","t":10,"w":2,"task":0}"#,
        ],
    );
    let b = &report.breakdown;
    assert_eq!((b.work, b.blocked, b.no_work_app, b.delay), (5, 0, 15, 0));
    assert_eq!(
        (report.work_span.work, report.work_span.work_with_blocked),
        (5, 10)
    );
    assert!(
        report
            .warnings
            .iter()
            .any(|w| w.text.contains("--count-blocked"))
    );
}

#[test]
fn a_buried_wait() {
    // Worker 0 waits for 1, meanwhile takes 2, which is long, and continues long after 1 has ended.
    let dag = run_of(
        r#""workers":2"#,
        &[
            r#"{"ev":"begin","t":0,"w":0,"task":0}"#,
            r#"{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a"}"#,
            r#"{"ev":"resume","t":10,"w":0,"task":0}"#,
            r#"{"ev":"create","t":10,"w":0,"task":0,"child":2,"site":"b"}"#,
            r#"{"ev":"resume","t":10,"w":0,"task":0}"#,
            r#"{"ev":"wait","t":10,"w":0,"task":0,"of":[1]}"#,
            r#"{"ev":"begin","t":10,"w":1,"task":1}"#,
            r#"{"ev":"begin","t":10,"w":0,"task":2}"#,
            r#"{"ev":"end","t":20,"w":1,"task":1}"#,
            r#"{"ev":"end","t":50,"w":0,"task":2}"#,
            r#"{"ev":"resume","t":50,"w":0,"task":0}"#,
            r#"{"ev":"end","t":60,"w":0,"task":0}"#,
        ],
    );
    let b = report(&dag, &Options::default()).unwrap().breakdown;
    assert_eq!((b.buried, b.buried_ticks, b.delay_buried), (1, 30, 30));
    // The root waited; its tasks' sites have none of it.
    let sites: Vec<_> = site_delays(&dag)
        .iter()
        .map(|site| (site.buried, site.buried_ticks))
        .collect();
    assert_eq!(sites, [(1, 30), (0, 0), (0, 0)]);
    assert_eq!((b.delay, b.delay_by_edge), (30, [0, 0, 0, 0, 30, 0, 0]));
    assert_eq!(b.ready_path.scheduler_delay, 30);
}

#[test]
fn workers_are_not_free_where_nothing_was_read() {
    let mut dag = run_of(
        r#""workers":2"#,
        &[
            r#"{"ev":"begin","t":0,"w":0,"task":0}"#,
            r#"{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a"}"#,
            r#"{"ev":"resume","t":10,"w":0,"task":0}"#,
            r#"{"ev":"begin","t":10,"w":1,"task":1}"#,
            r#"{"ev":"end","t":40,"w":1,"task":1}"#,
            r#"{"ev":"end","t":100,"w":0,"task":0}"#,
        ],
    );
    let free = |dag: &Dag| FreeTime::new(dag).unwrap().sums(0, 100);
    assert_eq!(free(&dag), (130.0, 70.0));
    dag.meta.unread = Some(UnreadPart {
        damaged: 1,
        threads: 1,
        dropped: 0,
        off_cpu: false,
    });
    assert_eq!(free(&dag), (130.0, 10.0));
    let times = FreeTime::new(&dag).unwrap();
    assert!(!times.is_unread(40) && times.is_unread(41));
}

#[test]
fn a_burden_for_instructions() {
    let lines = [
        r#"{"ev":"begin","t":0,"w":0,"task":0}"#,
        r#"{"ev":"create","t":5,"w":0,"task":0,"child":1,"site":"s","counters":{"instructions":100,"misses":1}}"#,
        r#"{"ev":"resume","t":5,"w":0,"task":0}"#,
        r#"{"ev":"wait","t":5,"w":0,"task":0}"#,
        r#"{"ev":"begin","t":5,"w":0,"task":1}"#,
        r#"{"ev":"end","t":9,"w":0,"task":1,"counters":{"instructions":18446744073709551615,"misses":2}}"#,
        r#"{"ev":"resume","t":9,"w":0,"task":0}"#,
        r#"{"ev":"end","t":10,"w":0,"task":0,"counters":{"instructions":18446744073709551615}}"#,
    ];
    let counter = |name: &str| Options {
        metric: Metric::Counter(name.into()),
        ..Options::default()
    };
    let header = r#""workers":1,"burden":3"#;
    let ws = measure_with(header, &lines, &counter("instructions"))
        .unwrap()
        .work_span;
    let all = 100 + 2 * u128::from(u64::MAX);
    assert_eq!(
        (ws.work, ws.span, ws.burdened_span),
        (all, all, all + 15_000)
    );
    let ws = measure_with(header, &lines, &counter("misses"))
        .unwrap()
        .work_span;
    assert_eq!((ws.work, ws.burdened_span), (3, 3));
    let error = measure_with(header, &lines, &counter("cycles")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the trace has no counter `cycles`; --metric can be time or instructions, misses"
    );
}

/// A chain of tasks, each inside the one before, on two sites in turn.
fn chain(depth: u32) -> Dag {
    let mut trace = raw::RawTrace::default();
    trace.meta.workers = 2;
    trace.meta.threads = 2;
    trace.meta.ticks_per_second = 1_000_000_000;
    trace.places = ["root", "a", "b"]
        .map(|label| Place {
            label: label.into(),
            ..Place::default()
        })
        .into();
    let strand = |task, start, end, end_op| raw::RawStrand {
        task,
        thread: 0,
        start,
        end,
        end_op,
        at: NONE,
        keep: false,
    };
    for task in 0..depth {
        let kind = if task == 0 {
            TaskKind::Root
        } else {
            TaskKind::Deferred
        };
        let site = if task == 0 { 0 } else { 1 + task % 2 };
        let parent = if task == 0 { NONE } else { task - 1 };
        trace.tasks.push(raw::RawTask {
            number: task.into(),
            parent,
            kind,
            site,
            scope: NONE,
        });
        let (t, back) = (u64::from(task), u64::from(2 * depth - task));
        if task + 1 < depth {
            trace
                .strands
                .push(strand(task, t, t + 1, raw::RawEnd::Create(task + 1)));
            trace
                .strands
                .push(strand(task, t + 1, t + 1, raw::RawEnd::WaitChildren));
            trace
                .strands
                .push(strand(task, back - 1, back, raw::RawEnd::End));
        } else {
            trace.strands.push(strand(task, t, back, raw::RawEnd::End));
        }
    }
    workspan_dag::build::build(trace, workspan_dag::build::Mode::Strict).unwrap()
}

#[test]
fn a_long_chain_of_tasks() {
    let depth = 200_000;
    let report = report(&chain(depth), &Options::default()).unwrap();
    let all = 2 * u128::from(depth);
    assert_eq!((report.work_span.work, report.work_span.span), (all, all));
    assert_eq!(report.work_span.critical_path.len(), 2 * depth as usize - 1);
    let rows: Vec<(u64, u128, u128)> = report
        .sites
        .iter()
        .map(|s| (s.count, s.work, s.span))
        .collect();
    let half = u64::from(depth) / 2;
    assert_eq!(
        rows,
        [
            (1, all, all),
            (half, all - 2, all - 2),
            (half - 1, all - 4, all - 4)
        ]
    );
    assert_eq!(report.breakdown.no_work_app, all);
}
