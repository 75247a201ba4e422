//! Budgets of simulated runs.

use super::cost_comparison::{CostComparison, MAX_COMPARED_SAMPLES, MIN_COMPARED_SAMPLES};
use super::{Budget, Choice, Settings, Watch};

const SETTINGS: Settings = Settings {
    per_million: 50_000,
    hold: 0,
    join_ticks: 60,
    millisecond: 1_000_000,
    seed: 7,
};

/// A recursion of this depth whose tasks do `strand` ticks of work, with the number of recorded
/// joins and the time taken.
struct Run {
    budget: Budget,
    now: u64,
    bare: u64,
    recorded: u64,
    skipped: u64,
    strand: u64,
    whole: bool,
    /// The number of joins that were recorded to measure a join.
    learnt: u64,
    /// The real cost of recording a join, in ticks.
    cost: u64,
}

impl Run {
    fn new(strand: u64) -> Run {
        let budget = Budget::new(SETTINGS, 0, 0);
        Run {
            budget,
            now: 0,
            bare: 0,
            recorded: 0,
            skipped: 0,
            strand,
            whole: false,
            learnt: 0,
            cost: SETTINGS.join_ticks,
        }
    }

    fn tree(&mut self, depth: u32, level: u32, recorded: bool) {
        self.now += self.strand;
        self.bare += self.strand;
        if depth == 0 {
            return;
        }
        let asked = recorded && !self.whole;
        let begun = asked.then(|| self.budget.begin(1, level, self.now));
        let skip = matches!(begun, Some((Choice::Skip, _)));
        let inside = recorded && !skip;
        if matches!(begun, Some((Choice::Sample | Choice::Learn, _))) {
            self.whole = true;
        }
        let before = self.recorded;
        if inside {
            self.recorded += 1;
            self.now += self.cost;
        }
        self.skipped += u64::from(skip);
        self.tree(depth - 1, level + 1, inside);
        self.tree(depth - 1, level + 1, inside);
        if let Some((choice, begun)) = begun {
            self.whole &= !matches!(choice, Choice::Sample | Choice::Learn);
            if choice == Choice::Learn {
                self.learnt += self.recorded - before;
            }
            self.budget.end(begun, self.now, self.recorded - before);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "millions of tasks, without any unsafe code")]
fn short_tasks_are_recorded_for_about_what_is_allowed() {
    let mut run = Run::new(8);
    run.tree(22, 0, true);
    let added = (run.now - run.bare) as f64 / run.bare as f64;
    assert!(added < 0.15, "{added}");
    assert!(run.skipped > 100, "{}", run.skipped);
    assert!(run.recorded > 10_000, "{}", run.recorded);
}

/// If calibration underestimated the cost, fewer subtrees are drawn.
#[test]
#[cfg_attr(miri, ignore = "millions of tasks, without any unsafe code")]
fn what_recording_costs_is_seen() {
    let mut run = Run::new(8);
    run.cost = 4 * SETTINGS.join_ticks;
    run.tree(24, 0, true);
    let added = (run.now - run.bare) as f64 / run.bare as f64;
    assert!(added < 0.1, "{added}");
    assert!(run.skipped > 100, "{}", run.skipped);
    assert!(run.recorded > 1000, "{}", run.recorded);
}

/// A sampled subtree that was interrupted, as on a slow machine, does not end the sampling.
#[test]
fn chances_are_lowered_to_a_64th_at_most() {
    let mut compared = CostComparison::default();
    for _ in 0..MIN_COMPARED_SAMPLES {
        assert_eq!(compared.correction(60), 1 << 16);
        compared.add(100, 1 << 40, 10);
    }
    assert_eq!(compared.correction(60), 1 << 10);
    let mut compared = CostComparison::default();
    for _ in 0..1000 {
        // The cost is as estimated, or lower.
        compared.add(100, 7000, 1000);
        assert_eq!(compared.correction(60), 1 << 16);
    }
    assert!(compared.drawn < MAX_COMPARED_SAMPLES);
}

/// Otherwise one subtree of each level of short ones would be recorded in full.
#[test]
fn one_level_is_learnt_of_from_the_one_below() {
    let mut run = Run::new(1);
    run.tree(18, 0, true);
    assert!(run.skipped > 10, "{}", run.skipped);
    // 7, 15 and so on up to the first subtree of more than a thousand joins; some twice, as the
    // grain grows.
    let learnt = run.learnt;
    assert!((1000..8192).contains(&learnt), "{learnt}");
    let mut run = Run::new(1);
    run.budget = run.budget.of_tasks();
    run.tree(18, 0, true);
    assert!(run.learnt > learnt, "{}", run.learnt);
}

/// Level 8 has `joins` joins of 4 ticks, without their records; then level 7 takes `ticks`. Returns
/// the decision about its third subtree.
fn third_above(joins: u64, ticks: u64) -> Choice {
    let mut budget = Budget::new(SETTINGS, 0, 0);
    let mut now = 0;
    let mut choices = Vec::new();
    for (level, joins, ticks) in [(8, joins, 64 * joins), (7, 1, ticks)] {
        for _ in 0..3 {
            let (choice, begun) = budget.begin(5, level, now);
            now += ticks;
            budget.end(begun, now, joins);
            choices.push(choice);
        }
    }
    assert_eq!(choices[..3], [Choice::Enter, Choice::Enter, Choice::Learn]);
    choices[5]
}

#[test]
fn a_level_is_learnt_of_by_itself_where_the_one_below_says_little() {
    assert_ne!(third_above(1024, 16_000), Choice::Learn);
    assert_eq!(third_above(1023, 16_000), Choice::Learn);
    // More than four times as long.
    assert_eq!(third_above(1024, 17_000), Choice::Learn);
}

#[test]
fn long_strands_are_recorded_all() {
    let mut run = Run::new(10_000);
    run.tree(12, 0, true);
    assert_eq!((run.skipped, run.recorded), (0, 4095));
}

#[test]
fn the_same_seed_makes_the_same_choices() {
    let run = |seed| {
        let mut budget = Budget::new(Settings { seed, ..SETTINGS }, 3, 0);
        let mut now = 0;
        let choices = (0..2000).map(|_| {
            let (choice, begun) = budget.begin(5, 2, now);
            now += 20_000;
            let joins = if choice == Choice::Skip { 0 } else { 250 };
            budget.end(begun, now, joins);
            choice
        });
        choices.collect::<Vec<Choice>>()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let drawn = run(1).iter().filter(|&&c| c == Choice::Sample).count();
    // About a thirtieth: 5 % of 5000 ticks for 15000.
    assert!((8..200).contains(&drawn), "{drawn}");
}

/// The number of joins that begin before a thread has a budget, if each takes `ticks`.
fn joins_before(settings: Settings, ticks: u64) -> Option<u64> {
    let (mut watch, mut begun) = (Watch::new(settings, 0), 0);
    while begun < 1 << 20 {
        match watch.budget(0, begun * ticks, 2) {
            Ok(_) => return Some(begun),
            Err(next) => begun += u64::from(next),
        }
    }
    None
}

#[test]
fn a_budget_begins_after_what_is_held_if_it_is_exceeded() {
    let hold = 1 << 15;
    let held = Settings { hold, ..SETTINGS };
    assert_eq!(joins_before(SETTINGS, 10_000), Some(0));
    assert_eq!(joins_before(held, 100), Some(1 << 14));
    assert_eq!(joins_before(held, 10_000), None);
    let per_million = 0;
    let off = Settings {
        per_million,
        ..SETTINGS
    };
    assert_eq!(joins_before(off, 100), None);
}
