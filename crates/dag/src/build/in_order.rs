//! Columns that a reader has put in order by itself: joins alone, in a run that does not contradict
//! itself.

use std::collections::BTreeMap;

use super::indices::{clamp_threads, highest_thread};
use super::{MAX_THREADS, Mode, Repairs, columns};
use crate::dag::{Dag, Scope, Strands, Tasks, Waits};
use crate::meta::Steals;
use crate::raw::RawTrace;

/// The columns, all as in the [`Dag`], but that nothing is known of the places where strands
/// started.
#[derive(Debug, Default)]
pub struct InOrder {
    /// Tasks.
    pub tasks: Tasks,
    /// Strands.
    pub strands: Strands,
    /// Scopes.
    pub scopes: Vec<Scope>,
    /// Waits.
    pub waits: Waits,
}

impl InOrder {
    /// Empty columns with room for exactly this many tasks, strands and joins.
    pub fn with_capacity(tasks: usize, strands: usize, joins: usize) -> InOrder {
        let mut columns = InOrder::default();
        columns.tasks.reserve_exact(tasks);
        columns.strands.reserve_exact(strands);
        columns.scopes.reserve_exact(joins);
        let waits = &mut columns.waits;
        waits.after.reserve_exact(joins);
        waits.scope.reserve_exact(joins);
        waits.plain.reserve_exact(joins);
        waits.tasks.items.reserve_exact(2 * joins);
        waits.tasks.offsets.reserve_exact(joins + 1);
        waits.tasks.offsets.push(0);
        columns
    }
}

/// The [`Dag`] of these columns and of all else that `raw` has, which is left without it; `None`
/// where that needs [`super::build`], and `raw` is as it was: where thieves take continuations, and
/// with thread numbers out of range.
pub fn dag(columns: InOrder, raw: &mut RawTrace) -> Option<Dag> {
    let highest = columns.strands.thread.iter().copied().max();
    let highest = highest.max(highest_thread(raw));
    if raw.meta.steals == Steals::Continuation || highest.is_some_and(|t| t >= MAX_THREADS) {
        return None;
    }
    let used = highest.map_or(0, |t| t + 1).max(raw.meta.workers);
    clamp_threads(raw, used);
    let mut repairs = Repairs {
        mode: Mode::Repair,
        counts: BTreeMap::new(),
    };
    let mut dag = Dag {
        tasks: columns.tasks,
        strands: columns.strands,
        scopes: columns.scopes,
        waits: columns.waits,
        ..Dag::default()
    };
    if dag.waits.after.is_empty() {
        dag.waits = Waits::default();
    }
    columns::thread_columns(&mut dag, raw, &mut repairs);
    columns::rest(&mut dag, raw);
    dag.meta.warnings.extend(repairs.sentences());
    Some(dag)
}
