//! Tasks that were skipped with everything inside because of an overhead budget: how they, and the
//! sampled ones that represent them, are read.

use workspan_trace::wire::{Kind, wait};

use crate::writer::{File, Lane, dag, lane};

/// A class of tasks, at the top.
const LEVEL: u64 = 1 << 33;

/// A root's three tasks: the first was sampled, the second and the third were skipped, and a thief
/// took a part of the third.
fn lanes(first: &[u64], others: &[u64]) -> [Lane; 2] {
    counted(first, others, None)
}

/// The same with the number of tasks counted in the second, and in the third before and after it
/// waits.
fn counted(first: &[u64], others: &[u64], counts: Option<[u64; 3]>) -> [Lane; 2] {
    let mut main = Lane::default();
    let mut counts = counts.iter().flatten();
    let mut last = 0;
    let records: [(u64, Kind, &[u64]); 28] = [
        (100, Kind::Root, &[]),
        (100, Kind::Create, &[1, 1]),
        (100, Kind::Create, &[1, 1]),
        (100, Kind::Create, &[1, 1]),
        (110, Kind::Wait, &[0, wait::CHILDREN]),
        (120, Kind::Begin, &[0, 1]),
        (120, Kind::SampleBegin, first),
        (130, Kind::Create, &[1, 1]),
        (140, Kind::Create, &[1, 2]),
        (150, Kind::Wait, &[0, wait::CHILDREN]),
        (160, Kind::Begin, &[0, 5]),
        (180, Kind::End, &[]),
        (190, Kind::Begin, &[0, 4]),
        (230, Kind::End, &[]),
        (240, Kind::Resume, &[]),
        (250, Kind::End, &[]),
        (250, Kind::Begin, &[0, 2]),
        (250, Kind::SkipBegin, others),
        (380, Kind::SkipEnd, &[]),
        (380, Kind::End, &[]),
        (380, Kind::Begin, &[0, 3]),
        (380, Kind::SkipBegin, others),
        (440, Kind::Wait, &[0, wait::PARTS]),
        (480, Kind::Resume, &[]),
        (510, Kind::SkipEnd, &[]),
        (510, Kind::End, &[]),
        (520, Kind::Resume, &[]),
        (530, Kind::End, &[]),
    ];
    for (t, kind, operands) in records {
        let ends_a_strand =
            kind == Kind::SkipEnd || kind == Kind::Wait && operands == [0, wait::PARTS];
        if ends_a_strand && let Some(&tasks) = counts.next() {
            main.at(last, Kind::SkippedTasks, &[tasks]);
        }
        main.at(t, kind, operands);
        last = t;
    }
    // The third task's subtree is the second skipped one of the thread.
    let thief = lane(&[
        (300, Kind::Worker, &[0, 0]),
        (400, Kind::StolenPart, &[0, 1, 2]),
        (470, Kind::End, &[]),
    ]);
    [main, thief]
}

#[test]
fn a_task_left_out_holds_what_the_drawn_one_held() {
    let dag = dag(&File::new(lanes(&[1, LEVEL], &[1, LEVEL]), Some(530)));
    assert_eq!(dag.meta.warnings, [""; 0]);
    // 2 tasks in 130 ticks.
    let found: Vec<(u64, u64)> = dag.folded.iter().map(|(_, f)| (f.work, f.tasks)).collect();
    let works: Vec<u64> = found.iter().map(|f| f.0).collect();
    assert_eq!(works, [130, 60, 30]);
    assert_eq!(found[0].1, 2);
    for (at, (_, folded)) in dag.folded.iter().enumerate() {
        let (low, high) = dag.skipped[at].1.tasks;
        assert!((low..=high).contains(&folded.tasks), "{low} to {high}");
        assert_eq!(
            (folded.spawns, folded.span <= folded.work),
            (folded.tasks, true)
        );
        let inside: u64 = folded.sites.iter().map(|site| site.count).sum();
        assert_eq!(inside, folded.tasks);
    }
    // The part is the third task's child, and is joined where that task had waited.
    let part = (0..dag.tasks.len())
        .find(|&t| dag.tasks.parent[t] == 3)
        .unwrap();
    let waits = (0..dag.waits.after.len()).map(|w| dag.waits.tasks.get(w).to_vec());
    assert_eq!(
        waits.filter(|tasks| tasks.contains(&(part as u32))).count(),
        1
    );
}

#[test]
fn tasks_that_were_counted_are_not_estimated() {
    // Both if sampled and if skipped; nothing else is known of the skipped one.
    for site in [1, 2] {
        let lanes = counted(&[1, LEVEL], &[site, LEVEL], Some([7, 4, 0]));
        let dag = dag(&File::new(lanes, Some(530)));
        assert_eq!(dag.meta.warnings, [""; 0]);
        let found: Vec<_> = dag.folded.iter().map(|(_, f)| (f.work, f.tasks)).collect();
        assert_eq!(found, [(130, 7), (60, 4), (30, 0)]);
        let bounds = dag.skipped.iter().map(|(_, bounds)| bounds.tasks);
        assert!(bounds.eq([(7, 7), (4, 4), (0, 0)]), "{site}");
        for (_, folded) in dag.folded.iter() {
            let inside: u64 = folded.sites.iter().map(|site| site.count).sum();
            assert_eq!(inside, folded.tasks);
        }
    }
}

/// Whatever a trace says, each task takes at least a tick of the time since the run began.
#[test]
fn no_more_tasks_than_ticks_are_believed() {
    let lanes = counted(&[1, LEVEL], &[1, LEVEL], Some([u64::MAX; 3]));
    let dag = dag(&File::new(lanes, Some(530)));
    let found: Vec<u64> = dag.folded.iter().map(|(_, f)| f.tasks).collect();
    assert_eq!(found, [280, 340, 410]);
}

/// The strand before a wait may be recorded as shorter than it was: a thief took a part, lost the
/// CPU, and recorded an old moment, at which the wait then seems to begin.
#[test]
fn tasks_that_ran_in_what_seems_a_wait_are_counted() {
    let lanes = counted(&[1, LEVEL], &[1, LEVEL], Some([7, 200, 0]));
    let dag = dag(&File::new(lanes, Some(530)));
    let found: Vec<u64> = dag.folded.iter().map(|(_, f)| f.tasks).collect();
    assert_eq!(found, [7, 200, 0]);
    let bounds = dag.skipped.iter().map(|(_, bounds)| bounds.tasks);
    assert!(bounds.eq([(7, 7), (200, 200), (0, 0)]));
}

/// None of its class was sampled.
#[test]
fn a_task_left_out_alone_may_hold_anything() {
    let dag = dag(&File::new(lanes(&[1, LEVEL], &[2, LEVEL]), Some(530)));
    assert_eq!(dag.meta.warnings, [""; 0]);
    for (at, (_, folded)) in dag.folded.iter().enumerate() {
        assert_eq!((folded.tasks, folded.span), (0, folded.work));
        let bounds = dag.skipped[at].1;
        assert_eq!(
            (bounds.tasks, bounds.span),
            ((0, folded.work), (0, folded.work))
        );
    }
}

/// A skipped task that a thief ran: it and the part taken from it end a moment after the wait for
/// them was over.
#[test]
fn one_whose_end_is_told_late_was_over_by_then() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Create, &[1, 1]),
        (10, Kind::Wait, &[0, wait::CHILDREN]),
        (50, Kind::Resume, &[]),
        (100, Kind::End, &[]),
    ]);
    let left_out = |parts: &[(u64, Kind, &[u64])]| {
        let mut thief = lane(&[
            (20, Kind::Worker, &[0, 0]),
            (20, Kind::Begin, &[0, 1]),
            (20, Kind::SkipBegin, &[1, LEVEL]),
            (52, Kind::SkipEnd, &[]),
        ]);
        thief.at(53, Kind::End, &[]);
        let mut other = lane(&[(20, Kind::Worker, &[0, 1])]);
        for &(t, kind, operands) in parts {
            other.at(t, kind, operands);
        }
        dag(&File {
            notes: vec![("ends", "late")],
            ..File::new([main.clone(), thief, other], Some(100))
        })
    };
    for part in [
        &[][..],
        &[(30, Kind::StolenPart, &[1, 0, 2][..]), (51, Kind::End, &[])],
    ] {
        let dag = left_out(part);
        assert_eq!(dag.meta.warnings, [""; 0]);
        assert!(dag.strands.end[..].iter().all(|&t| t <= 50 || t == 100));
        assert_eq!(dag.skipped.len(), 1);
    }
}
