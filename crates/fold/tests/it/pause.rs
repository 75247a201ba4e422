//! While a thread folds its records it does not run the program. That time is not work, and it does
//! not keep a subtree from being folded.

use workspan_fold::{Fold, FoldOptions, OffCpuWindow, StealKind};
use workspan_test_kit::{Lane, lane};
use workspan_trace::event::{Event, Events};
use workspan_trace::folded::FoldedRecord;
use workspan_trace::wire::Kind;

/// Records whose ticks count from `t`.
fn from(t: u64) -> Lane {
    Lane {
        now: t,
        ..Lane::default()
    }
}

/// Adds `joins` joins from `t` on, each of three strands of ten ticks. Returns the time of their
/// end.
fn put_joins(lane: &mut Lane, joins: u64, mut t: u64) -> u64 {
    for _ in 0..joins {
        lane.at(t + 10, Kind::Join, &[1])
            .at(t + 20, Kind::End, &[])
            .at(t + 20, Kind::Next, &[])
            .at(t + 30, Kind::EndResume, &[]);
        t += 30;
    }
    t
}

/// The work in folded records, and the number of these, for 2 × 40 joins with 100,000 ticks in
/// between.
fn folded(pause: u64) -> (u64, usize) {
    let (bytes, base) = records(4_000, pause);
    let works = Events::new(&bytes, base).filter_map(|(_, event)| match event {
        Event::Folded(bytes) => FoldedRecord::decode(bytes).map(|record| record.work),
        _ => None,
    });
    let works: Vec<u64> = works.collect();
    (works.iter().sum(), works.len())
}

/// The output for those joins, and the time from which its ticks count.
fn records(grain: u64, pause: u64) -> (Vec<u8>, u64) {
    const GAP: u64 = 100_000;
    let options = FoldOptions {
        grain,
        max_tasks: u64::MAX,
        thieves: StealKind::TakeChildren,
        unfolded_sites: Vec::new(),
        memory: 1 << 20,
    };
    let mut fold = Fold::new(0, (0, 0), options);
    let mut records = lane(&[(0, Kind::Root, &[])]);
    let t = put_joins(&mut records, 40, 0);
    fold.feed(&records.bytes, 0);
    let mut more = from(t);
    put_joins(&mut more, 40, t + GAP);
    if pause > 0 {
        fold.paused(pause, 0);
    }
    fold.feed(&more.bytes, t);
    fold.finish();
    let (bytes, base) = fold.firm();
    (bytes.to_vec(), base)
}

#[test]
fn a_strand_that_stays_says_that_its_thread_ran_the_recorder() {
    let (bytes, base) = records(2, 90_000);
    let all: Vec<_> = Events::new(&bytes, base).collect();
    assert!(
        !all.iter()
            .any(|(_, event)| matches!(event, Event::Folded(_)))
    );
    let is_run = |event: &Event<'_>| matches!(event, Event::Recorder { ticks: 90_000 });
    // The pause is in the strand between the 40th join and the 41st, and later records keep their
    // times.
    let at = all.iter().position(|(_, event)| is_run(event)).unwrap();
    assert_eq!(
        (all[at - 1].0, all[at].0, all[at + 1].0),
        (1_200, 1_200, 101_210)
    );
    assert_eq!(all.iter().filter(|(_, event)| is_run(event)).count(), 1);
    assert_eq!(all.last().unwrap().0, 102_400);
}

#[test]
fn a_pause_is_no_work_and_does_not_end_a_subtree() {
    // A section of the root that is half as long as the grain is folded: 67 of the 80 joins, of 30
    // ticks each.
    let (work, parts) = folded(100_000);
    assert_eq!(parts, 1);
    assert!((2_000..2_100).contains(&work), "{work}");
    // As a strand of the program the gap is longer than the grain, and neither side of it is long
    // enough.
    assert_eq!(folded(0), (0, 0));
}

/// The sum over the folded records in `bytes`, and their number.
fn sum_of_folds(bytes: &[u8], base: u64) -> (FoldedRecord, usize) {
    let mut sum = FoldedRecord::default();
    let mut parts = 0;
    for (_, event) in Events::new(bytes, base) {
        if let Event::Folded(bytes) = event {
            let record = FoldedRecord::decode(bytes).unwrap();
            sum.work += record.work;
            sum.between += record.between;
            sum.off_cpu += record.off_cpu;
            sum.probes += record.probes;
            sum.tasks += record.tasks;
            parts += 1;
        }
    }
    (sum, parts)
}

/// How long the thread is off the CPU each time, in ticks.
const OFF: u64 = 7_000;

/// Folds 80 joins of three strands of ten ticks each, in pieces of ten joins. In each piece the
/// thread is off the CPU once, in one of the joins: in one of its strands, or in the runtime
/// between a child's end and the task that goes on.
fn folded_with_offs(place: usize, options: FoldOptions) -> (Vec<u8>, u64) {
    let mut fold = Fold::new(0, (0, 0), options);
    fold.feed(&lane(&[(0, Kind::Root, &[])]).bytes, 0);
    let mut t = 0;
    for piece in 0..8 {
        let began = t;
        let mut records = from(t);
        for join in 0..10 {
            let off = |at| if join == piece && at == place { OFF } else { 0 };
            records.at(t + 10 + off(0), Kind::Join, &[1]);
            t = records.now;
            records.at(t + 10 + off(1), Kind::End, &[]);
            records.at(records.now, Kind::Next, &[]);
            records.at(records.now + 10 + off(2), Kind::End, &[]);
            records.at(records.now + 2 + off(3), Kind::Resume, &[]);
            t = records.now;
        }
        let (from, to, ticks) = (began, t, OFF);
        fold.off_cpu(OffCpuWindow { from, to, ticks });
        fold.feed(&records.bytes, began);
    }
    fold.finish();
    let (bytes, base) = fold.firm();
    (bytes.to_vec(), base)
}

fn below(grain: u64) -> FoldOptions {
    FoldOptions {
        grain,
        max_tasks: u64::MAX,
        thieves: StealKind::TakeChildren,
        unfolded_sites: Vec::new(),
        memory: 1 << 20,
    }
}

#[test]
fn time_off_the_cpu_is_found_and_is_no_work() {
    for place in 0..4 {
        let (bytes, base) = folded_with_offs(place, below(4_000));
        let (sum, parts) = sum_of_folds(&bytes, base);
        // All but a few joins at the end are in one subtree or two, though the run took far longer
        // than the grain.
        assert!((1..=2).contains(&parts) && sum.tasks >= 120, "{sum:?}");
        let joins = sum.tasks / 2;
        let offs = (0..8).filter(|piece| piece * 11 < joins).count() as u64;
        assert_eq!(sum.off_cpu, offs * OFF, "{place}: {sum:?}");
        assert!(sum.work.abs_diff(joins * 30) <= 10, "{place}: {sum:?}");
        assert_eq!(sum.between, joins * 2, "{place}: {sum:?}");
    }
}

#[test]
fn a_reader_that_folds_on_does_not_take_time_off_the_cpu_for_the_runtime() {
    for place in 0..4 {
        let (bytes, base) = folded_with_offs(place, below(2_000));
        let (inner, parts) = sum_of_folds(&bytes, base);
        assert!(parts >= 2, "{parts}");
        // A reader takes the probes out and does not know where the thread was off the CPU, so
        // folded records are as long as they took.
        let mut fold = Fold::new(0, (0, 0), below(100_000));
        fold.take_out_probes(1);
        fold.feed(&bytes, base);
        fold.finish();
        let (bytes, base) = fold.firm();
        let (outer, parts) = sum_of_folds(bytes, base);
        assert!(parts == 1 && outer.tasks > 120, "{place}: {outer:?}");
        assert!(inner.off_cpu >= 5 * OFF, "{inner:?}");
        // Records that were not folded before count their time off the CPU once.
        assert!(outer.between <= 1_000 + OFF, "{place}: {outer:?}");
        assert!(outer.work <= 80 * 30 + OFF, "{place}: {outer:?}");
    }
}
