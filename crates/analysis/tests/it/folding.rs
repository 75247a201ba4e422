//! Folding changes no measure (MODEL.md §7): compares the same records read as they are and folded
//! with any grain.

mod again;
mod between;
mod file;
mod outward;
mod program;
mod reading;
mod recursion;
mod refused;
mod tails;

use std::collections::BTreeMap;

use crate::random::dice::Dice;
use program::Habits;
use workspan_analysis::{Options, report};
use workspan_dag::Dag;
use workspan_fold::{FoldOptions, StealKind};

/// Every measure of §2 and §3 with this burden, as text, so that a difference is visible.
fn measures(dag: &Dag, burden: u64) -> Vec<String> {
    let options = Options {
        burden: Some(burden),
        ..Options::default()
    };
    let r = report(dag, &options).unwrap();
    let ws = &r.work_span;
    let mut lines = vec![
        format!(
            "work {} span {} burdened {}",
            ws.work, ws.span, ws.burdened_span
        ),
        format!(
            "tasks {} spawns {} syncs {} steals {}",
            ws.tasks, ws.spawns, ws.syncs, ws.steals
        ),
    ];
    let mut sites = BTreeMap::new();
    let label = |place: u32| {
        dag.places
            .get(place as usize)
            .map_or("?", |p| p.label.as_str())
    };
    for row in &r.sites {
        let measures = (row.count, row.work, row.span, row.critical_work);
        sites.insert(label(row.site).to_owned(), measures);
    }
    lines.extend(sites.iter().map(|s| format!("{s:?}")));
    lines
}

fn habits(dice: &mut Dice) -> Habits {
    let rare = |dice: &mut Dice| if dice.percent(30) { dice.below(20) } else { 0 };
    Habits {
        threads: 1 + dice.below(3),
        steals: dice.pick(&[1, 3, 30]),
        detached: rare(dice),
        marks: rare(dice),
        yields: rare(dice),
        signals: rare(dice),
        depends: rare(dice),
        escapes: dice.pick(&[0, 0, 5]),
        foreign: dice.pick(&[0, 0, 10]),
        step: dice.pick(&[1, 6, 90]),
        tasks: 20 + dice.below(500),
        joins_only: dice.percent(25),
        outward: false,
    }
}

#[test]
fn every_measure_is_the_same_to_the_tick() {
    let (mut folds, mut kept, mut unfolded) = (0, 0, 0);
    for case in 0..80 {
        let mut dice = Dice::new(case);
        let mut habits = habits(&mut dice);
        if habits.threads == 1 {
            habits.steals = 100;
        }
        let (lanes, end) = program::run(&mut dice, habits);
        let (thieves, steals) = dice.pick(&[
            (StealKind::TakeChildren, "child"),
            (StealKind::TakeContinuations, "continuation"),
        ]);
        let options = FoldOptions {
            grain: dice.pick(&[1, 30, 200, 1000, 1 << 40]),
            max_tasks: u64::MAX,
            thieves,
            unfolded_sites: if dice.percent(20) { vec![3] } else { vec![] },
            memory: if dice.percent(10) { 3000 } else { 1 << 30 },
        };
        let (chunks, n) = file::folded(&lanes, &options, &mut dice);
        let (plain, short) = (
            file::dag(&file::plain(&lanes), end, steals),
            file::dag(&chunks, end, steals),
        );
        assert_eq!(plain.meta.warnings, short.meta.warnings, "case {case}");
        folds += n;
        kept += short.tasks.len();
        unfolded += plain.tasks.len();
        for (strand, fold) in short.folded.iter() {
            let s = strand as usize;
            let length = short.strands.end[s] - short.strands.start[s];
            assert!(length < options.grain, "case {case}");
            // On one thread all of the time is work, except the time in which nothing ran.
            assert!(fold.work <= length, "case {case}");
            assert!(fold.tasks > 0 && fold.envelope.len() <= 8, "case {case}");
            if !options.unfolded_sites.is_empty() {
                let place =
                    |s: &workspan_dag::folded::FoldedSite| &short.places[s.site as usize].label;
                assert!(
                    fold.sites.iter().all(|s| place(s) != "a.rs:4"),
                    "case {case}"
                );
            }
        }
        for burden in [0, 1, 7, 50, 1000, 1 << 30] {
            assert_eq!(
                measures(&plain, burden),
                measures(&short, burden),
                "case {case}, burden {burden}, {habits:?}, {options:?}"
            );
        }
    }
    assert!(folds > 0, "{folds}");
    assert!(kept < unfolded, "{kept} of {unfolded}");
}
