//! Time between the strands inside folded ones is delay, as it is when each task is read (MODEL.md
//! §5). On threads that always have a next strand, with or without idle workers, only the kinds of
//! delay in the breakdown change.

use workspan_analysis::{Breakdown, Options, report};
use workspan_dag::Dag;
use workspan_fold::{FoldOptions, StealKind};
use workspan_reader::open::Grain;
use workspan_trace::wire::Kind;

use crate::folding::file;
use crate::folding::program::Lane;
use crate::folding::reading::through;
use crate::random::dice::Dice;

/// A thread that only runs a tree of tasks, and is in the runtime for a while before each strand.
struct Tree<'a> {
    dice: &'a mut Dice,
    thread: u64,
    lane: Lane,
    /// Number of creates up to now.
    created: u64,
    /// Longest time in the runtime.
    gap: usize,
    /// All times are multiples of this.
    unit: u64,
}

impl Tree<'_> {
    fn later(&mut self, most: usize) -> u64 {
        self.lane.now + self.dice.below(most + 1) as u64 * self.unit
    }

    fn runs(&mut self, kind: Kind, operands: &[u64]) {
        let t = self.later(60);
        self.lane.put(t, kind, operands);
    }

    fn goes_on(&mut self, kind: Kind, operands: &[u64]) {
        let t = self.later(self.gap);
        self.lane.put(t, kind, operands);
    }

    /// Runs the body of a task.
    fn task(&mut self, levels: usize) {
        let children = if levels == 0 { 0 } else { self.dice.below(5) };
        let first = self.created;
        for _ in 0..children {
            let site = 1 + self.dice.below(3) as u64;
            self.runs(Kind::Create, &[1, site]);
            self.created += 1;
        }
        if children > 0 {
            self.runs(Kind::Wait, &[0, 0]);
            let last_first = self.dice.percent(50);
            for i in 0..children as u64 {
                let i = if last_first {
                    children as u64 - 1 - i
                } else {
                    i
                };
                self.goes_on(Kind::Begin, &[self.thread, first + i]);
                self.task(levels - 1);
                self.runs(Kind::End, &[]);
            }
            self.goes_on(Kind::Resume, &[]);
        }
    }
}

/// Threads that are workers all the time, and `idle` more that run nothing; and the run's end.
fn run(dice: &mut Dice, gap: usize, unit: u64, idle: u64) -> (Vec<Lane>, u64) {
    let threads = 1 + dice.below(3) as u64;
    let mut lanes = Vec::new();
    for thread in 0..threads {
        let mut tree = Tree {
            dice,
            thread,
            lane: Lane::default(),
            created: 1,
            gap,
            unit,
        };
        tree.lane.put(0, Kind::Worker, &[0, thread]);
        tree.lane.put(0, Kind::Root, &[]);
        for _ in 0..3 {
            tree.task(5);
        }
        lanes.push(tree.lane);
    }
    let end = lanes.iter().map(|lane| lane.now).max().unwrap() + 9 * unit;
    for lane in &mut lanes {
        lane.put(end, Kind::End, &[]);
    }
    for thread in threads..threads + idle {
        let mut lane = Lane::default();
        lane.put(0, Kind::Worker, &[0, thread]);
        lane.put(end, Kind::WorkerEnd, &[]);
        lanes.push(lane);
    }
    (lanes, end)
}

/// All numbers that do not depend on which strand was ready longest, and the sum of the profile.
fn numbers(dag: &Dag) -> (Breakdown, u64) {
    let report = report(dag, &Options::default()).unwrap();
    let breakdown = report.breakdown;
    assert_eq!(
        breakdown.delay_by_edge.iter().sum::<u128>(),
        breakdown.delay
    );
    assert_eq!(
        breakdown.lost(),
        report.causes.by_cause.iter().sum::<u128>()
    );
    let sites = workspan_analysis::site_delays(dag);
    assert_eq!(sites.iter().map(|s| s.delay).sum::<u128>(), breakdown.delay);
    assert_eq!(
        sites.iter().map(|s| s.buried_ticks).sum::<u128>(),
        breakdown.buried_ticks
    );
    let running = report.profile.mean_running * breakdown.elapsed() as f64;
    let breakdown = Breakdown {
        delay_folded: 0,
        delay_by_edge: [0; 7],
        ready_path: Default::default(),
        ..breakdown
    };
    (breakdown, running.round() as u64)
}

#[test]
fn time_between_strands_is_delay_whether_folded_or_not() {
    let (mut folded, mut unfolded) = (0, 0);
    for case in 0..60 {
        let mut dice = Dice::new(7000 + case);
        let gap = dice.pick(&[0, 5, 80]);
        let (lanes, end) = run(&mut dice, gap, 1, 0);
        let probe = dice.pick(&[0, 3]);
        let plain = file::plain(&lanes);
        let task = [0, 40][case as usize % 2];
        let bytes = file::measured_bytes(&plain, end, "child", (probe, task));
        let full = through(&bytes, Grain::None, false);
        let short = through(
            &bytes,
            Grain::Nanoseconds(dice.pick(&[100, 1000, 100_000])),
            false,
        );
        assert_eq!(numbers(&full), numbers(&short), "case {case}");
        unfolded += full.tasks.len();
        folded += full.tasks.len() - short.tasks.len();
        let options = FoldOptions {
            grain: dice.pick(&[200, 2000]),
            max_tasks: u64::MAX,
            thieves: StealKind::TakeChildren,
            unfolded_sites: Vec::new(),
            memory: 1 << 30,
        };
        let (chunks, _) = file::folded(&lanes, &options, &mut dice);
        let bytes = file::folded_bytes(&chunks, end, "child", 0);
        let full = through(&file::bytes(&plain, end, "child", 0), Grain::None, false);
        for grain in [Grain::None, Grain::Nanoseconds(100_000)] {
            assert_eq!(
                numbers(&full),
                numbers(&through(&bytes, grain, false)),
                "case {case}, {grain:?}"
            );
        }
    }
    assert!(folded * 2 > unfolded, "{folded} of {unfolded}");
}

/// So long that a thief would have come, so that nothing is folded for being short.
const LONG: u64 = 5000;

#[test]
fn where_workers_are_idle_what_has_as_many_tasks_outside_is_folded() {
    let (mut folded, mut unfolded, mut delay) = (0, 0, 0);
    for case in 0..60 {
        let mut dice = Dice::new(8000 + case);
        let (gap, idle) = (dice.pick(&[0, 5, 80]), dice.below(4) as u64);
        let (lanes, end) = run(&mut dice, gap, LONG, idle);
        let bytes = file::bytes(&file::plain(&lanes), end, "child", dice.pick(&[0, 3]));
        let full = through(&bytes, Grain::None, false);
        let grain = dice.pick(&[100, 1000, 10_000]) * LONG;
        let short = through(&bytes, Grain::Nanoseconds(grain), false);
        assert_eq!(full.meta.workers as usize, lanes.len());
        assert_eq!(numbers(&full), numbers(&short), "case {case}");
        if idle > 0 {
            unfolded += full.tasks.len();
            folded += full.tasks.len() - short.tasks.len();
            delay += numbers(&full).0.delay;
        }
    }
    assert!(folded * 4 > unfolded && delay > 0, "{folded} of {unfolded}");
}
