//! Recorded traces of OpenMP programs written by hand: parallel regions, dependences, detached
//! tasks.

use std::path::Path;

use workspan_dag::{Dag, EndKind, NONE, OffCpuReason, ScopeKind, StartKind, TaskKind};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;
use workspan_trace::wire::Kind;

use crate::writer::{File, Lane, dag, lane, strands};

/// Checks that the run is the same after it was written as a text trace and read again.
fn reads_back(dag: &Dag) {
    let mut text = Vec::new();
    workspan_reader::text::write(dag, &mut text).unwrap();
    let again = read(Path::new("t"), &text, &OpenOptions::default());
    let again = again.unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&text)));
    assert_eq!(strands(&again), strands(dag));
    assert_eq!(again.tasks.parent, dag.tasks.parent);
    assert_eq!(again.tasks.kind, dag.tasks.kind);
    assert_eq!(again.scopes, dag.scopes);
    assert_eq!(again.waits, dag.waits);
    assert_eq!(
        (&again.dependents, &again.depends),
        (&dag.dependents, &dag.depends)
    );
}

use EndKind as E;
use StartKind as S;

/// Two threads, a barrier between two phases, and an explicit task that the worker runs inside the
/// barrier.
fn region() -> [Lane; 2] {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (10, Kind::Worker, &[0, 0]),
        (10, Kind::Team, &[1]),
        (12, Kind::Member, &[0, 0, 0, 0]),
        (20, Kind::Create, &[1, 2]),
        (30, Kind::End, &[]),
        (50, Kind::Member, &[0, 0, 1, 0]),
        (70, Kind::End, &[]),
        (80, Kind::Resume, &[]),
        (90, Kind::End, &[]),
    ]);
    let worker = lane(&[
        (9, Kind::Worker, &[0, 1]),
        (15, Kind::Member, &[0, 0, 0, 1]),
        (25, Kind::End, &[]),
        (31, Kind::Begin, &[0, 1]),
        (45, Kind::End, &[]),
        (48, Kind::Member, &[0, 0, 1, 1]),
        (75, Kind::End, &[]),
    ]);
    [main, worker]
}

#[test]
fn a_region_is_series_parallel_phase_by_phase() {
    let dag = dag(&File::new(region(), Some(90)));
    assert!(dag.meta.warnings.is_empty(), "{:?}", dag.meta.warnings);
    // The root, both members of phase 0, the explicit task, both members of phase 1.
    assert_eq!(dag.tasks.parent, [NONE, 0, 0, 1, 0, 0]);
    let (i, d) = (TaskKind::Inline, TaskKind::Deferred);
    assert_eq!(dag.tasks.kind, [TaskKind::Root, i, i, d, i, i]);
    assert_eq!(
        strands(&dag),
        [
            (0, 0, 0, 10, S::Begin, E::Wait),
            (1, 0, 12, 20, S::Begin, E::Create),
            (2, 1, 15, 25, S::Begin, E::End),
            (1, 0, 20, 30, S::AfterCreate, E::End),
            (3, 1, 31, 45, S::Begin, E::End),
            (0, 1, 48, 48, S::AfterWait, E::Wait),
            (5, 1, 48, 75, S::Begin, E::End),
            (4, 0, 50, 70, S::Begin, E::End),
            (0, 0, 80, 90, S::AfterWait, E::End),
        ]
    );
    // Tasks created in a phase belong to it, even if they ran inside the barrier.
    let joined: Vec<&[u32]> = (0..2).map(|w| dag.waits.tasks.get(w)).collect();
    assert_eq!(joined, [&[1, 2, 3][..], &[4, 5]]);
    assert!(dag.scopes.iter().all(|s| s.kind == ScopeKind::Team));
    assert_eq!(dag.meta.workers, 2);
    reads_back(&dag);
}

#[test]
fn the_order_of_the_threads_in_the_file_changes_nothing() {
    let expected = dag(&File::new(region(), Some(90)));
    let [main, worker] = region();
    // The worker's own create count is larger now: its task is named by thread 1, and so is the
    // team.
    let rename = |lane: &Lane| {
        let mut out = Lane::default();
        let events = workspan_trace::event::Events::new(&lane.bytes, 0);
        for (t, event) in events {
            use workspan_trace::event::Event;
            match event {
                Event::Member { phase, index, .. } => {
                    out.at(t, Kind::Member, &[1, 0, phase, index])
                }
                Event::Begin((_, seq)) => out.at(t, Kind::Begin, &[1, seq]),
                Event::Root => out.at(t, Kind::Root, &[]),
                Event::End => out.at(t, Kind::End, &[]),
                Event::Resume => out.at(t, Kind::Resume, &[]),
                Event::Team { site } => out.at(t, Kind::Team, &[u64::from(site)]),
                Event::Create { kind, site, .. } => {
                    out.at(t, Kind::Create, &[kind, u64::from(site)])
                }
                Event::Worker { index, .. } => out.at(t, Kind::Worker, &[0, index]),
                other => panic!("{other:?}"),
            };
        }
        out
    };
    let turned = dag(&File::new([rename(&worker), rename(&main)], Some(90)));
    assert_eq!(turned.tasks.parent, expected.tasks.parent);
    assert_eq!(turned.waits.tasks, expected.waits.tasks);
    let without_threads = |dag: &Dag| -> Vec<_> {
        let list = strands(dag).into_iter();
        list.map(|(task, _, start, end, s, e)| (task, start, end, s, e))
            .collect()
    };
    assert_eq!(without_threads(&turned), without_threads(&expected));
}

#[test]
fn a_phase_may_have_one_member_and_a_region_none() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (10, Kind::Team, &[1]),
        (11, Kind::Resume, &[]),
        (20, Kind::Team, &[1]),
        (20, Kind::Member, &[0, 1, 0, 0]),
        (30, Kind::End, &[]),
        (40, Kind::Member, &[0, 1, 3, 0]),
        (50, Kind::End, &[]),
        (60, Kind::Resume, &[]),
        (70, Kind::End, &[]),
    ]);
    let worker = lane(&[
        (1, Kind::Worker, &[0, 1]),
        (21, Kind::Member, &[0, 1, 0, 1]),
        (33, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([main, worker], Some(70)));
    assert!(dag.meta.warnings.is_empty(), "{:?}", dag.meta.warnings);
    let joined: Vec<&[u32]> = (0..3).map(|w| dag.waits.tasks.get(w)).collect();
    assert_eq!(joined, [&[][..], &[1, 2], &[3]]);
    reads_back(&dag);
}

#[test]
fn a_region_cut_short_ends_with_the_trace() {
    let [main, worker] = region();
    let cut = |lane: &Lane, until: u64| {
        let mut events = workspan_trace::event::Events::new(&lane.bytes, 0);
        let mut end = 0;
        while events.next().is_some_and(|(t, _)| t <= until) {
            end = events.offset();
        }
        let mut lane = lane.clone();
        lane.bytes.truncate(end);
        lane
    };
    for until in 10..90 {
        let dag = dag(&File::new([cut(&main, until), cut(&worker, until)], None));
        let messages: Vec<&String> = dag
            .meta
            .warnings
            .iter()
            .filter(|w| !w.contains("_exit") && !w.contains("never began"))
            .collect();
        assert!(messages.is_empty(), "{until}: {messages:?}");
        let last = dag.strands.end.iter().max();
        assert_eq!(last, Some(&dag.strands.end[dag.tasks.last[0] as usize]));
    }
}

#[test]
fn members_told_twice_or_of_no_team_are_roots() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Scope, &[1]),
        (10, Kind::Team, &[1]),
        (11, Kind::Member, &[0, 1, 0, 0]),
        (12, Kind::End, &[]),
        (13, Kind::Member, &[0, 1, 0, 0]),
        (14, Kind::End, &[]),
        (15, Kind::Member, &[0, 0, 0, 0]),
        (16, Kind::End, &[]),
        (17, Kind::Member, &[3, 9, 0, 0]),
        (18, Kind::End, &[]),
        (20, Kind::Resume, &[]),
        (30, Kind::Wait, &[0, 1, 0, 0]),
        (31, Kind::Resume, &[]),
        (32, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([main], Some(32)));
    let roots = dag.tasks.kind.iter().filter(|&&k| k == TaskKind::Root);
    assert_eq!((dag.tasks.len(), roots.count()), (5, 4));
    let said = "Tasks that nobody in the trace created, made roots: 3.";
    assert_eq!(dag.meta.warnings, [said]);
}

#[test]
fn nested_regions_and_clocks_that_disagree() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (10, Kind::Team, &[1]),
        (11, Kind::Member, &[0, 0, 0, 0]),
        (15, Kind::Team, &[2]),
        (16, Kind::Member, &[0, 1, 0, 0]),
        (30, Kind::End, &[]),
        (40, Kind::Resume, &[]),
        (45, Kind::End, &[]),
        (50, Kind::Resume, &[]),
        (60, Kind::End, &[]),
    ]);
    let worker = lane(&[
        (1, Kind::Worker, &[0, 1]),
        // Its clock is two ticks behind: it seems to begin before the region, and to leave the
        // barrier before the others have arrived.
        (13, Kind::Member, &[0, 1, 0, 1]),
        (29, Kind::End, &[]),
        (29, Kind::Member, &[0, 1, 1, 1]),
        (39, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([main, worker], Some(60)));
    assert_eq!(dag.tasks.parent, [NONE, 0, 1, 1, 1]);
    let clamped =
        |w: &String| w.starts_with("Strands that started before what they waited for had ended");
    assert!(
        dag.meta.warnings.len() == 1 && clamped(&dag.meta.warnings[0]),
        "{:?}",
        dag.meta.warnings
    );
    let joined: Vec<&[u32]> = (0..dag.waits.after.len())
        .map(|w| dag.waits.tasks.get(w))
        .collect();
    assert_eq!(joined, [&[2, 3][..], &[4], &[1]]);
}

#[test]
fn dependences_are_rebuilt_among_siblings_in_the_order_of_creation() {
    const X: u64 = 0x7fff_0000;
    let main = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::Create, &[1, 1]),
        (1, Kind::Depends, &[0, 1, 1, 2, X]),
        (2, Kind::Create, &[1, 1]),
        (2, Kind::Depends, &[0, 2, 2, 1, X, 2, X + 8]),
        (3, Kind::Create, &[1, 1]),
        (3, Kind::Depends, &[0, 3, 1, 1, X]),
        // A wait for the tasks that it would depend on if it wrote X + 8.
        (4, Kind::Wait, &[0, 4, 1, 2, X + 8]),
        (4, Kind::Begin, &[0, 1]),
        (10, Kind::End, &[]),
        (10, Kind::Begin, &[0, 2]),
        (20, Kind::End, &[]),
        (20, Kind::Resume, &[]),
        (21, Kind::Create, &[1, 1]),
        (21, Kind::Depends, &[0, 4, 1, 2, X]),
        (22, Kind::Wait, &[0, 0]),
        (22, Kind::Begin, &[0, 3]),
        (30, Kind::End, &[]),
        (30, Kind::Begin, &[0, 4]),
        (40, Kind::End, &[]),
        (41, Kind::Resume, &[]),
        (42, Kind::Depends, &[0, 40, 1, 2, X]),
        (50, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([main], Some(50)));
    let said = "Dependences of tasks that are not in the trace, left out: 1.";
    assert_eq!(dag.meta.warnings, [said]);
    let edges: Vec<(u32, &[u32])> = (0..dag.dependents.len())
        .map(|d| (dag.dependents[d], dag.depends.get(d)))
        .collect();
    assert_eq!(edges, [(2, &[1][..]), (3, &[1]), (4, &[2, 3])]);
    assert_eq!(dag.waits.tasks.get(0), [2]);
    assert_eq!(dag.waits.tasks.get(1), [1, 3, 4], "2 was joined already");
    reads_back(&dag);
}

#[test]
fn a_detached_task_ends_where_its_event_is_fulfilled() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::Create, &[1, 1]),
        (2, Kind::Wait, &[0, 0]),
        (3, Kind::Begin, &[0, 1]),
        (9, Kind::Wait, &[0, 3, 1, 5]),
        (9, Kind::Leave, &[0]),
        (40, Kind::Resume, &[]),
        (50, Kind::End, &[]),
    ]);
    let other = lane(&[
        (10, Kind::Root, &[]),
        (30, Kind::Signal, &[0, 5]),
        (31, Kind::ResumeYielded, &[0, 0]),
        (32, Kind::End, &[]),
        (45, Kind::End, &[]),
    ]);
    for lanes in [[main.clone(), other.clone()], [main.clone(), other.clone()]] {
        let dag = dag(&File::new(lanes, Some(50)));
        assert!(dag.meta.warnings.is_empty(), "{:?}", dag.meta.warnings);
        let of_task: Vec<_> = strands(&dag).into_iter().filter(|s| s.0 == 1).collect();
        assert_eq!(
            of_task,
            [
                (1, 0, 3, 9, S::Begin, E::Wait),
                (1, 1, 31, 32, S::AfterWait, E::End)
            ]
        );
        reads_back(&dag);
    }
    // Never fulfilled within the trace: the task ends where it stopped.
    let dag = self::dag(&File::new([main], None));
    let end = dag.strands.end[dag.tasks.last[1] as usize];
    assert_eq!(end, 50);
}

#[test]
fn a_scope_may_be_waited_for_by_another_task() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::Scope, &[0]),
        (2, Kind::Create, &[1 | 4, 1, 0, 0]),
        (3, Kind::Create, &[1 | 4, 1, 0, 0]),
        (4, Kind::Create, &[1, 2]),
        (5, Kind::Wait, &[0, 0]),
        (5, Kind::Begin, &[0, 1]),
        (10, Kind::End, &[]),
        (40, Kind::Resume, &[]),
        (50, Kind::End, &[]),
    ]);
    let worker = lane(&[
        (0, Kind::Worker, &[0, 0]),
        (6, Kind::Begin, &[0, 3]),
        (7, Kind::Wait, &[0, 1, 0, 0]),
        (8, Kind::Begin, &[0, 2]),
        (20, Kind::End, &[]),
        (21, Kind::Resume, &[]),
        (30, Kind::End, &[]),
    ]);
    for turned in [false, true] {
        let mut lanes = vec![main.clone(), worker.clone()];
        if turned {
            // A thread without a task of its own before it: the order of the replay must not
            // matter.
            lanes.push(lane(&[(0, Kind::Sleep, &[])]));
        }
        let dag = dag(&File::new(lanes, Some(50)));
        assert!(dag.meta.warnings.is_empty(), "{:?}", dag.meta.warnings);
        assert_eq!(dag.waits.tasks.get(0), [1, 2]);
        assert!(dag.scopes.is_empty());
        reads_back(&dag);
    }
}

#[test]
fn a_tree_scope_takes_what_its_opener_creates() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::Create, &[1, 1]),
        (1, Kind::Begin, &[0, 1]),
        (2, Kind::End, &[]),
        (3, Kind::Scope, &[1]),
        (4, Kind::Create, &[1, 1]),
        (4, Kind::Begin, &[0, 2]),
        (5, Kind::Create, &[1, 1]),
        (6, Kind::End, &[]),
        (7, Kind::Wait, &[0, 1, 0, 0]),
        (7, Kind::Begin, &[0, 3]),
        (8, Kind::End, &[]),
        (9, Kind::Resume, &[]),
        (10, Kind::Create, &[1, 1]),
        (10, Kind::Begin, &[0, 4]),
        (11, Kind::End, &[]),
        (12, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([main], Some(12)));
    assert!(dag.meta.warnings.is_empty(), "{:?}", dag.meta.warnings);
    assert_eq!(dag.waits.tasks.get(0), [2, 3]);
    reads_back(&dag);
}

#[test]
fn a_lock_waited_for_is_blocked_once() {
    let mut main = lane(&[
        (0, Kind::Root, &[]),
        (100, Kind::Off, &[1, 60]),
        (200, Kind::End, &[]),
    ]);
    // Off-CPU times of the kernel follow in the same thread, starting at an earlier time.
    let kernel = lane(&[(50, Kind::Off, &[1, 20]), (90, Kind::Off, &[0, 30])]);
    let bytes = main.bytes.len();
    main.bytes.extend_from_slice(&kernel.bytes);
    let mut file = File::new([main], Some(200));
    file.cut = Some(bytes);
    let dag = dag(&file);
    let offs: Vec<_> = dag.offs.iter().map(|o| (o.start, o.end, o.why)).collect();
    assert_eq!(offs, [(30, 100, OffCpuReason::Blocked)]);
    assert!(dag.meta.warnings.is_empty(), "{:?}", dag.meta.warnings);
}

#[test]
fn no_changed_byte_of_a_region_breaks_the_reader() {
    let good = File::new(region(), Some(90)).bytes();
    let mut dice = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = |below: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice as usize % below
    };
    for case in 0..2000 {
        let mut bytes = good.clone();
        for _ in 0..1 + next(4) {
            let at = 4096 + next(good.len() - 4096);
            bytes[at] = next(256) as u8;
        }
        for allow_truncated in [false, true] {
            match read(
                Path::new("t"),
                &bytes,
                &OpenOptions {
                    allow_truncated,
                    ..OpenOptions::default()
                },
            ) {
                Ok(dag) => assert!(dag.tasks.len() <= 8, "case {case}"),
                Err(error) => assert!(error.to_string().len() < 400, "case {case}: {error}"),
            }
        }
    }
}
