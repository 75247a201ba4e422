//! Recorded traces written by hand, and what is read from them.

#![allow(clippy::unwrap_used, reason = "a test that can not go on has failed")]

use std::path::Path;

use workspan_dag::open::read;
use workspan_dag::{Dag, EndKind, NONE, OpenOptions, StartKind, TaskKind, TimeUnit};
use workspan_trace::wire::Kind;

#[path = "recorded/writer.rs"]
mod writer;

use writer::{File, Lane};

fn dag(file: &File) -> Dag {
    read(Path::new("t"), &file.bytes(), &OpenOptions::default()).unwrap()
}

fn lane(records: &[(u64, Kind, &[u64])]) -> Lane {
    let mut lane = Lane::default();
    for &(t, kind, operands) in records {
        lane.at(t, kind, operands);
    }
    lane
}

/// (task, thread, start, end, why it starts, how it ends) of every strand.
fn strands(dag: &Dag) -> Vec<(u32, u32, u64, u64, StartKind, EndKind)> {
    let s = &dag.strands;
    (0..s.len())
        .map(|i| {
            (
                s.task[i],
                s.thread[i],
                s.start[i],
                s.end[i],
                s.start_kind[i],
                s.end_kind[i],
            )
        })
        .collect()
}

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

/// The main thread installs into a pool of two; its join's first half is stolen.
fn installed() -> [Lane; 3] {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Pool, &[0, 2]),
        (10, Kind::Yield, &[0]),
        (90, Kind::Resume, &[]),
        (95, Kind::PoolEnd, &[0]),
        (100, Kind::End, &[]),
    ]);
    let first = lane(&[
        (6, Kind::Worker, &[0, 0]),
        (12, Kind::ResumeYielded, &[0, 0]),
        (20, Kind::Join, &[2]),
        (40, Kind::End, &[]),
        (70, Kind::Resume, &[]),
        (80, Kind::Leave, &[0]),
        (94, Kind::WorkerEnd, &[]),
    ]);
    let thief = lane(&[
        (7, Kind::Worker, &[0, 1]),
        (8, Kind::Sleep, &[]),
        (25, Kind::Wake, &[]),
        (26, Kind::Steal, &[2, 0, 1, 0]),
        (30, Kind::Begin, &[1, 0]),
        (65, Kind::End, &[]),
        (93, Kind::WorkerEnd, &[]),
    ]);
    [main, first, thief]
}

#[test]
fn an_installed_task_goes_on_on_a_worker_and_comes_back() {
    let dag = dag(&File::new(installed(), Some(100)));
    assert_eq!((dag.meta.workers, dag.meta.threads), (2, 3));
    assert_eq!(
        strands(&dag),
        [
            (0, 2, 0, 10, S::Begin, E::Yield),
            (0, 0, 12, 20, S::AfterYield, E::Wait),
            (2, 0, 20, 40, S::Begin, E::End),
            (1, 1, 30, 65, S::Begin, E::End),
            (0, 0, 70, 80, S::AfterWait, E::Yield),
            (0, 2, 90, 100, S::AfterYield, E::End),
        ]
    );
    assert_eq!(
        (
            dag.steals[0].thief,
            dag.steals[0].victim,
            dag.steals[0].task
        ),
        (1, 0, 1)
    );
    assert!(dag.meta.warnings.is_empty(), "{:?}", dag.meta.warnings);
}

#[test]
fn the_order_of_threads_in_the_file_does_not_matter() {
    let expected = strands(&dag(&File::new(installed(), Some(100))));
    // The main thread last: its number is 2 now, the workers' are 0 and 1.
    let main = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Pool, &[0, 2]),
        (10, Kind::Yield, &[0]),
        (90, Kind::Resume, &[]),
        (95, Kind::PoolEnd, &[0]),
        (100, Kind::End, &[]),
    ]);
    let [_, _, _] = installed();
    let first = lane(&[
        (6, Kind::Worker, &[0, 0]),
        (12, Kind::ResumeYielded, &[2, 0]),
        (20, Kind::Join, &[2]),
        (40, Kind::End, &[]),
        (70, Kind::Resume, &[]),
        (80, Kind::Leave, &[0]),
        (94, Kind::WorkerEnd, &[]),
    ]);
    let thief = lane(&[
        (7, Kind::Worker, &[0, 1]),
        (30, Kind::Begin, &[0, 0]),
        (65, Kind::End, &[]),
        (93, Kind::WorkerEnd, &[]),
    ]);
    let dag = dag(&File::new([first, thief, main], Some(100)));
    assert_eq!(strands(&dag), expected);
}

#[test]
fn chunks_of_any_size_tell_the_same() {
    let whole = dag(&File::new(installed(), Some(100)));
    for pieces in 2..8 {
        let cut = dag(&File {
            pieces,
            ..File::new(installed(), Some(100))
        });
        assert_eq!(strands(&cut), strands(&whole), "{pieces} pieces");
        assert_eq!(cut.meta.warnings, whole.meta.warnings);
    }
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
    // Killed inside the stolen half: the root waits, task 1 runs, task 3 was never begun.
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
        says("did not end in an orderly way") && says("2 task(s) open"),
        "{:?}",
        dag.meta.warnings
    );
    assert!(
        says("1 task(s) were created and never began"),
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
            // They go away a little after the next pool has come.
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
    let dag = dag(&File::new([main, worker], Some(20)));
    for said in [
        "Tasks said to go on that had not stopped: 1.",
        "Tasks that nobody in the trace created, made roots: 3.",
        "Tasks that began twice, made roots: 1.",
        "Regions and parts closed that were not open: 1.",
        "Waits for scopes that are not open, left out: 1.",
        "Tasks that went on without saying so: 1.",
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
}

/// A task waits on one thread, above another that waits, and both go on elsewhere, as the runtime moved the stack.
#[test]
fn tasks_go_on_where_their_stack_went_without_a_record() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Create, &[1, 1]),
        (10, Kind::Wait, &[0, 0]),
        // The root's stack comes back: it is not the top of this thread's.
        (90, Kind::ResumeStopped, &[1, 80]),
        (100, Kind::End, &[]),
    ]);
    let one = lane(&[
        (6, Kind::Worker, &[0, 0]),
        (12, Kind::Begin, &[0, 1]),
        (20, Kind::Create, &[1, 2]),
        (25, Kind::Wait, &[0, 0]),
        (30, Kind::Begin, &[1, 0]),
        (35, Kind::Wait, &[0, 3, 1, 7]),
        // Something else comes by.
        (60, Kind::ResumeStopped, &[0, 8]),
        (65, Kind::End, &[]),
    ]);
    let two = lane(&[
        (7, Kind::Worker, &[0, 1]),
        (40, Kind::ResumeStopped, &[0, 7]),
        (45, Kind::End, &[]),
        (50, Kind::ResumeStopped, &[2, 25]),
        (70, Kind::Wait, &[0, 0]),
        (75, Kind::Resume, &[]),
        (80, Kind::End, &[]),
    ]);
    let other = lane(&[
        (1, Kind::Root, &[]),
        (36, Kind::Signal, &[0, 7]),
        (37, Kind::Wait, &[0, 3, 1, 8]),
    ]);
    let lanes = [main, one, two, other];
    let dag_of = |lanes| dag(&File::new(lanes, Some(100)));
    let found = dag_of(lanes);
    let of = |task: u32| -> Vec<_> {
        let all = strands(&found).into_iter();
        all.filter(|s| s.0 == task)
            .map(|s| (s.1, s.2, s.3))
            .collect()
    };
    // The main thread is number 2, the one outside the pool 3; tasks in the order of their creation.
    assert_eq!(of(0), [(2, 0, 5), (2, 5, 10), (2, 90, 100)]);
    assert_eq!(of(1), [(3, 1, 36), (3, 36, 37), (0, 60, 65)]);
    assert_eq!(of(2), [(0, 12, 20), (0, 20, 25), (1, 50, 70), (1, 75, 80)]);
    assert_eq!(of(3), [(0, 30, 35), (1, 40, 45)]);
}

#[test]
fn stops_that_nobody_made_come_to_an_end() {
    let a = lane(&[
        (0, Kind::Root, &[]),
        (3, Kind::ResumeStopped, &[2, 1]),
        (5, Kind::ResumeStopped, &[9, 1]),
        (9, Kind::End, &[]),
    ]);
    let b = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::ResumeStopped, &[0, 5]),
        (2, Kind::Wait, &[0, 0]),
        (9, Kind::Resume, &[]),
        (10, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([a, b], Some(12)));
    let said = |start: &str| dag.meta.warnings.iter().any(|w| w.starts_with(start));
    assert!(said("Tasks that went on before they had stopped elsewhere"));
    assert!(said("Tasks that nobody in the trace created"));
}

#[test]
fn a_circle_of_threads_that_wait_for_each_other_comes_to_an_end() {
    let a = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::ResumeYielded, &[1, 0]),
        (2, Kind::Yield, &[0]),
        (9, Kind::End, &[]),
    ]);
    let b = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::ResumeYielded, &[0, 0]),
        (2, Kind::Yield, &[0]),
        (9, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([a, b], Some(9)));
    assert!(
        dag.meta
            .warnings
            .iter()
            .any(|w| w.starts_with("Tasks that went on before they had stopped elsewhere"))
    );
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
    let [(strand, folded)] = &dag.folded[..] else {
        panic!("{:?}", dag.folded)
    };
    assert_eq!(
        (
            dag.strands.start[*strand as usize],
            dag.strands.end[*strand as usize]
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

#[test]
fn damage_is_an_error_that_says_where_and_can_be_read_around() {
    let file = File {
        pieces: 3,
        ..File::new(installed(), Some(100))
    };
    let good = file.bytes();
    let tolerant = OpenOptions {
        allow_truncated: true,
    };
    // The second chunk of the first thread.
    let mut bytes = good.clone();
    let second = 4096 + 64 + 64;
    let at = (4096 + 64..good.len())
        .find(|&i| good[i..].starts_with(b"WSck"))
        .unwrap()
        + 64;
    assert!(at >= second);
    bytes[at] ^= 1;
    let error = read(Path::new("t.wspan"), &bytes, &OpenOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("byte {}: the checksum", at - 64)),
        "{error}"
    );
    let dag = read(Path::new("t"), &bytes, &tolerant).unwrap();
    assert!(
        dag.meta
            .warnings
            .iter()
            .any(|w| w.contains("damaged in 1 place")),
        "{:?}",
        dag.meta.warnings
    );
    assert!(
        dag.meta
            .warnings
            .iter()
            .any(|w| w.contains("a chunk is missing")),
        "{:?}",
        dag.meta.warnings
    );

    for cut in (4096..good.len()).step_by(7) {
        let error = read(Path::new("t"), &good[..cut], &OpenOptions::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("the file is cut off") && error.contains("--allow-truncated"),
            "{error}"
        );
        if let Err(error) = read(Path::new("t"), &good[..cut], &tolerant) {
            assert!(error.to_string().contains("no task"), "{error}");
        }
    }
}

/// A small generator of numbers, so that the runs are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

#[test]
fn no_sequence_of_records_and_no_bytes_break_the_reader() {
    let cases = std::env::var("WORKSPAN_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(4000);
    let mut numbers = Numbers(7);
    for case in 0..cases {
        let lanes = 1 + numbers.next(4);
        let mut file = File::new([], (numbers.next(2) == 0).then(|| numbers.next(500)));
        for _ in 0..lanes {
            let mut lane = Lane::default();
            let mut t = 0u64;
            if numbers.next(10) == 0 {
                lane.bytes = (0..numbers.next(200))
                    .map(|_| numbers.next(256) as u8)
                    .collect();
            } else {
                for _ in 0..numbers.next(60) {
                    let step = if numbers.next(200) == 0 {
                        1 << 62
                    } else {
                        numbers.next(20)
                    };
                    t = t.saturating_add(step);
                    let kind = Kind::from_code(1 + numbers.next(36) as u8).unwrap();
                    let operands: Vec<u64> = match kind {
                        Kind::Begin | Kind::ResumeYielded => {
                            vec![numbers.next(lanes + 1), numbers.next(8)]
                        }
                        // The reader of heads would take it for the kind in its first operand.
                        Kind::Extended => vec![0],
                        Kind::Member => vec![
                            numbers.next(lanes),
                            numbers.next(3),
                            match numbers.next(20) {
                                0 => numbers.next(1 << 40),
                                _ => numbers.next(3),
                            },
                            numbers.next(3),
                        ],
                        Kind::Depends => {
                            let mut list = vec![numbers.next(lanes), numbers.next(8), 2];
                            list.extend((0..2).flat_map(|_| [numbers.next(7), numbers.next(3)]));
                            list
                        }
                        Kind::Join
                        | Kind::Team
                        | Kind::Scope
                        | Kind::Yield
                        | Kind::Leave
                        | Kind::PartBegin
                        | Kind::PartEnd => {
                            vec![numbers.next(3)]
                        }
                        Kind::RegionEnd | Kind::StealFailed | Kind::PoolEnd => {
                            vec![numbers.next(3)]
                        }
                        Kind::Create if numbers.next(2) == 0 => {
                            vec![
                                4 + numbers.next(4),
                                numbers.next(4),
                                numbers.next(lanes),
                                numbers.next(3),
                            ]
                        }
                        Kind::Create => vec![numbers.next(4), numbers.next(4)],
                        Kind::Wait => match numbers.next(5) {
                            0 => vec![0, 0],
                            1 => vec![1, 1, numbers.next(lanes), numbers.next(3)],
                            2 => vec![
                                2,
                                2,
                                2,
                                numbers.next(lanes),
                                numbers.next(5),
                                0,
                                numbers.next(5),
                            ],
                            3 => vec![0, 4, 1, numbers.next(6), numbers.next(3)],
                            _ => vec![2, 3, 1, numbers.next(4)],
                        },
                        Kind::Depend => {
                            vec![
                                numbers.next(lanes),
                                numbers.next(6),
                                numbers.next(lanes),
                                numbers.next(6),
                            ]
                        }
                        Kind::Steal => vec![
                            numbers.next(5),
                            numbers.next(2),
                            numbers.next(lanes),
                            numbers.next(5),
                        ],
                        Kind::Signal
                        | Kind::RegionBegin
                        | Kind::Worker
                        | Kind::Off
                        | Kind::Counter => {
                            vec![numbers.next(3), numbers.next(6)]
                        }
                        Kind::Pool => vec![numbers.next(3), numbers.next(5)],
                        Kind::Readings => vec![1, numbers.next(3), numbers.next(9)],
                        // Mostly of a record shortly before; now and then of a signal.
                        Kind::ResumeStopped => {
                            vec![numbers.next(lanes + 2), numbers.next(30)]
                        }
                        Kind::Folded => vec![0],
                        _ => vec![],
                    };
                    lane.at(t, kind, &operands);
                }
            }
            file.lanes.push(lane);
        }
        let bytes = file.bytes();
        let result = read(
            Path::new("t"),
            &bytes,
            &OpenOptions {
                allow_truncated: true,
            },
        );
        match result {
            Ok(dag) => {
                let s = &dag.strands;
                for i in 0..s.len() {
                    assert!(s.start[i] <= s.end[i], "case {case}");
                    dag.for_each_predecessor(i as u32, |p, kind| {
                        let (at, end) = (s.start[i], s.end[p as usize]);
                        assert!(
                            p < i as u32 && end <= at,
                            "case {case}: {kind:?} {p} → {i}, {end} → {at}"
                        );
                    });
                }
            }
            Err(error) => assert!(
                error.to_string().contains("no task"),
                "case {case}: {error}"
            ),
        }
    }
}

#[test]
fn no_changed_byte_breaks_the_reader() {
    let mut numbers = Numbers(11);
    let good = File {
        pieces: 2,
        ..File::new(installed(), Some(100))
    }
    .bytes();
    for case in 0..3000 {
        let mut bytes = good.clone();
        for _ in 0..1 + numbers.next(4) {
            let at = numbers.next(good.len() as u64) as usize;
            // Most of the header page is empty.
            let at = if at < 4096 { at % 136 } else { at };
            bytes[at] = numbers.next(256) as u8;
        }
        bytes.truncate(good.len() - numbers.next(2) as usize * numbers.next(2000) as usize);
        for allow_truncated in [false, true] {
            match read(Path::new("t"), &bytes, &OpenOptions { allow_truncated }) {
                Ok(dag) => assert!(
                    dag.tasks.len() <= 3,
                    "case {case}: more tasks than were written"
                ),
                Err(error) => assert!(error.to_string().len() < 400, "case {case}: {error}"),
            }
        }
    }
}
