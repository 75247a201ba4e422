//! Waits that another thread ended are edges: span, critical path, bounds, what-if. Text trace in,
//! answer out.

use workspan_analysis::named_code::{self, line_range};
use workspan_analysis::simulate::{Policy, Setup, Simulation};
use workspan_analysis::{Options, Report, Target, report, what_if};
use workspan_dag::{Dag, EdgeKind, EndKind, StartKind};

/// The main thread waits from 20 to 71 for what another thread, begun at 12, releases at 70.
/// Further lines in `more`.
fn waits_for_a_thread(on: &str, more: &str) -> Dag {
    let text = format!(
        r#"{{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child"}}
{{"ev":"frame","frame":0,"function":"take","file":"a.rs","line":6}}
{{"ev":"frame","frame":1,"function":"give","file":"a.rs","line":9}}
{{"ev":"stack","stack":0,"frames":[0]}}
{{"ev":"stack","stack":1,"frames":[1]}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a.rs:2","detached":true,"thread":true}}
{{"ev":"resume","t":10,"w":0,"task":0}}
{{"ev":"begin","t":12,"w":1,"task":1}}
{{"ev":"off","t":20,"w":0,"why":"blocked"}}
{{"ev":"on","t":70,"w":0}}
{{"ev":"stop","t":20,"w":0,"stack":0,"ticks":51,"on":"{on}","object":7,"by":1,"released":1,"held":50}}
{more}
{{"ev":"end","t":80,"w":1,"task":1}}
{{"ev":"wait","t":100,"w":0,"task":0,"of":[1]}}
{{"ev":"resume","t":100,"w":0,"task":0}}
{{"ev":"end","t":105,"w":0,"task":0}}
"#
    );
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let mut written = Vec::new();
    workspan_reader::text::write(&dag, &mut written).unwrap();
    assert_eq!(workspan_reader::text::read(&written).unwrap(), dag);
    dag
}

fn measured(dag: &Dag) -> Report {
    let report = report(dag, &Options::default()).unwrap();
    let causes = &report.causes;
    assert_eq!(causes.by_cause.iter().sum::<u128>(), causes.lost);
    report
}

/// Start and end of the strands of a list.
fn times(dag: &Dag, strands: &[u32]) -> Vec<(u64, u64)> {
    let strand = |&s: &u32| (dag.strands.start[s as usize], dag.strands.end[s as usize]);
    strands.iter().map(strand).collect()
}

#[test]
fn the_critical_path_goes_through_the_thread_that_signals() {
    let dag = waits_for_a_thread("condition", "");
    let strand = |s: usize| (dag.strands.start[s], dag.strands.end[s]);
    let cut: Vec<_> = (0..dag.strands.len())
        .filter(|&s| dag.strands.end_kind[s] == EndKind::Handoff)
        .map(strand)
        .collect();
    assert_eq!(cut, [(10, 71), (12, 70)]);
    let handoff = dag.handoffs.list[0];
    let ends = [handoff.from, handoff.to].map(|s| strand(s as usize));
    assert_eq!(ends, [(12, 70), (71, 100)]);
    assert!(!handoff.is_order);
    let report = measured(&dag);
    let ws = &report.work_span;
    // Root: 10, 11 and 29 during its wait, and 5; thread: 58 and 10.
    assert_eq!(ws.work, 10 + 11 + 29 + 5 + 68);
    assert_eq!(ws.span, 10 + 58 + 29 + 5);
    assert_eq!(
        times(&dag, &ws.critical_path),
        [(0, 10), (12, 70), (71, 100), (100, 105)]
    );
    assert_eq!(ws.limits.span_without_lock_order, None);
    assert_eq!(ws.speedup(64).1, 123.0 / 102.0);
    let ready: Vec<u32> = report
        .breakdown
        .ready_path
        .strands
        .iter()
        .map(|s| s.0)
        .collect();
    assert_eq!(
        times(&dag, &ready),
        [(0, 10), (12, 70), (71, 100), (100, 105)]
    );
    assert_eq!((ws.tasks, ws.spawns, ws.syncs, ws.steals), (2, 0, 1, 0));
}

#[test]
fn the_order_in_which_a_lock_was_taken_is_no_bound() {
    let dag = waits_for_a_thread("mutex", "");
    assert!(dag.handoffs.list[0].is_order);
    let ws = measured(&dag).work_span;
    assert_eq!(ws.span, 102);
    // In the other order, the thread's 68 ticks follow the main thread's first 10.
    assert_eq!(ws.limits.span_without_lock_order, Some(10 + 68 + 5));
    assert_eq!(ws.speedup(64).1, 123.0 / 83.0);
}

#[test]
fn a_strand_is_one_block_however_often_it_is_cut() {
    let whole = waits_for_a_thread("io", "");
    assert!(whole.handoffs.is_empty());
    let cut = waits_for_a_thread("condition", "");
    let blocks = |dag: &Dag| -> Vec<(u64, u128)> {
        let sites = measured(dag).sites;
        let rows = sites.iter().flat_map(|site| &site.blocks);
        rows.map(|row| (row.count, row.work)).collect()
    };
    assert_eq!(blocks(&cut), blocks(&whole));
    let (first, last) = cut.handoffs.whole(cut.handoffs.list[0].to);
    assert_eq!(
        cut.strands.start_kind[first as usize],
        StartKind::AfterCreate
    );
    assert_eq!(cut.strands.end_kind[last as usize], EndKind::Wait);
}

#[test]
fn samples_and_regions_stay_where_they_were() {
    let more = r#"{"ev":"sample","t":60,"w":1,"stack":1}
{"ev":"sample","t":75,"w":1,"stack":1}
{"ev":"region_begin","t":65,"w":1,"task":1,"region":"r"}
{"ev":"region_end","t":72,"w":1,"task":1,"region":"r"}"#;
    let dag = waits_for_a_thread("condition", more);
    assert_eq!(times(&dag, &dag.samples.strand), [(12, 70), (70, 80)]);
    let region = &dag.regions[0];
    assert_eq!(
        times(&dag, &[region.begin.0, region.end.0]),
        [(12, 70), (70, 80)]
    );
    assert_eq!(measured(&dag).regions.len(), 1);
}

#[test]
fn the_edge_is_a_signal() {
    let dag = waits_for_a_thread("condition", "");
    let to = dag.handoffs.list[0].to;
    let mut edges = Vec::new();
    dag.for_each_predecessor(to, |p, kind| edges.push((times(&dag, &[p])[0], kind)));
    assert_eq!(
        edges,
        [
            ((10, 71), EdgeKind::YieldContinuation),
            ((12, 70), EdgeKind::Signal)
        ]
    );
}

#[test]
fn a_simulated_thread_waits_for_the_other_one() {
    let dag = waits_for_a_thread("condition", "");
    let simulation = Simulation::new(&dag, &Options::default(), 0, &[]).unwrap();
    let on = |workers: u32| {
        let setup = Setup {
            workers,
            policy: Policy::HelpFirst,
            steal_cost: 0,
            attempt_cost: 0,
            seed: 1,
        };
        let (simulated, trace) = simulation.trace(&setup).unwrap();
        assert_eq!(simulated.unstuck, 0);
        let ws = report(&trace, &Options::default()).unwrap().work_span;
        assert_eq!((ws.work, ws.span), (123, 102));
        simulated.elapsed
    };
    assert_eq!((on(1), on(2), on(8)), (123, 102, 102));
}

#[test]
fn a_lock_that_is_held_for_less_time_makes_the_path_shorter() {
    let dag = waits_for_a_thread("mutex", "");
    for line in ["a.rs:6", "a.rs:9"] {
        let target = named_code::lock(&dag, &line_range(line).unwrap()).unwrap();
        assert_eq!(target, Target::Lock(vec![7]));
        let options = Options::default();
        let outcome = what_if(&dag, &options, &[target], &[2.0, 50.0]).unwrap();
        // 50 of the 58 ticks before the release are after the wait's begin; then the main thread by
        // itself takes longer.
        let spans: Vec<f64> = outcome.all.iter().map(|row| row.span).collect();
        assert_eq!(spans, [102.0 - 25.0, 10.0 + 11.0 + 29.0 + 5.0]);
    }
    let nowhere = named_code::lock(&dag, &line_range("a.rs:7").unwrap());
    assert_eq!(
        nowhere.unwrap_err().to_string(),
        "no thread waited for a lock in a.rs:7-7; threads waited for locks at a.rs:6"
    );
}

#[test]
fn the_span_of_a_site_leaves_out_what_another_tasks_strands_do_before_a_handoff() {
    // A task waits from 20 to 71 for what the other one releases at 70.
    let text = r#"{"workspan_trace":1,"workers":3,"time_unit":"ns","steals":"child"}
{"ev":"frame","frame":0,"function":"take","file":"a.rs","line":6}
{"ev":"frame","frame":1,"function":"give","file":"a.rs","line":9}
{"ev":"stack","stack":0,"frames":[0]}
{"ev":"stack","stack":1,"frames":[1]}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a.rs:2","detached":true,"thread":true}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"create","t":11,"w":0,"task":0,"child":2,"site":"a.rs:3","detached":true,"thread":true}
{"ev":"resume","t":11,"w":0,"task":0}
{"ev":"begin","t":12,"w":1,"task":1}
{"ev":"begin","t":12,"w":2,"task":2}
{"ev":"off","t":20,"w":1,"why":"blocked"}
{"ev":"on","t":70,"w":1}
{"ev":"stop","t":20,"w":1,"stack":0,"ticks":51,"on":"condition","object":7,"by":2,"released":1,"held":50}
{"ev":"end","t":80,"w":2,"task":2}
{"ev":"end","t":90,"w":1,"task":1}
{"ev":"wait","t":100,"w":0,"task":0,"of":[1,2]}
{"ev":"resume","t":100,"w":0,"task":0}
{"ev":"end","t":105,"w":0,"task":0}
"#;
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    assert_eq!(dag.handoffs.list.len(), 1);
    let rows: Vec<_> = measured(&dag)
        .sites
        .iter()
        .map(|row| (row.work, row.span))
        .collect();
    // The path that enters the waiting task has 10 + 1 + 58 + 19 ticks, of which 19 are its own.
    let root = (11 + 89 + 5 + 28 + 68, 11 + 89 + 5);
    assert!(rows.contains(&(28, 28)), "{rows:?}");
    assert!(rows.contains(&(68, 68)), "{rows:?}");
    assert_eq!(rows[0], root);
}
