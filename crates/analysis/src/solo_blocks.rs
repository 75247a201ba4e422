//! The code that ran alone: the time in which exactly one strand ran, by code block.
//!
//! The longest intervals of low parallelism show a single serial stretch; a loop of a thousand
//! short ones shows only here. While one strand runs, W − 1 workers are lost.

use workspan_dag::{Dag, StrandId};

use crate::blocks::{BlockTable, CodeBlock};
use crate::sweep::{Moment, Observer};

/// A code block whose strands ran alone.
#[derive(Debug, Clone, PartialEq)]
pub struct SoloBlock {
    /// The block.
    pub block: CodeBlock,
    /// Number of strands that ran alone for some time.
    pub count: u64,
    /// Ticks in which one of them was the only strand running.
    pub ticks: u64,
    /// Free worker-ticks meanwhile: (W − 1) · `ticks`.
    pub lost: u128,
    /// `lost` in percent of all worker-ticks that were not work.
    pub lost_percent: f64,
    /// The strand that ran alone longest, and how long.
    pub longest: (StrandId, u64),
}

/// Maximum number of rows.
const MAX_ROWS: usize = 10;

/// Collects the rows in a sweep.
pub(crate) struct SoloBlockFinder<'a> {
    dag: &'a Dag,
    /// By thread: the strand that it runs, and the ticks for which it ran alone.
    running: Vec<(StrandId, u64)>,
    table: BlockTable<BlockSum>,
}

#[derive(Debug, Clone, Copy, Default)]
struct BlockSum {
    count: u64,
    ticks: u64,
    longest: (StrandId, u64),
}

impl<'a> SoloBlockFinder<'a> {
    pub(crate) fn new(dag: &'a Dag) -> SoloBlockFinder<'a> {
        SoloBlockFinder {
            dag,
            running: vec![(0, 0); dag.meta.threads as usize],
            table: BlockTable::new(),
        }
    }

    /// The rows, in descending order of ticks, at most 10. `lost` is everything that was not work.
    pub(crate) fn finish(self, lost: u128) -> Vec<SoloBlock> {
        let mut order: Vec<(&CodeBlock, &BlockSum)> = self.table.iter().collect();
        order.sort_by(|(k, a), (l, b)| {
            let most = b.ticks.cmp(&a.ticks);
            most.then_with(|| k.order(self.dag).cmp(&l.order(self.dag)))
        });
        let others = u128::from(self.dag.meta.workers.max(1) - 1);
        let row = |(key, sum): (&CodeBlock, &BlockSum)| {
            let free = others * u128::from(sum.ticks);
            SoloBlock {
                block: *key,
                count: sum.count,
                ticks: sum.ticks,
                lost: free,
                lost_percent: if lost > 0 {
                    100.0 * free as f64 / lost as f64
                } else {
                    0.0
                },
                longest: sum.longest,
            }
        };
        order.into_iter().take(MAX_ROWS).map(row).collect()
    }
}

impl Observer for SoloBlockFinder<'_> {
    fn start(&mut self, strand: StrandId, thread: usize) {
        self.running[thread] = (strand, 0);
    }

    fn end(&mut self, strand: StrandId, thread: usize, _: u64) {
        let (_, alone) = std::mem::take(&mut self.running[thread]);
        if alone == 0 {
            return;
        }
        let sum = self.table.entry(CodeBlock::from_strand(self.dag, strand));
        sum.count += 1;
        sum.ticks += alone;
        if alone > sum.longest.1 {
            sum.longest = (strand, alone);
        }
    }

    fn moment(&mut self, moment: &Moment) {
        // Where records are missing, others may have run.
        if moment.running() == 1 && !moment.is_unread {
            self.running[moment.only_thread].1 += moment.ticks();
        }
    }
}
