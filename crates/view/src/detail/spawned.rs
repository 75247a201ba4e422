//! `spawned`: the tasks that a row spawned in a bin of time, and the number spawned before.

use std::collections::BTreeMap;

use serde::Serialize;
use workspan_dag::{NONE, TaskKind};

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::Run;

/// Maximum number of sites given one by one: those with most tasks.
const MAX_SITES: usize = 6;

/// The contract's `Spawned`.
#[derive(Serialize)]
struct Spawned {
    before: u64,
    total: u64,
    sites: Vec<(u16, u64)>,
    more_sites: usize,
}

/// `spawned`: the tasks created on a row in the `bin`-th stretch of 2^`level` ticks, by spawn site,
/// and the number of deferred tasks that the row had created before. O(n).
///
/// # Errors
/// The row does not exist, or the run is loading.
pub(crate) fn spawned(run: &Run, row: u64, level: u64, bin: u64) -> Result<Reply, ApiError> {
    let model = run.model()?;
    let dag = &*model.dag;
    let thread = model.rows.threads.get(row as usize);
    let &thread = thread.ok_or_else(|| ApiError::not_found("There is no such row."))?;
    let level = u32::try_from(level).unwrap_or(u32::MAX).min(63);
    let from = bin.saturating_mul(1 << level);
    let from = model.begin.saturating_add(from);
    let to = from.saturating_add(1 << level);
    let mut sites: BTreeMap<u16, u64> = BTreeMap::new();
    let (mut before, mut total) = (0, 0);
    for task in 0..dag.tasks.len() {
        let creator = dag.tasks.creator[task];
        if creator == NONE || dag.strands.thread[creator as usize] != thread {
            continue;
        }
        let t = dag.strands.end[creator as usize];
        if t < from {
            before += u64::from(dag.tasks.kind[task] == TaskKind::Deferred);
        } else if t < to {
            total += 1;
            let site = model.sites.of(dag.tasks.site[task]);
            *sites.entry(site).or_default() += 1;
        }
    }
    for (strand, sums) in dag.folded.sums() {
        let (thread_of, end) = (&dag.strands.thread, &dag.strands.end);
        if thread_of[strand as usize] == thread && end[strand as usize] < from {
            before += sums.spawns;
        }
    }
    let mut sites: Vec<(u16, u64)> = sites.into_iter().collect();
    sites.sort_by_key(|&(site, count)| (std::cmp::Reverse(count), site));
    let more_sites = sites.len().saturating_sub(MAX_SITES);
    sites.truncate(MAX_SITES);
    Reply::json(&Spawned {
        before,
        total,
        sites,
        more_sites,
    })
}
