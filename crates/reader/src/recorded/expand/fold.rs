//! What stands inside of a folded strand for a subtree that was folded before, while the program
//! was recorded.

use workspan_trace::folded::FoldedRecord;

/// Sums of a subtree of which nothing more is in the trace, in ticks of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpandedFold {
    /// Tasks created inside.
    pub tasks: u64,
    /// Strands that the one in their place stands for.
    pub strands: u64,
    /// Sum of their weights, probes included (MODEL.md §2).
    pub work: u64,
    /// The heaviest path through them, probes included.
    pub span: u64,
}

impl ExpandedFold {
    /// Of the bytes of a record; `None` when they are none.
    pub(super) fn decode(bytes: &[u8]) -> Option<ExpandedFold> {
        let record = FoldedRecord::decode(bytes)?;
        Some(ExpandedFold {
            tasks: record.tasks,
            strands: record.strands,
            work: record.work,
            span: record.span,
        })
    }

    /// The same without the recorder's probes, `ticks` a strand: all weights are scaled alike
    /// (MODEL.md §7).
    pub fn without_probes(self, ticks: u64) -> ExpandedFold {
        let probes = ticks.saturating_mul(self.strands.max(1)).min(self.work);
        let work = self.work - probes;
        let scaled = (u128::from(self.span) * u128::from(work)).checked_div(self.work.into());
        ExpandedFold {
            work,
            // Less than the span was.
            span: scaled.unwrap_or(0) as u64,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_taken_out_in_proportion() {
        let fold = ExpandedFold {
            tasks: 2,
            strands: 5,
            work: 1000,
            span: 600,
        };
        let weights = |ticks| {
            let left = fold.without_probes(ticks);
            (left.work, left.span)
        };
        assert_eq!(weights(0), (1000, 600));
        assert_eq!(weights(20), (900, 540));
        assert_eq!(weights(u64::MAX), (0, 0));
    }
}
