//! Tasks that end before what they created into their own scope, as Rayon's `scope` has them
//! (MODEL.md §7: one exit).

use workspan_fold::{FoldOptions, StealKind};
use workspan_trace::wire::Kind;

use crate::folding::program::{self, Habits, Lane};
use crate::folding::{file, measures};
use crate::random::dice::Dice;

#[test]
fn every_measure_is_the_same_to_the_tick() {
    let (mut kept, mut unfolded, mut late) = (0, 0, 0);
    for case in 0..120 {
        let mut dice = Dice::new(case);
        let habits = Habits {
            threads: 1 + dice.below(3),
            steals: dice.pick(&[0, 1, 3]),
            foreign: dice.pick(&[0, 0, 10]),
            // If two paths are equally heavy, a record may contain either one: here there are no
            // such paths.
            step: 1 << 16,
            tasks: 100 + dice.below(1500),
            outward: true,
            ..Habits::default()
        };
        let (lanes, end) = program::run(&mut dice, habits);
        let options = FoldOptions {
            grain: dice.pick(&[1 << 20, 1 << 23, 1 << 40]),
            max_tasks: u64::MAX,
            thieves: dice.pick(&[StealKind::TakeChildren, StealKind::TakeContinuations]),
            unfolded_sites: if dice.percent(10) { vec![3] } else { vec![] },
            memory: if dice.percent(10) { 3000 } else { 1 << 30 },
        };
        let steals = match options.thieves {
            StealKind::TakeChildren => "child",
            StealKind::TakeContinuations => "continuation",
        };
        let (chunks, _) = file::folded(&lanes, &options, &mut dice);
        let (plain, short) = (
            file::dag(&file::plain(&lanes), end, steals),
            file::dag(&chunks, end, steals),
        );
        assert_eq!(plain.meta.warnings, short.meta.warnings, "case {case}");
        kept += short.tasks.len();
        unfolded += plain.tasks.len();
        late += folded_past_the_end(&plain, &short);
        for burden in [0, 1000, 1 << 16, 1 << 26] {
            assert_eq!(
                measures(&plain, burden),
                measures(&short, burden),
                "case {case}, burden {burden}, {habits:?}, {options:?}"
            );
        }
    }
    assert!(kept < unfolded, "{kept} of {unfolded}");
    assert!(late > 60, "{late}");
}

/// Number of folded strands that end after their task's end.
fn folded_past_the_end(plain: &workspan_dag::Dag, short: &workspan_dag::Dag) -> usize {
    let mut ends: Vec<(u64, u64)> = Vec::new();
    for task in 0..plain.tasks.len() {
        let strands = |task: usize| {
            let of = plain.strands.task.iter().enumerate();
            of.filter(move |s| *s.1 as usize == task).map(|s| s.0)
        };
        let begun = strands(task).map(|s| plain.strands.start[s]).min();
        let ended = strands(task).map(|s| plain.strands.end[s]).max();
        ends.extend(begun.zip(ended));
    }
    let past = |&&strand: &&u32| {
        let s = strand as usize;
        let (start, end) = (short.strands.start[s], short.strands.end[s]);
        ends.iter()
            .any(|&(begun, ended)| begun == start && ended < end)
    };
    short.folded.strands().iter().filter(past).count()
}

/// Each block that takes time: its site, start and end.
fn blocks(dag: &workspan_dag::Dag) -> std::collections::BTreeSet<String> {
    let label = |place: u32| dag.places.get(place as usize).map(|p| p.label.clone());
    let report = workspan_analysis::report(dag, &workspan_analysis::Options::default()).unwrap();
    let named = report.sites.iter().flat_map(|row| {
        let some = row.blocks.iter().filter(|block| block.work > 0);
        some.map(|b| {
            let (from, to) = (label(b.block.from), label(b.block.to));
            format!(
                "{:?}: {:?} {from:?} to {:?} {to:?}",
                label(row.site),
                b.block.from_kind,
                b.block.to_kind
            )
        })
    });
    named.collect()
}

/// The root opens a scope and creates a task of it, which runs when the root waits: it creates
/// `BROAD` into the scope and ends, as does each of them down to `DEEP`. The thread always runs its
/// last created task next.
fn tree(lanes: &mut [Lane], stolen: Option<u64>) {
    const BROAD: u64 = 4;
    const DEEP: u32 = 4;
    let mut t = 0;
    let mut put = |lane: usize, kind: Kind, operands: &[u64]| {
        t += 10;
        lanes[lane].put(t, kind, operands);
    };
    put(0, Kind::Root, &[]);
    put(1, Kind::Worker, &[0, 1]);
    put(0, Kind::Scope, &[0]);
    put(0, Kind::Create, &[5, 1, 0, 0]);
    put(0, Kind::Wait, &[0, 1, 0, 0]);
    let (mut created, mut waiting) = (2, vec![(1, 0)]);
    while let Some((task, level)) = waiting.pop() {
        let lane = usize::from(stolen == Some(task));
        put(lane, Kind::Begin, &[0, task]);
        for _ in 0..if level < DEEP && lane == 0 { BROAD } else { 0 } {
            put(0, Kind::Create, &[5, 2, 0, 0]);
            waiting.push((created, level + 1));
            created += 1;
        }
        put(lane, Kind::End, &[]);
    }
    put(0, Kind::Resume, &[]);
    put(0, Kind::End, &[]);
}

#[test]
fn a_whole_tree_of_a_scope_is_folded_unless_some_of_it_is_stolen() {
    let options = FoldOptions {
        grain: 1 << 40,
        max_tasks: u64::MAX,
        thieves: StealKind::TakeChildren,
        unfolded_sites: vec![],
        memory: 1 << 30,
    };
    for stolen in [None, Some(40)] {
        let mut lanes = vec![Lane::default(), Lane::default()];
        tree(&mut lanes, stolen);
        let end = lanes[0].now;
        let (chunks, _) = file::folded(&lanes, &options, &mut Dice::new(7));
        let plain = file::dag(&file::plain(&lanes), end, "child");
        let short = file::dag(&chunks, end, "child");
        assert_eq!(measures(&plain, 100), measures(&short, 100));
        // The ancestors of the stolen task stay, with their siblings: a task of each level and its
        // four.
        match stolen {
            // Everything goes into the root's strand.
            None => assert_eq!(short.tasks.len(), 1),
            Some(_) => {
                assert!((7..60).contains(&short.tasks.len()));
                assert_eq!(blocks(&plain), blocks(&short));
            }
        }
        assert!(plain.tasks.len() > 300);
    }
}

#[test]
fn one_that_other_tasks_wait_for_is_not_one_strand_with_what_it_created() {
    let mut lane = Lane::default();
    let mut t = 0;
    let mut put = |kind: Kind, operands: &[u64]| {
        t += 10;
        lane.put(t, kind, operands);
    };
    put(Kind::Root, &[]);
    put(Kind::Scope, &[0]);
    put(Kind::Create, &[5, 1, 0, 0]);
    // A wait for all children, but not for their descendants.
    put(Kind::Wait, &[0, 0]);
    put(Kind::Begin, &[0, 1]);
    for _ in 0..40 {
        put(Kind::Create, &[5, 2, 0, 0]);
    }
    put(Kind::End, &[]);
    for task in (2..42).rev() {
        put(Kind::Begin, &[0, task]);
        put(Kind::End, &[]);
    }
    put(Kind::Resume, &[]);
    put(Kind::Wait, &[0, 1, 0, 0]);
    put(Kind::Resume, &[]);
    put(Kind::End, &[]);
    let options = FoldOptions {
        grain: 1 << 40,
        max_tasks: u64::MAX,
        thieves: StealKind::TakeChildren,
        unfolded_sites: vec![],
        memory: 1 << 30,
    };
    let (lanes, end) = ([lane], t);
    let (chunks, _) = file::folded(&lanes, &options, &mut Dice::new(7));
    let plain = file::dag(&file::plain(&lanes), end, "child");
    let short = file::dag(&chunks, end, "child");
    for burden in [0, 1000] {
        assert_eq!(measures(&plain, burden), measures(&short, burden));
    }
    assert_eq!(short.tasks.len(), plain.tasks.len());
}
