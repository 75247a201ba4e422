//! Recorded traces of threads that wait for each other.

use std::path::Path;

use workspan_dag::Dag;
use workspan_reader::OpenOptions;
use workspan_reader::open::{Grain, read};
use workspan_trace::entry::{WaitEntry, WaitKind, WaitsEntry};
use workspan_trace::wire::Kind;

use crate::writer::{File, lane};

/// A thread's inner joins are so short that they are folded. In the second one the thread releases
/// a lock that another thread waits for.
fn released_in_a_short_task() -> File {
    let mut holder = lane(&[(0, Kind::Root, &[]), (10, Kind::Join, &[1])]);
    for t in (12..612).step_by(6) {
        holder.at(t, Kind::Join, &[2]);
        holder.at(t + 2, Kind::End, &[]);
        holder.at(t + 2, Kind::Next, &[]);
        holder.at(t + 4, Kind::EndResume, &[]);
    }
    holder.at(620, Kind::End, &[]);
    holder.at(620, Kind::Next, &[]);
    holder.at(650, Kind::EndResume, &[]);
    holder.at(690, Kind::End, &[]);
    let waiter = lane(&[(0, Kind::Root, &[]), (700, Kind::End, &[])]);
    let wait = WaitEntry {
        begin: 5,
        ticks: 18,
        kind: WaitKind::Mutex,
        object: 0x1000,
        by: Some(0),
        held: 16,
        ..WaitEntry::default()
    };
    let mut file = File::new([holder, waiter], Some(700));
    file.off_cpu = vec![lane(&[]), lane(&[(23, Kind::Off, &[1, 18])])];
    file.waits = vec![WaitsEntry {
        thread: 1,
        waits: vec![wait],
    }];
    file
}

fn through(bytes: &[u8], grain: Grain) -> Dag {
    let options = OpenOptions {
        grain,
        ..OpenOptions::default()
    };
    read(Path::new("t"), bytes, &options).unwrap()
}

/// The times at which each handoff leaves one strand and reaches the other.
fn handoffs(dag: &Dag) -> Vec<(u64, u64)> {
    let ends = |h: &workspan_dag::Handoff| {
        let (from, to) = (h.from as usize, h.to as usize);
        (dag.strands.end[from], dag.strands.start[to])
    };
    dag.handoffs.list.iter().map(ends).collect()
}

#[test]
fn what_releases_a_lock_is_not_folded() {
    let mut file = released_in_a_short_task();
    let full = through(&file.bytes(), Grain::None);
    let folded = through(&file.bytes(), Grain::Nanoseconds(1000));
    assert_eq!(handoffs(&full), [(21, 23)]);
    assert_eq!(handoffs(&folded), handoffs(&full));
    // Without the wait the join is folded.
    file.waits.clear();
    let free = through(&file.bytes(), Grain::Nanoseconds(1000));
    assert!(!free.folded.is_empty());
}
