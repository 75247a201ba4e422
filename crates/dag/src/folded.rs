//! The folded records (MODEL.md §7) of a run: subtrees that ran on one thread, each reduced to what
//! the measures need.
//!
//! A record has the form that it has in the file. In a [`crate::Dag`] its sites are places,
//! ascending; an unknown place in its blocks is [`crate::NONE`].

use crate::dag::StrandId;
pub use workspan_trace::folded::{FoldedRecord as Folded, FoldedSite, Paths, Sums};

/// Records by strand, each in the bytes that it has in a file: some 70, whereas decoded lists would
/// take 600. A record is decoded on demand, which takes a fraction of a microsecond. Whether a
/// strand has a record is known without decoding.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Folds {
    strands: Vec<StrandId>,
    /// End of each record's bytes.
    ends: Vec<u64>,
    bytes: Vec<u8>,
}

impl Folds {
    /// Number of records.
    pub fn len(&self) -> usize {
        self.strands.len()
    }

    /// True if there are no records.
    pub fn is_empty(&self) -> bool {
        self.strands.is_empty()
    }

    /// The strands that have a record; ascending in a [`crate::Dag`].
    pub fn strands(&self) -> &[StrandId] {
        &self.strands
    }

    /// Appends a record. It has at most 8 points and lengths below 2^64, as all records do.
    pub fn push(&mut self, strand: StrandId, record: &Folded) {
        record.encode(&mut self.bytes);
        self.strands.push(strand);
        self.ends.push(self.bytes.len() as u64);
    }

    /// The `i`-th record.
    ///
    /// # Panics
    /// If there is no such record.
    pub fn get(&self, i: usize) -> Folded {
        // The bytes were written by `push`, so they can be read.
        Folded::decode(self.bytes_of(i)).unwrap_or_default()
    }

    fn bytes_of(&self, i: usize) -> &[u8] {
        let from = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[from as usize..self.ends[i] as usize]
    }

    /// True if `f` is true for all records, in order. Each record is read into the memory of the
    /// previous one.
    pub fn all(&self, mut f: impl FnMut(StrandId, &Folded) -> bool) -> bool {
        let mut record = Folded::default();
        (0..self.len()).all(|i| {
            let read = record.read(self.bytes_of(i)).is_some();
            read && f(self.strands[i], &record)
        })
    }

    /// All records with their strands, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (StrandId, Folded)> + '_ {
        (0..self.len()).map(|i| (self.strands[i], self.get(i)))
    }

    /// The sums of each record, in order, without decoding the rest and without allocating.
    pub fn sums(&self) -> impl DoubleEndedIterator<Item = (StrandId, Sums)> + '_ {
        let sums = |i| Sums::decode(self.bytes_of(i)).unwrap_or_default();
        (0..self.len()).map(move |i| (self.strands[i], sums(i)))
    }

    /// The records of ascending strands, for a pass over all strands.
    pub fn cursor(&self) -> FoldCursor<'_> {
        FoldCursor {
            folds: self,
            next: 0,
            record: Folded::default(),
        }
    }

    /// The record of a strand. The strands must be ascending.
    pub fn record(&self, strand: StrandId) -> Option<Folded> {
        Some(self.get(self.strands.binary_search(&strand).ok()?))
    }

    /// The paths of a strand's record, without decoding the rest. The strands must be ascending.
    pub fn paths_of(&self, strand: StrandId) -> Option<Paths> {
        let i = self.strands.binary_search(&strand).ok()?;
        Some(Paths::decode(self.bytes_of(i)).unwrap_or_default())
    }

    /// Whether a strand has a record. The strands must be ascending.
    pub fn has(&self, strand: StrandId) -> bool {
        self.strands.binary_search(&strand).is_ok()
    }

    /// Gives every strand the number that `place` assigns to it.
    pub(crate) fn renumber(&mut self, place: impl FnMut(&mut StrandId)) {
        self.strands.iter_mut().for_each(place);
    }

    /// The same records under the numbers that `place` returns for their strands, ascending. Keeps
    /// the first record of each strand, and drops records of strands without a number.
    pub(crate) fn sorted(self, place: impl Fn(StrandId) -> Option<StrandId>) -> Folds {
        let all = (0..).zip(&self.strands);
        let placed = all.filter_map(|(i, &s)| Some((place(s)?, i)));
        let mut order: Vec<(StrandId, usize)> = placed.collect();
        order.sort_unstable();
        order.dedup_by_key(|o| o.0);
        let mut sorted = Folds {
            strands: Vec::with_capacity(order.len()),
            ends: Vec::with_capacity(order.len()),
            bytes: Vec::with_capacity(self.bytes.len()),
        };
        for (strand, i) in order {
            sorted.bytes.extend_from_slice(self.bytes_of(i));
            sorted.strands.push(strand);
            sorted.ends.push(sorted.bytes.len() as u64);
        }
        sorted
    }
}

/// The records of strands that are queried in ascending order, each without a search. Made by
/// [`Folds::cursor`].
#[derive(Debug, Clone)]
pub struct FoldCursor<'a> {
    folds: &'a Folds,
    next: usize,
    /// The record returned last; the next one is read into its memory.
    record: Folded,
}

impl FoldCursor<'_> {
    /// The record of `strand`. Queries must be in ascending order.
    #[inline]
    pub fn record(&mut self, strand: StrandId) -> Option<&Folded> {
        if !self.has(strand) {
            return None;
        }
        // The bytes were written by `push`, so they can be read.
        if self.record.read(self.folds.bytes_of(self.next)).is_none() {
            self.record = Folded::default();
        }
        Some(&self.record)
    }

    /// Whether `strand` has a record. Queries must be in ascending order.
    #[inline]
    pub fn has(&mut self, strand: StrandId) -> bool {
        let strands = &self.folds.strands;
        while strands.get(self.next).is_some_and(|&s| s < strand) {
            self.next += 1;
        }
        strands.get(self.next) == Some(&strand)
    }
}

impl std::fmt::Debug for Folds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Extend<(StrandId, Folded)> for Folds {
    fn extend<I: IntoIterator<Item = (StrandId, Folded)>>(&mut self, records: I) {
        for (strand, record) in records {
            self.push(strand, &record);
        }
    }
}

impl FromIterator<(StrandId, Folded)> for Folds {
    fn from_iter<I: IntoIterator<Item = (StrandId, Folded)>>(records: I) -> Folds {
        let mut all = Folds::default();
        all.extend(records);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(work: u64) -> Folded {
        Folded {
            work,
            span: work / 2,
            envelope: vec![(work / 2, 1), (work / 3, 4)],
            tasks: 2,
            sites: vec![FoldedSite {
                site: 3,
                count: 2,
                work: work / 2,
                lengths: vec![0, 2],
                ..FoldedSite::default()
            }],
            blocks: vec![(3, crate::NONE, work)],
            source: Some((work, 7)),
            ..Folded::default()
        }
    }

    #[test]
    fn records_come_back_by_strand() {
        let folds: Folds = [(5, record(50)), (1, record(10)), (9, record(90))]
            .into_iter()
            .collect();
        assert_eq!(folds.get(1), record(10));
        // Strand 9 was merged away, and 5 and 1 change places.
        let placed = folds.sorted(|s| (s != 9).then(|| 6 - s));
        assert_eq!(placed.strands(), [1, 5]);
        assert_eq!(placed.record(1), Some(record(50)));
        assert_eq!(placed.record(5), Some(record(10)));
        assert_eq!(placed.record(9), None);
        assert!(placed.has(5) && !placed.has(4));
        let mut cursor = placed.cursor();
        let of = [0, 1, 4, 5, 6].map(|s| (cursor.has(s), cursor.record(s).cloned()));
        let none = (false, None);
        let (first, second) = ((true, Some(record(50))), (true, Some(record(10))));
        assert_eq!(of, [none.clone(), first, none.clone(), second, none]);
        let tasks: Vec<(StrandId, u64)> = placed.sums().map(|(s, sums)| (s, sums.tasks)).collect();
        assert_eq!(tasks, [(1, 2), (5, 2)]);
        let paths = placed.paths_of(5).expect("it has some");
        assert_eq!((paths.work(), paths.span()), (10, 5));
        assert_eq!(paths.envelope(), record(10).envelope);
        assert_eq!(paths.path(100), record(10).path(100));
        assert_eq!(placed.paths_of(9), None);
    }

    #[test]
    fn of_two_records_of_a_strand_the_first_stays() {
        let folds: Folds = [(4, record(1)), (2, record(2)), (3, record(3))]
            .into_iter()
            .collect();
        let placed = folds.sorted(|s| Some(s / 2));
        assert_eq!(placed.strands(), [1, 2]);
        assert_eq!(placed.record(1), Some(record(2)));
    }
}
