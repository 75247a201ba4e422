//! A pool's threads record beyond the process's end. Every reader drops these records, and nothing
//! else: off-CPU times follow a thread's own records and count as far as they are before the end.

use std::io::Cursor;
use std::path::Path;

use crate::writer::{File, installed, lane};
use workspan_dag::build::{Mode, build};
use workspan_dag::{Dag, OffCpuReason, ThreadEvent};
use workspan_reader::open::{Grain, read};
use workspan_reader::recorded::preview::preview;
use workspan_reader::{OpenOptions, recorded};
use workspan_trace::entry::ClockPair;
use workspan_trace::window::{Window, copy_window};
use workspan_trace::wire::Kind;
use workspan_trace::{Trace, TraceWriter};

/// The process ends at 100. Both workers looked for work and slept beyond that, and were off the
/// CPU before.
fn run() -> File {
    let [main, mut first, mut thief] = installed();
    first.at(97, Kind::StealFailed, &[1]);
    first.at(120, Kind::Sleep, &[]).at(130, Kind::Wake, &[]);
    thief.at(96, Kind::StealFailed, &[1]);
    thief.at(110, Kind::Sleep, &[]).at(140, Kind::Wake, &[]);
    let mut file = File::new([main, first, thief], Some(100));
    file.off_cpu = vec![
        lane(&[(88, Kind::Off, &[1, 70])]),
        lane(&[(30, Kind::Off, &[0, 5]), (99, Kind::Off, &[1, 2])]),
        lane(&[
            (50, Kind::Off, &[0, 10]),
            (60, Kind::Off, &[1, 3]),
            (105, Kind::Off, &[0, 1]),
        ]),
    ];
    file
}

const OFFS: [(u32, u64, u64, OffCpuReason); 5] = [
    (0, 25, 30, OffCpuReason::Preempted),
    (0, 97, 99, OffCpuReason::Blocked),
    (1, 40, 50, OffCpuReason::Preempted),
    (1, 57, 60, OffCpuReason::Blocked),
    (2, 18, 88, OffCpuReason::Blocked),
];

fn offs(dag: &Dag) -> Vec<(u32, u64, u64, OffCpuReason)> {
    let offs = dag.offs.iter();
    offs.map(|off| (off.thread, off.start, off.end, off.why))
        .collect()
}

fn through(bytes: &[u8], grain: Grain) -> Dag {
    let options = OpenOptions {
        grain,
        ..OpenOptions::default()
    };
    read(Path::new("t"), bytes, &options).unwrap()
}

/// The end of the last strand or event.
fn last(dag: &Dag) -> u64 {
    let strands = dag.strands.end.iter().copied();
    let events = dag.thread_events.iter().map(|event| event.0);
    strands.chain(events).max().unwrap()
}

#[test]
fn all_readers_agree_on_what_counts() {
    for pieces in [1, 3, 7] {
        let mut file = run();
        file.pieces = pieces;
        let bytes = file.bytes();
        let options = OpenOptions::default();
        let replayed = build(recorded::read(&bytes, &options).unwrap(), Mode::Repair);
        for (how, dag) in [
            ("replay", replayed.unwrap()),
            ("full", through(&bytes, Grain::None)),
            ("fold", through(&bytes, Grain::Nanoseconds(1))),
        ] {
            assert_eq!(offs(&dag), OFFS, "{how}, {pieces} pieces");
            assert_eq!(last(&dag), 100, "{how}, {pieces} pieces");
            let failed = dag.thread_events.iter();
            let failed = failed.filter(|e| matches!(e.2, ThreadEvent::StealFailed(_)));
            assert_eq!(failed.count(), 2, "{how}: those before the end");
        }
    }
}

#[test]
fn a_part_of_the_run_that_ends_with_it_is_the_same() {
    let bytes = run().bytes();
    let trace = Trace::open(&bytes).unwrap();
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), trace.header).unwrap();
    let [from, to] = [0, 100].map(|ticks| ClockPair { ticks, ns: ticks });
    copy_window(&trace, &Window { from, to }, &[], &mut writer).unwrap();
    let part = writer.finish().unwrap().into_inner();
    assert_eq!(offs(&through(&part, Grain::None)), OFFS);
}

#[test]
fn the_sketch_counts_a_strand_once() {
    // The main thread's task is still open where its off-CPU times begin.
    let [mut main, first, thief] = installed();
    main.bytes.truncate(main.bytes.len() - 2);
    let mut file = File::new([main, first, thief], Some(100));
    file.off_cpu = vec![lane(&[(3, Kind::Off, &[1, 1]), (88, Kind::Off, &[1, 70])])];
    let bytes = file.bytes();
    let picture = preview(&bytes, &OpenOptions::default()).unwrap();
    let dag = through(&bytes, Grain::None);
    let inside = |thread: u32| -> u64 {
        let s = &dag.strands;
        (0..s.len())
            .filter(|&i| s.thread[i] == thread)
            .map(|i| s.end[i] - s.start[i])
            .sum()
    };
    for (thread, bins) in (0..).zip(&picture.threads) {
        let busy: u64 = bins.iter().map(|bin| bin.busy).sum();
        assert_eq!(busy, inside(thread), "thread {thread}");
    }
}

#[test]
fn behind_damage_times_off_the_cpu_are_read_still() {
    let mut file = run();
    // Thread 1 continues with a byte that is not a record.
    file.lanes[1].bytes.push(30);
    let bytes = file.bytes();
    let options = OpenOptions {
        allow_truncated: true,
        ..OpenOptions::default()
    };
    let dag = read(Path::new("t"), &bytes, &options).unwrap();
    assert_eq!(offs(&dag), OFFS);
}
