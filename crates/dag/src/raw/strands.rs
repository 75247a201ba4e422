//! The strands of a run as read, in columns: there are tens of millions of them.

use crate::raw::{RawEnd, RawStrand};

/// Strands as read, those of one task in program order. All columns have one length; the builder
/// takes them over as they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawStrands {
    /// See [`RawStrand::task`].
    pub task: Vec<u32>,
    /// See [`RawStrand::thread`].
    pub thread: Vec<u32>,
    /// See [`RawStrand::start`].
    pub start: Vec<u64>,
    /// See [`RawStrand::end`].
    pub end: Vec<u64>,
    /// See [`RawStrand::end_op`].
    pub end_op: Vec<RawEnd>,
    /// See [`RawStrand::at`].
    pub at: Vec<u32>,
    /// One bit per strand, see [`RawStrand::keep`]; bits beyond the end are 0.
    keep: Vec<u64>,
}

impl RawStrands {
    /// Number of strands.
    pub fn len(&self) -> usize {
        self.task.len()
    }

    /// True if there are no strands.
    pub fn is_empty(&self) -> bool {
        self.task.is_empty()
    }

    /// Makes room for exactly `more` more strands.
    pub fn reserve_exact(&mut self, more: usize) {
        self.task.reserve_exact(more);
        self.thread.reserve_exact(more);
        self.start.reserve_exact(more);
        self.end.reserve_exact(more);
        self.end_op.reserve_exact(more);
        self.at.reserve_exact(more);
    }

    /// Appends a strand.
    #[inline]
    pub fn push(&mut self, strand: RawStrand) {
        if strand.keep {
            self.keep(self.len());
        }
        self.task.push(strand.task);
        self.thread.push(strand.thread);
        self.start.push(strand.start);
        self.end.push(strand.end);
        self.end_op.push(strand.end_op);
        self.at.push(strand.at);
    }

    /// Strand `i`.
    ///
    /// # Panics
    /// If there is no such strand.
    pub fn get(&self, i: usize) -> RawStrand {
        RawStrand {
            task: self.task[i],
            thread: self.thread[i],
            start: self.start[i],
            end: self.end[i],
            end_op: self.end_op[i],
            at: self.at[i],
            keep: self.is_kept(i),
        }
    }

    /// All strands, in order.
    pub fn iter(&self) -> impl Iterator<Item = RawStrand> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Sets that strand `i` must stay a strand of its own.
    pub fn keep(&mut self, i: usize) {
        if self.keep.len() <= i / 64 {
            self.keep.resize(i / 64 + 1, 0);
        }
        self.keep[i / 64] |= 1 << (i % 64);
    }

    /// True if strand `i` must stay a strand of its own.
    #[inline]
    pub fn is_kept(&self, i: usize) -> bool {
        self.keep
            .get(i / 64)
            .is_some_and(|word| word >> (i % 64) & 1 != 0)
    }
}

impl Extend<RawStrand> for RawStrands {
    fn extend<I: IntoIterator<Item = RawStrand>>(&mut self, strands: I) {
        strands.into_iter().for_each(|strand| self.push(strand));
    }
}

impl FromIterator<RawStrand> for RawStrands {
    fn from_iter<I: IntoIterator<Item = RawStrand>>(strands: I) -> RawStrands {
        let mut all = RawStrands::default();
        all.extend(strands);
        all
    }
}
