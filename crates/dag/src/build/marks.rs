//! Regions and parts, and the strands that raw strands went into.

use super::Repairs;
use super::strands::{Strands, TaskColumns};
use super::tasks::Tasks;
use crate::dag::{NONE, Region};
use crate::raw::{RawRegion, RawTrace};

/// Labels in use, sorted, and the new index of each old one.
pub(super) fn label_table(raw: &RawTrace) -> (Vec<String>, Vec<u32>) {
    let mut used: Vec<u32> = raw
        .regions
        .iter()
        .chain(&raw.parts)
        .map(|r| r.label)
        .collect();
    used.sort_unstable();
    used.dedup();
    let mut labels: Vec<String> = used
        .iter()
        .map(|&l| raw.labels[l as usize].clone())
        .collect();
    labels.sort_unstable();
    labels.dedup();
    let ids = raw
        .labels
        .iter()
        .map(|l| labels.binary_search(l).map_or(NONE, |i| i as u32))
        .collect();
    (labels, ids)
}

/// Maps raw strands to final ones.
pub(super) struct StrandMap<'a> {
    pub strands: &'a Strands,
    pub columns: &'a TaskColumns,
    pub rank: &'a [u32],
}

impl StrandMap<'_> {
    /// The unsorted strand that a raw strand of `task` went into, and its create count; the task's
    /// first strand if there is no such raw strand.
    pub(super) fn unsorted(&self, raw: u32, task: u32) -> (u32, u32) {
        match self.strands.of_raw(raw) {
            Some((s, creates)) if self.strands.task[s as usize] == task => (s, creates),
            _ => (self.columns.first[task as usize], 0),
        }
    }

    pub(super) fn regions(
        &self,
        raw_regions: &[RawRegion],
        tasks: &Tasks,
        labels: &[u32],
        repairs: &mut Repairs,
    ) -> Vec<Region> {
        let mut out = Vec::with_capacity(raw_regions.len());
        // Creates at each strand's end that came before what ended it; only for regions left open.
        let mut creates = Vec::new();
        if raw_regions.iter().any(|r| r.end.0 == NONE) {
            creates = self.strands.creates_before_end();
        }
        for r in raw_regions {
            let task = tasks.id(r.task);
            let inside = |s: u32, creates: u32, t: u64| {
                let (start, end) = (self.strands.start[s as usize], self.strands.end[s as usize]);
                if creates > 0 {
                    end
                } else {
                    t.clamp(start, end)
                }
            };
            let (b, begin_creates_before) = self.unsorted(r.begin.0, task);
            let begin_t = inside(b, begin_creates_before, r.begin.1);
            let (mut e, mut end_creates_before, mut end_t);
            if r.end.0 == NONE {
                e = self.columns.last[task as usize];
                end_creates_before = creates[e as usize];
                end_t = self.strands.end[e as usize];
            } else {
                (e, end_creates_before) = self.unsorted(r.end.0, task);
                end_t = inside(e, end_creates_before, r.end.1);
            }
            if (e, end_creates_before, end_t) < (b, begin_creates_before, begin_t) {
                repairs.note("Regions that closed before they opened, emptied");
                (e, end_creates_before, end_t) = (b, begin_creates_before, begin_t);
            }
            let region = Region {
                label: labels[r.label as usize],
                task,
                tree: r.tree,
                begin: (self.rank[b as usize], begin_t),
                end: (self.rank[e as usize], end_t),
                begin_creates_before,
                end_creates_before,
            };
            out.push(((task, b, begin_creates_before, begin_t), region));
        }
        out.sort_by_key(|r| r.0);
        out.into_iter().map(|r| r.1).collect()
    }
}
