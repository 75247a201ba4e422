//! Lost worker-ticks by cause and code block.

use workspan_dag::{Dag, NONE, StrandId};

use super::{Cause, Evidence, Finding};
use crate::blocks::{BlockTable, CodeBlock};

/// Maximum number of places reported for a run.
pub(super) const MAX_PLACES: usize = 20;

/// A cause and its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    pub cause: Cause,
    pub block: CodeBlock,
    /// See [`Evidence::tasks`].
    pub tasks: Option<u64>,
}

impl Entry {
    pub(super) fn new(cause: Cause, block: CodeBlock) -> Entry {
        Entry {
            cause,
            block,
            tasks: None,
        }
    }
}

/// The loss of one cause at one place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    pub(super) lost: u128,
    pub(super) strands: u64,
    pub(super) ticks: u64,
    pub(super) longest: u64,
    pub(super) alone: u64,
    pub(super) tasks: Option<u64>,
    pub(super) probes: u128,
    /// The [weighted](super::undisturbed::Undisturbed) part of `ticks`, of blocked time.
    pub(super) undisturbed: f64,
    /// The strand that `longest` belongs to.
    pub(super) strand: StrandId,
}

impl Default for Group {
    fn default() -> Group {
        Group {
            lost: 0,
            strands: 0,
            ticks: 0,
            longest: 0,
            alone: 0,
            tasks: None,
            probes: 0,
            undisturbed: 0.0,
            strand: NONE,
        }
    }
}

/// Groups by cause and place.
pub(crate) struct Book {
    causes: [BlockTable<Group>; Cause::ALL.len()],
}

impl Book {
    pub(crate) fn new() -> Book {
        Book {
            causes: Cause::ALL.map(|_| BlockTable::new()),
        }
    }

    pub(super) fn group(&mut self, cause: Cause, block: CodeBlock) -> &mut Group {
        self.causes[cause as usize].entry(block)
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        self.causes.iter().flat_map(|table| &table.values)
    }

    fn groups_mut(&mut self) -> impl Iterator<Item = &mut Group> {
        self.causes.iter_mut().flat_map(|table| &mut table.values)
    }

    /// Adds `lost` worker-ticks in addition to the strand's own off-CPU time, which already counts
    /// the strand.
    pub(super) fn add_without_strand(
        &mut self,
        cause: Cause,
        block: CodeBlock,
        lost: u128,
        strand: StrandId,
    ) {
        let group = self.group(cause, block);
        group.lost += lost;
        if group.strand == NONE {
            group.strand = strand;
        }
    }

    /// Adds `lost` worker-ticks that `strand` caused during `ticks`.
    pub(super) fn add(
        &mut self,
        cause: Cause,
        block: CodeBlock,
        lost: u128,
        strand: StrandId,
        ticks: u64,
    ) -> &mut Group {
        let group = self.group(cause, block);
        group.lost += lost;
        group.strands += 1;
        group.ticks = group.ticks.saturating_add(ticks);
        if group.strand == NONE || ticks > group.longest {
            (group.longest, group.strand) = (ticks, strand);
        }
        group
    }

    pub(super) fn sum(&self) -> u128 {
        self.groups().map(|g| g.lost).sum()
    }

    /// Scales all groups down so that their sum is `target`. The remainder of rounding goes to the
    /// largest.
    pub(super) fn shrink(&mut self, target: u128) {
        let sum = self.sum();
        if sum == target {
            return;
        }
        let share = target as f64 / sum as f64;
        let mut left = target;
        for group in self.groups_mut() {
            group.lost = ((group.lost as f64 * share) as u128).min(left);
            left -= group.lost;
        }
        let groups = self.groups_mut();
        if let Some(largest) = groups.reduce(|a, b| if b.lost > a.lost { b } else { a }) {
            largest.lost += left;
        }
    }

    /// Marks everything in the book as lost to probes.
    pub(super) fn mark_as_probes(&mut self) {
        for group in self.groups_mut() {
            group.probes = group.lost;
        }
    }

    /// Adds all groups of `other`.
    pub(super) fn add_all(&mut self, other: Book) {
        for (cause, table) in Cause::ALL.into_iter().zip(&other.causes) {
            for (&block, group) in table.iter() {
                let own = self.group(cause, block);
                own.lost += group.lost;
                own.strands += group.strands;
                own.ticks = own.ticks.saturating_add(group.ticks);
                own.alone += group.alone;
                own.probes += group.probes;
                own.undisturbed += group.undisturbed;
                own.tasks = own.tasks.max(group.tasks);
                if own.strand == NONE || group.longest > own.longest {
                    own.longest = group.longest;
                    own.strand = group.strand;
                }
            }
        }
    }

    pub(super) fn by_cause(&self) -> [u128; Cause::ALL.len()] {
        let sum = |cause: Cause| {
            self.causes[cause as usize]
                .values
                .iter()
                .map(|g| g.lost)
                .sum()
        };
        Cause::ALL.map(sum)
    }

    /// The places in descending order of loss, at most [`MAX_PLACES`]. `evidence` completes the
    /// numbers of a group.
    pub(super) fn places(
        &self,
        dag: &Dag,
        evidence: impl Fn(&Finding, Evidence) -> Evidence,
    ) -> Vec<Finding> {
        let mut found: Vec<(Cause, &CodeBlock, &Group)> = Vec::new();
        for (cause, table) in Cause::ALL.into_iter().zip(&self.causes) {
            if cause != Cause::None {
                let groups = table.iter().filter(|(_, g)| g.lost > 0);
                found.extend(groups.map(|(key, group)| (cause, key, group)));
            }
        }
        found.sort_by(|a, b| {
            let most = b.2.lost.cmp(&a.2.lost).then(a.0.cmp(&b.0));
            most.then_with(|| a.1.order(dag).cmp(&b.1.order(dag)))
        });
        found.truncate(MAX_PLACES);
        let finding = |(cause, key, group): (Cause, &CodeBlock, &Group)| {
            let plain = Evidence {
                strands: group.strands,
                ticks: group.ticks,
                longest: group.longest,
                alone: (group.alone > 0).then_some(group.alone),
                tasks: group.tasks,
                probe_ticks: match (cause, u64::try_from(group.probes)) {
                    (Cause::GrainFine, Ok(ticks)) if ticks > 0 => Some(ticks),
                    _ => None,
                },
                ..Evidence::default()
            };
            let mut finding = Finding {
                cause,
                block: *key,
                strand: group.strand,
                lost: group.lost,
                undisturbed: if cause.is_blocked() {
                    group.undisturbed
                } else {
                    0.0
                },
                evidence: plain,
            };
            finding.evidence = evidence(&finding, plain);
            finding
        };
        found.into_iter().map(finding).collect()
    }
}
