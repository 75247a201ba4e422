//! Parts of recorded runs: every window of a run has the strands inside of it.

use std::io::Cursor;
use std::path::Path;

use crate::writer::{File, Lane};
use workspan_dag::Dag;
use workspan_reader::OpenOptions;
use workspan_trace::entry::ClockPair;
use workspan_trace::event::{Event, Events};
use workspan_trace::thread_state::ThreadState;
use workspan_trace::window::{Window, WindowStatistics, copy_window};
use workspan_trace::wire::Kind;
use workspan_trace::{Trace, TraceWriter};

/// Two workers: nested joins, one deferred child stolen; tasks of a scope; a yield that another
/// thread takes over.
fn run() -> File {
    let mut one = Lane::default();
    one.at(10, Kind::Pool, &[0, 2])
        .at(10, Kind::Worker, &[0, 0]);
    one.at(20, Kind::Root, &[]).at(30, Kind::Join, &[1]);
    one.at(40, Kind::Join, &[2]).at(60, Kind::End, &[]);
    one.at(60, Kind::Next, &[]).at(75, Kind::EndResume, &[]);
    one.at(80, Kind::End, &[]).at(120, Kind::Resume, &[]);
    one.at(125, Kind::Scope, &[0]);
    one.at(130, Kind::Create, &[1 | 4, 1, 0, 0])
        .at(131, Kind::Create, &[1 | 4, 1, 0, 0]);
    one.at(135, Kind::Wait, &[2, 1, 0, 0])
        .at(136, Kind::Begin, &[0, 5]);
    one.at(150, Kind::End, &[]).at(180, Kind::Resume, &[]);
    one.at(190, Kind::Leave, &[0]).at(230, Kind::WorkerEnd, &[]);
    let mut two = Lane::default();
    two.at(12, Kind::Worker, &[0, 1])
        .at(45, Kind::Steal, &[1, 0, 0, 1]);
    two.at(50, Kind::Begin, &[0, 1]).at(70, Kind::Join, &[2]);
    two.at(90, Kind::End, &[])
        .at(90, Kind::Next, &[])
        .at(110, Kind::EndResume, &[]);
    two.at(115, Kind::End, &[]).at(140, Kind::Begin, &[0, 6]);
    two.at(175, Kind::End, &[])
        .at(200, Kind::ResumeYielded, &[0, 0]);
    two.at(220, Kind::End, &[]);
    File::new([one, two], Some(240))
}

fn read(bytes: &[u8]) -> Result<Dag, workspan_dag::Error> {
    workspan_reader::open::read(Path::new("t"), bytes, &OpenOptions::default())
}

fn cut(bytes: &[u8], from: u64, to: u64) -> (Dag, WindowStatistics) {
    let trace = Trace::open(bytes).unwrap();
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), trace.header).unwrap();
    let pair = |ticks| ClockPair { ticks, ns: ticks };
    let window = Window {
        from: pair(from),
        to: pair(to),
    };
    let cut = copy_window(&trace, &window, &[], &mut writer).unwrap();
    let part = writer.finish().unwrap().into_inner();
    let dag = read(&part);
    (dag.unwrap_or_else(|e| panic!("{from}..{to}: {e}")), cut)
}

/// The ticks that threads ran in a window, which count from `origin`.
fn ran(dag: &Dag, origin: u64, from: u64, to: u64) -> u64 {
    (0..dag.strands.len())
        .map(|s| (dag.strands.start[s] + origin, dag.strands.end[s] + origin))
        .map(|(start, end)| end.min(to).saturating_sub(start.max(from)))
        .sum()
}

#[test]
fn every_window_has_the_strands_that_lie_in_it() {
    for pieces in [1, 3, 7] {
        let mut file = run();
        file.pieces = pieces;
        let bytes = file.bytes();
        let whole = read(&bytes).unwrap();
        assert!(
            whole
                .meta
                .warnings
                .iter()
                .all(|w| w.contains("not resolved")),
            "{:?}",
            whole.meta.warnings
        );
        for from in (10..240).step_by(3) {
            for to in (from..=240).step_by(7) {
                let expected = ran(&whole, 10, from, to);
                if expected == 0 {
                    // A task that left its thread is on no thread.
                    continue;
                }
                let (part, _) = cut(&bytes, from, to);
                assert_eq!(ran(&part, from, 0, u64::MAX), expected, "{from}..{to}");
            }
        }
    }
}

#[test]
fn what_is_created_in_a_window_is_linked_as_ever() {
    let bytes = run().bytes();
    // After all joins: the root waits, resumes, and has its scope with two tasks.
    let (part, log) = cut(&bytes, 122, 240);
    assert_eq!(log.open, 1, "the root task runs");
    assert_eq!(part.tasks.len(), 3);
    let created = |t: &usize| part.tasks.parent[*t] != workspan_dag::NONE;
    assert_eq!((0..3).filter(created).count(), 2);
    assert_eq!(part.meta.workers, 2, "who is a worker is known still");
    assert!(
        !part.meta.warnings.iter().any(|w| w.contains("nobody")),
        "{:?}",
        part.meta.warnings
    );
}

/// The rest of a recording if only these chunks of both threads were kept. Each begins with the
/// open state, as the recorder writes it.
fn left(bytes: &[u8], keep: impl Fn(u32) -> bool) -> Vec<u8> {
    let trace = Trace::open(bytes).unwrap();
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), trace.header).unwrap();
    let mut open = [ThreadState::default(), ThreadState::default()];
    for chunk in trace.chunks(workspan_trace::Tolerance::Strict).flatten() {
        let thread = chunk.thread as usize;
        if chunk.kind != workspan_trace::ChunkKind::Events {
            writer.entries(chunk.kind, chunk.payload).unwrap();
            continue;
        }
        let mut payload = Vec::new();
        if chunk.seq > 0 {
            open[thread].records(&mut payload);
        }
        payload.extend_from_slice(chunk.payload);
        for (_, event) in Events::new(chunk.payload, chunk.base_ticks) {
            open[thread].pass(&event);
        }
        if keep(chunk.seq) {
            let base = (chunk.base_ticks, 0);
            writer
                .events(chunk.thread, chunk.seq, base, &payload)
                .unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

/// When and at what it stopped is before the window. A strand from the window's beginning on would
/// make it ready for as long as it waits.
#[test]
fn a_task_that_waits_where_a_window_begins_is_not_ready() {
    // The root waits from 135 to 180.
    let (part, log) = cut(&run().bytes(), 160, 240);
    assert_eq!(log.open, 2, "the root, and the task that thread 1 runs");
    let strands = &part.strands;
    let first = (0..strands.len()).find(|&s| strands.start[s] + 160 == 180);
    let root = strands.task[first.expect("the root continues at 180")];
    let begins = (0..strands.len()).filter(|&s| strands.task[s] == root);
    assert_eq!(begins.map(|s| strands.start[s]).min(), Some(20));
}

#[test]
fn what_lay_between_two_parts_is_not_missed() {
    let mut file = run();
    file.pieces = 7;
    let bytes = file.bytes();
    let whole = read(&bytes).unwrap();
    let bases = |seq: u32| {
        let trace = Trace::open(&bytes).unwrap();
        let chunks = trace.chunks(workspan_trace::Tolerance::Strict).flatten();
        let of = chunks.filter(|c| c.kind == workspan_trace::ChunkKind::Events && c.seq == seq);
        let bases: Vec<u64> = of.map(|c| c.base_ticks).collect();
        (*bases.iter().min().unwrap(), *bases.iter().max().unwrap())
    };
    let gap = left(&bytes, |seq| !(2..=4).contains(&seq));
    let to = bases(2).0 - 1;
    let (part, log) = cut(&gap, 10, to);
    assert_eq!((log.continued, log.broken), (0, 0));
    assert_eq!(ran(&part, 10, 0, u64::MAX), ran(&whole, 10, 10, to));
    let from = bases(5).1;
    let (part, log) = cut(&gap, from, 240);
    assert_eq!(log.broken, 0);
    assert_eq!(ran(&part, from, 0, u64::MAX), ran(&whole, 10, from, 240));
    // A chunk that the part needs and that is missing is reported.
    let (_, log) = cut(&gap, 10, 240);
    assert!(log.broken > 0);
}

#[test]
fn names_beyond_32_bits() {
    let (tasks, yields) = (1 << 40, 1 << 35);
    let mut one = Lane::default();
    one.at(10, Kind::Restart, &[tasks, 1 << 33, yields, 1, 0])
        .at(20, Kind::Create, &[1, 2])
        .at(30, Kind::Wait, &[2, 0]);
    one.at(31, Kind::Begin, &[0, tasks])
        .at(40, Kind::End, &[])
        .at(40, Kind::Resume, &[])
        .at(50, Kind::Leave, &[0]);
    let mut two = Lane::default();
    two.at(60, Kind::ResumeYielded, &[0, yields])
        .at(70, Kind::End, &[]);
    let dag = read(&File::new([one, two], Some(80)).bytes()).unwrap();
    let created = dag.tasks.parent.iter();
    let created = created.filter(|&&parent| parent != workspan_dag::NONE);
    assert_eq!((dag.tasks.len(), created.count()), (2, 1));
    assert_eq!(ran(&dag, 10, 0, u64::MAX), 20 + 9 + 10 + 10);
    assert!(
        !dag.meta.warnings.iter().any(|w| w.contains("nobody")),
        "{:?}",
        dag.meta.warnings
    );
}

#[test]
fn what_a_ring_kept_is_read_from_its_first_restart() {
    let mut file = run();
    file.pieces = 7;
    let bytes = file.bytes();
    let ring = left(&bytes, |seq| seq > 3);
    let first = Trace::open(&ring).unwrap();
    let begins = |thread| {
        let mut chunks = first.chunks(workspan_trace::Tolerance::Strict).flatten();
        let chunk = chunks.find(|c| c.thread == thread && c.seq == 4).unwrap();
        let first = Events::new(chunk.payload, chunk.base_ticks).next().unwrap();
        assert!(matches!(first.1, Event::Restart { .. }));
        chunk.base_ticks
    };
    let from = begins(0).max(begins(1));
    let whole = read(&bytes).unwrap();
    let (part, log) = cut(&ring, from, 240);
    assert_eq!((log.continued, log.broken), (2, 0));
    assert_eq!(ran(&part, from, 0, u64::MAX), ran(&whole, 10, from, 240));
    // The file of a killed process is read as it was left.
    let dag = read(&ring).unwrap();
    assert!(
        !dag.meta.warnings.iter().any(|w| w.contains("missing")),
        "{:?}",
        dag.meta.warnings
    );
}
