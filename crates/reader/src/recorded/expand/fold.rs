//! A subtree inside of a folded strand that was folded before, while the program was recorded.

use workspan_trace::folded::FoldedRecord;

/// The sums of a subtree without any other data in the trace, in ticks of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpandedFold {
    /// The number of tasks created inside.
    pub tasks: u64,
    /// The number of strands that it stands for.
    pub strands: u64,
    /// The sum of their weights, including probes (MODEL.md §2).
    pub work: u64,
    /// The weight of the heaviest path through them, including probes.
    pub span: u64,
}

impl ExpandedFold {
    /// Decodes the bytes of a record; `None` if they are not one.
    pub(super) fn decode(bytes: &[u8]) -> Option<ExpandedFold> {
        let record = FoldedRecord::decode(bytes)?;
        Some(ExpandedFold {
            tasks: record.tasks,
            strands: record.strands,
            work: record.work,
            span: record.span,
        })
    }

    /// The same subtree without the recorder's probes, which take `ticks` per strand. All weights
    /// are scaled in proportion (MODEL.md §7).
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
