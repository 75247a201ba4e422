//! Records that were folded during recording are folded further when the trace is read: no measure
//! changes.

use workspan_analysis::{Options, report};
use workspan_dag::Dag;
use workspan_fold::{FoldOptions, StealKind};
use workspan_reader::OpenOptions;
use workspan_reader::open::Grain;
use workspan_reader::recorded::expand::Expander;

use crate::folding::reading::through;
use crate::folding::{file, habits, measures, program};
use crate::random::dice::Dice;

/// The number of folded strands, and of the tasks in them.
fn inside(dag: &Dag) -> (usize, u64) {
    let tasks = dag.folded.iter().map(|(_, fold)| fold.tasks);
    (dag.folded.len(), tasks.sum())
}

/// Sums of [`Dag::folded`] that no report shows.
fn sums(dag: &Dag) -> [u128; 3] {
    let mut sums = [0; 3];
    for (_, fold) in dag.folded.iter() {
        let counts = fold.sites.iter().flat_map(|site| &site.lengths);
        sums[0] += counts.map(|&n| u128::from(n)).sum::<u128>();
        sums[1] += fold.blocks.iter().map(|b| u128::from(b.2)).sum::<u128>();
        sums[2] += u128::from(fold.work);
    }
    sums
}

#[test]
fn no_measure_changes() {
    let (mut fewer, mut more_inside, mut looked_into) = (0, 0, 0);
    for case in 0..250 {
        let mut dice = Dice::new(7000 + case);
        let mut habits = habits(&mut dice);
        if dice.percent(70) {
            (habits.detached, habits.marks, habits.yields) = (0, 0, 0);
            (habits.signals, habits.depends, habits.escapes) = (0, 0, 0);
            (habits.foreign, habits.tasks) = (0, 300 + dice.below(500));
        }
        habits.outward = dice.percent(30);
        habits.steals = 100;
        let (lanes, end) = program::run(&mut dice, habits);
        let (thieves, steals) = dice.pick(&[
            (StealKind::TakeChildren, "child"),
            (StealKind::TakeContinuations, "continuation"),
        ]);
        let small = FoldOptions {
            grain: dice.pick(&[10, 30, 100, 300]),
            max_tasks: u64::MAX,
            thieves,
            unfolded_sites: Vec::new(),
            memory: 1 << 30,
        };
        let (chunks, _) = file::folded(&lanes, &small, &mut dice);
        let probe = dice.pick(&[0, 0, 1]);
        let bytes = file::folded_bytes(&chunks, end, steals, probe);
        // A tick is half a nanosecond.
        let grain = Grain::Nanoseconds(dice.pick(&[100, 1000, 1_000_000]));
        for raw in [false, true] {
            let plain = through(&bytes, Grain::None, raw);
            let short = through(&bytes, grain, raw);
            assert_eq!(plain.meta.warnings, short.meta.warnings, "case {case}");
            let options = |burden| Options {
                burden: Some(burden),
                raw,
                ..Options::default()
            };
            for burden in [0, 7, 1000] {
                if probe == 0 {
                    assert_eq!(
                        measures(&plain, burden),
                        measures(&short, burden),
                        "case {case}, burden {burden}, {habits:?}, {small:?}"
                    );
                }
                let sums = |dag: &Dag| {
                    let r = report(dag, &options(burden)).unwrap();
                    let ws = &r.work_span;
                    (
                        (ws.work, ws.span, ws.burdened_span),
                        (ws.tasks, ws.spawns, ws.syncs),
                    )
                };
                assert_eq!(sums(&plain), sums(&short), "case {case}, {burden}, {raw}");
                let of = |dag: &Dag| report(dag, &options(burden)).unwrap().breakdown;
                let (a, b) = (of(&plain), of(&short));
                let all_count = a.work > 0 && a.oversubscribed == 0 && b.oversubscribed == 0;
                // If probes cost nothing, nested records leave out that the recorder folded.
                if all_count && probe > 0 && !raw {
                    assert_eq!(a.recording, b.recording, "case {case}");
                }
            }
            let ((n, tasks), (_, more)) = (inside(&plain), inside(&short));
            // Records that are not part of another one have no source.
            let left = short.folded.iter().filter(|f| f.1.source.is_none()).count();
            assert!(tasks <= more, "case {case}: {tasks}, {more}");
            fewer += n - left;
            more_inside += more - tasks;
            let [counted, blocks, work] = sums(&short);
            assert_eq!(counted, u128::from(more), "case {case}");
            // Weights without probes are rounded one by one.
            let least = if probe == 0 || raw { work } else { 0 };
            assert!(
                (least..=work).contains(&blocks),
                "case {case}: {blocks} of {work}"
            );
            if !raw && let Some(about) = &short.meta.read_folding {
                assert_eq!(about.tasks, plain.tasks.len() as u64, "case {case}");
                looked_into += look_into(&bytes, &plain, &short);
            }
        }
    }
    assert!(fewer > 300 && more_inside > 10_000, "{fewer} {more_inside}");
    assert!(looked_into > 1000, "{looked_into}");
}

/// Expands each folded strand: the strands inside must be strands of the run as recorded. Returns
/// their number.
fn look_into(bytes: &[u8], plain: &Dag, short: &Dag) -> usize {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let records = Expander::open(file.path(), short, &OpenOptions::default());
    let records = records.unwrap().unwrap();
    let strands = &plain.strands;
    // Also compares the time between inner strands of those that are folded themselves.
    let known: std::collections::BTreeMap<(u32, u64, u64), u64> = (0..strands.len())
        .map(|s| {
            let between = plain.fold_of(s as u32).map_or(0, |fold| fold.between);
            let times = (strands.thread[s], strands.start[s], strands.end[s]);
            (times, between)
        })
        .collect();
    let mut found = 0;
    for (s, fold) in short.folded.iter().filter(|f| f.1.source.is_some()) {
        let thread = short.strands.thread[s as usize];
        let inside = records.expand(short, s, (0, u64::MAX), 10_000);
        let mut ticks = 0;
        for strand in &inside.strands {
            let times = (thread, strand.start, strand.end);
            let between = known.get(&times).expect("it is one of the run's");
            ticks += strand.end - strand.start - between;
        }
        if short.meta.probe_cost > 0 {
            assert_eq!(ticks, fold.work + fold.probes);
        }
        found += inside.strands.len();
    }
    found
}
