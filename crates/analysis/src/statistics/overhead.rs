//! Tasking overhead as measured in the run: the time that threads took from one strand to the next,
//! by spawn site (MODEL.md §3).

use std::collections::BTreeMap;

use workspan_dag::{Dag, EndKind, NONE, PlaceId, ROOT_PLACE, StrandId};

use crate::off_cpu::off_between;
use crate::predecessors::Forward;
use crate::ready::ready_event_in_order;
use crate::runtime_gaps::runtime_gaps;

/// Time that the runtime took for the tasks of a spawn site, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SiteOverhead {
    /// The site; [`ROOT_PLACE`] for roots.
    pub site: PlaceId,
    /// Time for creating its tasks: from the strand that creates one to the thread's next strand.
    pub create: u64,
    /// Time for its tasks' waits and stops: until the thread runs a strand that was ready then.
    pub wait: u64,
    /// Time for the ends of its tasks: until the thread runs a strand that was ready then, such as
    /// the task that waited for them.
    pub end: u64,
    /// Time between the strands inside folded ones, most of whose tasks belong to this site.
    pub folded: u64,
    /// Number of transitions from one strand to the next, without folded ones.
    pub steps: u64,
}

impl SiteOverhead {
    /// The total, in ticks.
    pub fn ticks(&self) -> u64 {
        self.create + self.wait + self.end + self.folded
    }
}

/// Overhead by site, most first; sites without any are left out. O(n log n).
pub fn overhead(dag: &Dag) -> Vec<SiteOverhead> {
    let (strands, tasks) = (&dag.strands, &dag.tasks);
    let mut child_site = vec![NONE; strands.len()];
    for task in 0..tasks.len() {
        if let Some(site) = child_site.get_mut(tasks.creator[task] as usize)
            && *site == NONE
        {
            *site = tasks.site[task];
        }
    }
    let mut sites: BTreeMap<PlaceId, SiteOverhead> = BTreeMap::new();
    let mut last: Vec<StrandId> = vec![NONE; dag.meta.threads as usize];
    let mut forward = Forward::new(dag);
    for s in 0..strands.len() as StrandId {
        let i = s as usize;
        let ready = ready_event_in_order(dag, &mut forward, s);
        let thread = strands.thread[i] as usize;
        let before = std::mem::replace(&mut last[thread], s);
        let Some(ready) = ready.filter(|_| before != NONE) else {
            continue;
        };
        let b = before as usize;
        let (from, to) = (strands.end[b], strands.start[i]);
        // Only strands that the thread itself had ready at once count: all other time is a search,
        // a steal or a wait.
        let is_own = strands.thread[ready.by as usize] as usize == thread;
        if !is_own || ready.at > from || from >= to {
            continue;
        }
        let off = off_between(dag, s, from, to);
        let ticks = (to - from).saturating_sub(off.descheduled + off.blocked);
        let own = tasks.site[strands.task[b] as usize];
        let site = match strands.end_kind[b] {
            EndKind::Create if child_site[b] != NONE => child_site[b],
            _ => own,
        };
        let row = sites.entry(site).or_default();
        row.steps += 1;
        match strands.end_kind[b] {
            EndKind::Create => row.create += ticks,
            EndKind::End => row.end += ticks,
            _ => row.wait += ticks,
        }
    }
    for gap in runtime_gaps(dag) {
        let site = if gap.site == NONE {
            ROOT_PLACE
        } else {
            gap.site
        };
        sites.entry(site).or_default().folded += gap.ticks;
    }
    let rows = sites
        .into_iter()
        .map(|(site, row)| SiteOverhead { site, ..row });
    let mut rows: Vec<SiteOverhead> = rows.filter(|row| row.ticks() > 0).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.ticks()), row.site));
    rows
}
