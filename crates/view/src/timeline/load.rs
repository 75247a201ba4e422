//! The load of each thread's CPU if no runtime reported it: all time except the times off the CPU,
//! which are also known for threads that wait for work.

use workspan_dag::{Dag, ThreadId};

use crate::run::RunModel;
use crate::run::rows::NO_ROW;

/// Whether the load of threads can be computed from the run's times off the CPU.
pub(super) fn follows(dag: &Dag) -> bool {
    dag.meta.recorded && !dag.offs.is_empty()
}

/// For each row, the loads, each with the time at which it ends. A load is the mean since the
/// previous entry. A thread has no load before its first record or after its last.
pub(super) fn of(model: &RunModel) -> Vec<Vec<(u64, f32)>> {
    let dag = &*model.dag;
    let mut lives: Vec<Option<(u64, u64)>> = vec![None; model.rows.len()];
    let mut seen = |thread: ThreadId, from: u64, to: u64| {
        if let Some(life) = lives.get_mut(usize::from(model.rows.of(thread))) {
            let (begin, end) = life.unwrap_or((from, to));
            *life = Some((begin.min(from), end.max(to)));
        }
    };
    for (s, &thread) in dag.strands.thread.iter().enumerate() {
        seen(thread, dag.strands.start[s], dag.strands.end[s]);
    }
    for off in &dag.offs {
        seen(off.thread, off.start, off.end);
    }
    let begin = |life: &Option<(u64, u64)>| {
        life.map_or_else(Vec::new, |l| vec![(l.0.max(model.begin), 0.0)])
    };
    let mut rows: Vec<Vec<(u64, f32)>> = lives.iter().map(begin).collect();
    for off in &dag.offs {
        let row = model.rows.of(off.thread);
        if row != NO_ROW {
            let row = &mut rows[usize::from(row)];
            row.push((off.start.max(model.begin), 1.0));
            row.push((off.end.max(model.begin), 0.0));
        }
    }
    for (row, life) in rows.iter_mut().zip(&lives) {
        row.extend(life.map(|life| (life.1.max(model.begin), 1.0)));
    }
    rows
}
