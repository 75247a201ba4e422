//! The worked examples of MODEL.md §8.

use workspan_analysis::{
    Breakdown, Metric, Options, Report, StrandRule, greedy_speedup, report, short_strands,
    speedup_bounds,
};
use workspan_dag::Dag;

/// Example A as in TEXT_TRACE.md.
const TREE_SUM: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","name":"tree_sum"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"region_begin","t":0,"w":0,"task":0,"region":"create_tree"}
{"ev":"region_end","t":80,"w":0,"task":0,"region":"create_tree"}
{"ev":"create","t":80,"w":0,"task":0,"child":1,"site":"L25"}
{"ev":"resume","t":80,"w":0,"task":0}
{"ev":"wait","t":80,"w":0,"task":0}
{"ev":"begin","t":80,"w":0,"task":1}
{"ev":"create","t":90,"w":0,"task":1,"child":2,"site":"L10"}
{"ev":"resume","t":90,"w":0,"task":1}
{"ev":"begin","t":92,"w":1,"task":2}
{"ev":"steal","t":92,"w":1,"victim":0,"task":2}
{"ev":"create","t":95,"w":0,"task":1,"child":3,"site":"L13"}
{"ev":"resume","t":95,"w":0,"task":1}
{"ev":"wait","t":95,"w":0,"task":1}
{"ev":"begin","t":95,"w":0,"task":3}
{"ev":"end","t":122,"w":1,"task":2}
{"ev":"end","t":135,"w":0,"task":3}
{"ev":"resume","t":135,"w":0,"task":1}
{"ev":"end","t":140,"w":0,"task":1}
{"ev":"resume","t":140,"w":0,"task":0}
{"ev":"end","t":145,"w":0,"task":0}
"#;

fn measure(text: &str) -> (Dag, Report) {
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    (dag, report)
}

fn rounded(x: f64, digits: i32) -> f64 {
    let unit = 10f64.powi(digits);
    (x * unit).round() / unit
}

#[test]
fn a_tree_sum_logically() {
    let (dag, report) = measure(TREE_SUM);
    let ws = &report.work_span;
    assert_eq!(
        (ws.work, ws.span, ws.burden, ws.burdened_span),
        (175, 145, 0, 145)
    );
    assert_eq!(rounded(ws.parallelism(), 4), 1.2069);
    assert_eq!(rounded(ws.burdened_parallelism(), 4), 1.2069);
    assert_eq!((ws.tasks, ws.spawns, ws.syncs, ws.steals), (4, 3, 2, 1));
    assert_eq!(rounded(ws.average_maximal_strand(), 2), 19.44);
    let (lower, upper) = ws.speedup(2);
    assert_eq!((rounded(lower, 2), rounded(upper, 4)), (0.83, 1.2069));

    let rows: Vec<(&str, u64, u128, u128, f64, u128, f64)> = report
        .sites
        .iter()
        .map(|s| {
            let label = dag.places[s.site as usize].label.as_str();
            let parallelism = rounded(s.parallelism(), 2);
            let percent = rounded(s.critical_percent, 1);
            (
                label,
                s.count,
                s.work,
                s.span,
                parallelism,
                s.critical_work,
                percent,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("root", 1, 175, 145, 1.21, 85, 58.6),
            ("L13", 1, 40, 40, 1.00, 40, 27.6),
            ("L25", 1, 90, 60, 1.50, 20, 13.8),
            ("L10", 1, 30, 30, 1.00, 0, 0.0),
        ]
    );
    let regions: Vec<(&str, u64, u128)> = report
        .regions
        .iter()
        .map(|r| (dag.labels[r.label as usize].as_str(), r.count, r.work))
        .collect();
    assert_eq!(regions, [("create_tree", 1, 80)]);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

#[test]
fn a_tree_sum_in_time() {
    let (_, report) = measure(TREE_SUM);
    let b = report.breakdown;
    assert_eq!((b.elapsed(), b.workers), (145, 2));
    assert_eq!(
        (
            b.work,
            b.descheduled,
            b.blocked,
            b.recording,
            b.oversubscribed
        ),
        (175, 0, 0, 0, 0)
    );
    assert_eq!((b.delay, b.no_work_sched, b.no_work_app), (2, 0, 113));
    assert_eq!(b.delay_by_edge, [2, 0, 0, 0, 0, 0, 0]);
    let path = &b.ready_path;
    assert_eq!(
        (path.work, path.busy_delay, path.scheduler_delay),
        (145, 0, 0)
    );
    assert_eq!(
        rounded(report.profile.mean_running, 4),
        rounded(175.0 / 145.0, 4)
    );
    // The root's first strand, both strands of A0 before A1 is taken, then A2 after A1's end and
    // the rest.
    let low: Vec<(u64, u64)> = report
        .low_parallelism
        .iter()
        .map(|l| (l.begin, l.end))
        .collect();
    assert_eq!(low, [(0, 92), (122, 145)]);
    let first = &report.low_parallelism[0];
    assert_eq!(
        (first.lost, first.strands[0].ticks, first.strands[0].alone),
        (92, 80, 80)
    );
    assert_eq!(rounded(first.lost_percent, 1), 80.0);
}

#[test]
fn a_burden_on_what_is_stolen() {
    // The heaviest path enters two stolen children, A0 and A2, but goes through one stolen
    // continuation only, A0's first.
    for (steals, span) in [("child", 145 + 2 * 10), ("continuation", 145 + 10)] {
        let text = TREE_SUM.replace(
            "\"child\",\"name\"",
            &format!("\"{steals}\",\"burden\":10,\"name\""),
        );
        let (_, report) = measure(&text);
        assert_eq!(
            (report.work_span.span, report.work_span.burdened_span),
            (145, span),
            "{steals}"
        );
    }
}

/// Example B: 18 unit strands, of which a path has at most 9. The root's own nine strands are that
/// path (1, 2, 3, 6, 7, 8, 10, 11, 18 there); the tasks that it spawns run in parallel.
#[test]
fn b_a_dag_of_unit_strands() {
    let mut lines = vec![
        r#"{"workspan_trace":1,"workers":4,"time_unit":"ns","steals":"continuation"}"#.to_owned(),
        r#"{"ev":"begin","t":0,"w":0,"task":0}"#.to_owned(),
    ];
    // Four children: of one strand, of one, of five (which spawns one itself and waits for it) and
    // of one.
    let at = |ev: &str, t: u64, w: u64, task: u64, more: &str| {
        format!("{{\"ev\":\"{ev}\",\"t\":{t},\"w\":{w},\"task\":{task}{more}}}")
    };
    for (t, child) in [(1, 1), (2, 2), (3, 3), (4, 4)] {
        lines.push(at(
            "create",
            t,
            0,
            0,
            &format!(",\"child\":{child},\"site\":\"c{child}\""),
        ));
        lines.push(at("resume", t, 0, 0, ""));
    }
    for t in 5..8 {
        lines.push(at("yield", t, 0, 0, ""));
        lines.push(at("resume", t, 0, 0, ""));
    }
    lines.push(at("wait", 8, 0, 0, ""));
    lines.push(at("resume", 8, 0, 0, ""));
    lines.push(at("end", 9, 0, 0, ""));
    for (child, t) in [(1, 1), (2, 2), (4, 4)] {
        lines.push(at("begin", t, 1, child, ""));
        lines.push(at("end", t + 1, 1, child, ""));
    }
    lines.push(at("begin", 3, 2, 3, ""));
    lines.push(at("create", 4, 2, 3, ",\"child\":5,\"site\":\"c5\""));
    lines.push(at("resume", 4, 2, 3, ""));
    lines.push(at("begin", 4, 3, 5, ""));
    lines.push(at("end", 5, 3, 5, ""));
    lines.push(at("yield", 5, 2, 3, ""));
    lines.push(at("resume", 5, 2, 3, ""));
    lines.push(at("wait", 6, 2, 3, ""));
    lines.push(at("resume", 6, 2, 3, ""));
    lines.push(at("yield", 7, 2, 3, ""));
    lines.push(at("resume", 7, 2, 3, ""));
    lines.push(at("end", 8, 2, 3, ""));
    let (dag, report) = measure(&lines.join("\n"));
    assert_eq!(dag.strands.len(), 18);
    let ws = &report.work_span;
    assert_eq!((ws.work, ws.span, ws.parallelism()), (18, 9, 2.0));
    assert_eq!(ws.critical_path.len(), 9);
    assert!(
        ws.critical_path
            .iter()
            .all(|&s| dag.strands.task[s as usize] == 0)
    );
}

#[test]
fn c_cilkview() {
    let (work, span, burdened) = (5_570_609_776u128, 261_374_874u128, 262_078_779u128);
    let (spawns, syncs) = (8_518_398.0, 8_518_398.0);
    assert_eq!(rounded(work as f64 / span as f64, 2), 21.31);
    assert_eq!(rounded(work as f64 / burdened as f64, 2), 21.26);
    assert_eq!((work as f64 / (1.0 + 2.0 * spawns + syncs)).round(), 218.0);
    let bounds = [
        (2, 1.85, 2.00),
        (4, 3.23, 4.00),
        (8, 5.13, 8.00),
        (16, 7.27, 16.00),
        (32, 9.20, 21.31),
    ];
    for (workers, lower, upper) in bounds {
        let (l, u) = speedup_bounds(work, span, burdened, workers);
        assert_eq!(
            (rounded(l, 2), rounded(u, 2)),
            (lower, upper),
            "{workers} workers"
        );
    }
}

#[test]
fn c_cilkview_from_a_work_span() {
    let (_, mut report) = measure(TREE_SUM);
    let ws = &mut report.work_span;
    (ws.work, ws.span, ws.burdened_span) = (5_570_609_776, 261_374_874, 262_078_779);
    (ws.spawns, ws.syncs) = (8_518_398, 8_518_398);
    assert_eq!(rounded(ws.parallelism(), 2), 21.31);
    assert_eq!(rounded(ws.burdened_parallelism(), 2), 21.26);
    assert_eq!(ws.average_maximal_strand().round(), 218.0);
    assert_eq!(rounded(ws.speedup(8).0, 2), 5.13);
    // Its figure counts instructions: 218 are fewer than 500, so the overhead dominates.
    let counted = Options {
        metric: Metric::Counter("instructions".into()),
        ..Options::default()
    };
    let short = short_strands(ws, &counted).unwrap();
    assert_eq!(
        (short.threshold, short.rule),
        (500, StrandRule::Instructions)
    );
    // Longer strands are short only in comparison with the cost of a steal, if that is known; time
    // has no other rule.
    ws.work = 600 * (1 + 3 * 8_518_398);
    ws.burden = 15_000;
    let short = short_strands(ws, &counted).unwrap();
    assert_eq!((short.threshold, short.rule), (15_000, StrandRule::Steal));
    ws.burden = 600;
    assert_eq!(short_strands(ws, &counted), None);
    ws.burden = 601;
    let by_time = short_strands(ws, &Options::default()).unwrap();
    assert_eq!((by_time.threshold, by_time.rule), (601, StrandRule::Steal));
    ws.spawns = 0;
    assert_eq!(short_strands(ws, &Options::default()), None);
}

#[test]
fn d_dag_recorder() {
    let breakdown = Breakdown {
        begin: 0,
        end: 2_589_040_638,
        workers: 4,
        work: 1_313_026_836,
        delay: 9_031_849_743,
        no_work_app: 11_285_973,
        ..Breakdown::default()
    };
    assert_eq!(breakdown.work + breakdown.lost(), breakdown.total());
    assert_eq!(breakdown.total(), 4 * 2_589_040_638);
    assert_eq!(
        rounded(greedy_speedup(1_313_026_836, 91_285_263, 4), 3),
        3.130
    );
}
