//! A DAG as a text that does not depend on the schedule, and checks for every run.

use std::collections::{BTreeMap, BTreeSet};

use workspan_dag::{Dag, EdgeKind, EndKind, NONE, TaskKind};

/// The actions of each task, outermost first: `D(…)`, `I(…)`, `X(…)` are deferred, inline and
/// detached tasks with their actions, `w3` is a wait for three tasks, `s` a wait for a signal.
/// Other stops are left out, because a task may stop in one schedule and not in another. Tasks may
/// be nested 1,000 deep.
pub fn canonical(dag: &Dag, task: u32) -> String {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for child in 0..dag.tasks.len() as u32 {
        children
            .entry(dag.tasks.creator[child as usize])
            .or_default()
            .push(child);
    }
    for list in children.values_mut() {
        list.sort_by_key(|&child| dag.tasks.create_rank[child as usize]);
    }
    let mut strands: Vec<Vec<u32>> = vec![Vec::new(); dag.tasks.len()];
    for strand in 0..dag.strands.len() as u32 {
        strands[dag.strands.task[strand as usize] as usize].push(strand);
    }
    let mut text = String::new();
    write(dag, task, &children, &strands, &mut text);
    text
}

/// Whether the task is a root, or a thread that the program started.
pub fn is_outermost(dag: &Dag, task: u32) -> bool {
    dag.tasks.kind[task as usize] == TaskKind::Root
        || dag.places[dag.tasks.site[task as usize] as usize].is_thread()
}

/// Writes a task without threads and the waits for them.
fn write(
    dag: &Dag,
    task: u32,
    children: &BTreeMap<u32, Vec<u32>>,
    strands: &[Vec<u32>],
    text: &mut String,
) {
    for &strand in &strands[task as usize] {
        let waits_for_tasks = |wait: &usize| {
            let mut tasks = dag.waits.tasks.get(*wait).iter();
            tasks.len() == 0 || tasks.any(|&task| !is_outermost(dag, task))
        };
        if let Some(wait) = dag.waits.index_of(strand).filter(waits_for_tasks) {
            match dag.waits.signals.get(wait).len() {
                0 => text.push_str(&format!("w{}", dag.waits.tasks.get(wait).len())),
                _ => text.push('s'),
            }
        }
        let list = children.get(&strand).map_or(&[][..], |list| list);
        for &child in list.iter().filter(|&&child| !is_outermost(dag, child)) {
            text.push_str(match dag.tasks.kind[child as usize] {
                TaskKind::Deferred => "D(",
                TaskKind::Inline => "I(",
                TaskKind::Detached => "X(",
                TaskKind::Root => "R(",
            });
            write(dag, child, children, strands, text);
            text.push(')');
        }
    }
}

/// The number of tasks of a kind.
pub fn count(dag: &Dag, kind: TaskKind) -> usize {
    dag.tasks.kind.iter().filter(|&&k| k == kind).count()
}

/// Checks that each task begins and ends once, that no edge goes back in time, that nothing had to
/// be repaired, that a thread that runs a task is a worker or has a root, and that the breakdown is
/// complete.
pub fn check(dag: &Dag, what: &str) {
    let repaired: Vec<_> = dag
        .meta
        .warnings
        .iter()
        .filter(|warning| !warning.starts_with("Sites have no source lines"))
        .collect();
    assert!(repaired.is_empty(), "{what}: {repaired:?}");
    let of_roots: BTreeSet<u32> = (0..dag.strands.len())
        .filter(|&s| is_outermost(dag, dag.strands.task[s]))
        .map(|s| dag.strands.thread[s])
        .collect();
    let mut ends = vec![0; dag.tasks.len()];
    let mut begins = vec![0; dag.tasks.len()];
    for strand in 0..dag.strands.len() as u32 {
        let s = strand as usize;
        let task = dag.strands.task[s] as usize;
        assert!(
            dag.strands.thread[s] < dag.meta.workers || of_roots.contains(&dag.strands.thread[s]),
            "{what}: thread {} runs a task, and is no worker",
            dag.strands.thread[s],
        );
        begins[task] += usize::from(dag.strands.prev[s] == NONE);
        ends[task] += usize::from(dag.strands.end_kind[s] == EndKind::End);
        dag.for_each_predecessor(strand, |before, kind| {
            assert!(
                dag.strands.end[before as usize] <= dag.strands.start[s],
                "{what}: the {kind:?} edge to strand {strand} goes back in time"
            );
            if kind == EdgeKind::Create {
                assert_ne!(dag.strands.task[before as usize] as usize, task, "{what}");
            }
        });
    }
    assert!(begins.iter().all(|&n| n == 1), "{what}: begins {begins:?}");
    assert!(ends.iter().all(|&n| n == 1), "{what}: ends {ends:?}");
    // Strands on one thread follow each other.
    let mut free: BTreeMap<u32, u64> = BTreeMap::new();
    let mut order: Vec<usize> = (0..dag.strands.len()).collect();
    order.sort_by_key(|&s| {
        (
            dag.strands.thread[s],
            dag.strands.start[s],
            dag.strands.end[s],
        )
    });
    for s in order {
        let free = free.entry(dag.strands.thread[s]).or_default();
        assert!(*free <= dag.strands.start[s], "{what}: strands overlap");
        *free = dag.strands.end[s];
    }
    let report = workspan_analysis::report(dag, &workspan_analysis::Options::default()).unwrap();
    let b = &report.breakdown;
    assert_eq!(
        b.work
            + b.descheduled
            + b.blocked
            + b.recording
            + b.delay
            + b.no_work_sched
            + b.no_work_app,
        u128::from(b.end - b.begin) * u128::from(b.workers),
        "{what}"
    );
}
