//! Recorded traces written by hand, and the runs read from them.

use workspan_dag::{EndKind, NONE, StartKind, TaskKind, TimeUnit};
use workspan_trace::wire::Kind;

use crate::writer::{File, dag, lane, strands};

use EndKind as E;
use StartKind as S;

#[test]
fn an_unstolen_join_is_four_records_and_four_strands() {
    let main = lane(&[
        (100, Kind::Root, &[]),
        (110, Kind::Join, &[1]),
        (150, Kind::End, &[]),
        (150, Kind::Next, &[]),
        (175, Kind::EndResume, &[]),
        (180, Kind::End, &[]),
    ]);
    assert!(main.bytes.len() <= 12, "{} bytes", main.bytes.len());
    let dag = dag(&File::new([main], Some(180)));
    assert_eq!(
        dag.tasks.kind,
        [TaskKind::Root, TaskKind::Deferred, TaskKind::Inline]
    );
    assert_eq!(dag.tasks.parent, [NONE, 0, 0]);
    assert_eq!(
        strands(&dag),
        [
            (0, 0, 0, 10, S::Begin, E::Wait),
            (2, 0, 10, 50, S::Begin, E::End),
            (1, 0, 50, 75, S::Begin, E::End),
            (0, 0, 75, 80, S::AfterWait, E::End),
        ]
    );
    assert_eq!(dag.waits.tasks.get(0), [1, 2]);
    let site = &dag.places[dag.tasks.site[1] as usize];
    assert_eq!(
        (site.label.as_str(), site.line, site.primitive.as_deref()),
        ("a.rs:1", Some(1), Some("join"))
    );
    assert_eq!(
        (dag.meta.time_unit, dag.meta.ticks_per_second),
        (TimeUnit::Cycles, 2_000_000_000)
    );
    assert_eq!(
        (dag.meta.workers, dag.meta.warnings.len()),
        (1, 0),
        "{:?}",
        dag.meta.warnings
    );
}

#[test]
fn scopes_take_members_from_any_thread() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::Scope, &[0]),
        (5, Kind::Create, &[1 | 4, 1, 0, 0]),
        (9, Kind::Wait, &[2, 1, 0, 0]),
        (60, Kind::Resume, &[]),
        (70, Kind::End, &[]),
    ]);
    let other = lane(&[
        (2, Kind::Worker, &[0, 0]),
        (10, Kind::Begin, &[0, 1]),
        (20, Kind::Create, &[1 | 4, 2, 0, 0]),
        (21, Kind::Create, &[3, 2]),
        (30, Kind::End, &[]),
        (31, Kind::Begin, &[1, 0]),
        (40, Kind::End, &[]),
        (41, Kind::Begin, &[1, 1]),
        (65, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([main, other], Some(80)));
    assert_eq!(
        dag.tasks.kind,
        [
            TaskKind::Root,
            TaskKind::Deferred,
            TaskKind::Deferred,
            TaskKind::Detached
        ]
    );
    assert_eq!(dag.tasks.scope, [NONE, 0, 0, NONE]);
    assert_eq!(dag.waits.tasks.get(0), [1, 2]);
    assert!(dag.meta.warnings.is_empty(), "{:?}", dag.meta.warnings);
}

#[test]
fn a_task_begun_on_top_of_a_running_one_interrupts_it() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (10, Kind::Create, &[2, 1]),
        (20, Kind::Begin, &[0, 1]),
        (30, Kind::End, &[]),
        (50, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([main], Some(50)));
    assert_eq!(
        strands(&dag),
        [
            (0, 0, 0, 10, S::Begin, E::Create),
            (0, 0, 10, 20, S::AfterCreate, E::Yield),
            (1, 0, 20, 30, S::Begin, E::End),
            (0, 0, 30, 50, S::AfterYield, E::End),
        ]
    );
}

#[test]
fn a_killed_process_ends_at_its_last_record() {
    // Killed inside the stolen half: the root waits, task 1 runs, task 3 never began.
    let first = lane(&[
        (0, Kind::Root, &[]),
        (20, Kind::Join, &[2]),
        (40, Kind::End, &[]),
    ]);
    let thief = lane(&[
        (30, Kind::Begin, &[0, 1]),
        (66, Kind::Create, &[1, 1]),
        (70, Kind::RegionBegin, &[0, 0]),
    ]);
    let dag = dag(&File::new([first, thief], None));
    assert_eq!(dag.tasks.len(), 4);
    let end = |task: usize| dag.strands.end[dag.tasks.last[task] as usize];
    assert_eq!([end(0), end(1), end(2), end(3)], [70, 70, 40, 66]);
    let says = |what: &str| dag.meta.warnings.iter().any(|w| w.contains(what));
    assert!(
        says("was killed or ended by _exit or exec") && says("2 task(s) that were open"),
        "{:?}",
        dag.meta.warnings
    );
    assert!(
        says("1 task(s) were created but never began"),
        "{:?}",
        dag.meta.warnings
    );
    assert_eq!(dag.regions.len(), 1);
}

#[test]
fn an_orderly_end_ends_the_open_roots_and_hides_what_comes_later() {
    let main = lane(&[(0, Kind::Root, &[]), (100, Kind::Create, &[1, 1])]);
    let mut other = lane(&[(10, Kind::Begin, &[0, 1]), (40, Kind::End, &[])]);
    other.at(5000, Kind::Sleep, &[]);
    let dag = dag(&File::new([main, other], Some(300)));
    assert_eq!(dag.strands.end[dag.tasks.last[0] as usize], 300);
    assert!(dag.thread_events.is_empty());
}

#[test]
fn pools_that_come_one_after_the_other_share_their_workers_numbers() {
    let mut main = lane(&[(0, Kind::Root, &[])]);
    let mut workers = Vec::new();
    for pool in 0..3u64 {
        let t = 100 * pool;
        main.at(t + 1, Kind::Pool, &[pool, 2]);
        main.at(t + 2, Kind::Create, &[1, 1]);
        main.at(t + 3, Kind::Create, &[1, 1]);
        for index in 0..2 {
            // They end a little after the next pool has begun.
            workers.push(lane(&[
                (t + 1, Kind::Worker, &[pool, index]),
                (t + 10 + index, Kind::Begin, &[0, 1 + 2 * pool + index]),
                (t + 50, Kind::End, &[]),
                (t + 120, Kind::WorkerEnd, &[]),
            ]));
        }
        main.at(t + 99, Kind::PoolEnd, &[pool]);
    }
    main.at(400, Kind::End, &[]);
    let dag = dag(&File::new(std::iter::once(main).chain(workers), Some(400)));
    assert_eq!((dag.meta.workers, dag.meta.threads), (2, 3));
    let thread = |task: usize| dag.strands.thread[dag.tasks.first[task] as usize];
    assert_eq!(
        (0..7).map(thread).collect::<Vec<_>>(),
        [2, 0, 1, 0, 1, 0, 1]
    );
}

/// The time between two threads with one number is nobody's: an idle worker would be searching.
#[test]
fn a_number_is_off_the_cpu_between_its_threads() {
    let mut main = lane(&[(0, Kind::Root, &[])]);
    let mut workers = Vec::new();
    for pool in 0..2u64 {
        let t = 100 * pool;
        main.at(t + 1, Kind::Pool, &[pool, 1]);
        main.at(t + 2, Kind::Create, &[1, 1]);
        workers.push(lane(&[
            (t + 1, Kind::Worker, &[pool, 0]),
            (t + 10, Kind::Begin, &[0, 1 + pool]),
            (t + 50, Kind::End, &[]),
            // Its idle time until the pool's end is its own.
            (t + 60, Kind::Off, &[1, 5]),
            (t + 80, Kind::WorkerEnd, &[]),
        ]));
        main.at(t + 80, Kind::PoolEnd, &[pool]);
    }
    main.at(300, Kind::End, &[]);
    let dag = dag(&File::new(std::iter::once(main).chain(workers), Some(300)));
    assert_eq!((dag.meta.workers, dag.meta.threads), (1, 2));
    let offs: Vec<(u32, u64, u64)> = dag
        .offs
        .iter()
        .map(|off| (off.thread, off.start, off.end))
        .collect();
    assert_eq!(offs, [(0, 55, 60), (0, 80, 101), (0, 155, 160)]);
}

/// Two workers of one pool keep a number each, though one has no task while the other one runs.
#[test]
fn workers_of_one_pool_share_no_number() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::Pool, &[0, 2]),
        (2, Kind::Create, &[1, 1]),
        (3, Kind::Create, &[1, 1]),
        (300, Kind::End, &[]),
    ]);
    let worker = |index: u64, begin: u64| {
        lane(&[
            (5, Kind::Worker, &[0, index]),
            (begin, Kind::Begin, &[0, 1 + index]),
            (begin + 50, Kind::End, &[]),
        ])
    };
    let dag = dag(&File::new([main, worker(0, 10), worker(1, 100)], Some(300)));
    let thread = |task: usize| dag.strands.thread[dag.tasks.first[task] as usize];
    assert_eq!((0..3).map(thread).collect::<Vec<_>>(), [2, 0, 1]);
}

#[test]
fn an_announced_pool_counts_even_if_its_workers_sleep() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Pool, &[0, 8]),
        (10, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([main], Some(10)));
    assert_eq!((dag.meta.workers, dag.meta.threads), (8, 9));
}

#[test]
fn what_contradicts_itself_is_repaired_and_told() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::Resume, &[]),
        (2, Kind::Begin, &[7, 7]),
        (3, Kind::End, &[]),
        (4, Kind::Begin, &[0, 0]),
        (5, Kind::End, &[]),
        (6, Kind::RegionEnd, &[0]),
        (7, Kind::Wait, &[0, 1, 0, 9]),
        (8, Kind::Create, &[1 | 4, 1, 3, 3]),
        (9, Kind::Signal, &[0, 5]),
        (10, Kind::Signal, &[0, 5]),
        (11, Kind::ResumeYielded, &[0, 12]),
        (12, Kind::End, &[]),
        (13, Kind::End, &[]),
        (14, Kind::End, &[]),
    ]);
    let worker = lane(&[
        (0, Kind::Worker, &[0, 0]),
        (3, Kind::RegionBegin, &[0, 0]),
        (4, Kind::End, &[]),
    ]);
    let mut file = File::new([main, worker], Some(20));
    let dag = dag(&file);
    for said in [
        "Tasks said to go on that had not stopped: 1.",
        "Tasks that nobody in the trace created, made roots: 3.",
        "Tasks that began twice, made roots: 1.",
        "Regions and parts closed that were not open: 1.",
        "Waits for scopes that are not open, left out: 1.",
        "Tasks that went on without a resume: 1.",
        "Tasks created into scopes that are not in the trace: 1.",
        "Signals set twice; the first time counts: 1.",
        "Records of a worker that ran no task, left out: 2.",
    ] {
        assert!(
            dag.meta.warnings.iter().any(|w| w == said),
            "{said}\n{:#?}",
            dag.meta.warnings
        );
    }
    // In a part of a run, tasks that began before it are missing, which is not an error.
    file.notes = vec![("part of the run", "1 s to 2 s after its start")];
    let of_part = crate::writer::dag(&file).meta.warnings;
    let before = of_part
        .iter()
        .filter(|w| w.contains("not open") || w.contains("not in the trace"));
    assert_eq!(before.count(), 0, "{of_part:#?}");
    let sum = "6 record(s) name tasks, scopes, regions or estimated subtrees that began before";
    assert!(of_part.iter().any(|w| w.starts_with(sum)), "{of_part:#?}");
    let contradicts = "Tasks that began twice, made roots: 1.";
    assert!(of_part.iter().any(|w| w == contradicts), "{of_part:#?}");
}

#[test]
fn a_folded_subtree_comes_with_its_strand() {
    let record = workspan_trace::folded::FoldedRecord {
        work: 90,
        span: 40,
        envelope: vec![(40, 1)],
        tasks: 4,
        spawns: 2,
        syncs: 2,
        strands: 10,
        levels: 2,
        ready_integral: 17,
        sites: vec![workspan_trace::folded::FoldedSite {
            site: 2,
            count: 4,
            work: 80,
            span: 30,
            ..Default::default()
        }],
        blocks: vec![(0, 3, 90)],
        probes: 0,
        between: 0,
        off_cpu: 0,
        folding_off_cpu: 0,
        source: None,
    };
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    let mut main = lane(&[
        (0, Kind::Root, &[]),
        (10, Kind::Yield, &[0]),
        (10, Kind::Resume, &[]),
    ]);
    main.at(100, Kind::Folded, &[bytes.len() as u64]);
    main.bytes.extend_from_slice(&bytes);
    main.at(100, Kind::Yield, &[0])
        .at(100, Kind::Resume, &[])
        .at(120, Kind::End, &[]);
    let dag = dag(&File::new([main], Some(120)));
    let &[strand] = dag.folded.strands() else {
        panic!("{:?}", dag.folded)
    };
    let folded = dag.folded.get(0);
    assert_eq!(
        (
            dag.strands.start[strand as usize],
            dag.strands.end[strand as usize]
        ),
        (10, 100)
    );
    assert_eq!(
        (folded.work, folded.tasks, folded.ready_integral),
        (90, 4, 17)
    );
    assert_eq!(dag.places[folded.sites[0].site as usize].label, "a.rs:2");
    assert_eq!(
        (
            folded.blocks[0].0,
            dag.places[folded.blocks[0].1 as usize].label.as_str()
        ),
        (NONE, "a.rs:2")
    );
}
