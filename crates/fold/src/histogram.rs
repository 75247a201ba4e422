//! Sums over a subtree: work per block, and task lengths per site. They are kept as lists of
//! entries. Each section owns a tail of each list, which is summed only when the section is folded.

use workspan_trace::folded::FoldedSite;

/// A list with more entries than this is sorted before it is summed.
const MIN_ENTRIES_TO_SORT: usize = 256;

/// The positions in the lists at which a section's own entries start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct HistogramMark {
    blocks: u32,
    lengths: u32,
}

/// The lists.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// A key of two places (each site + 1, or 0) for the block's start and end; and ticks.
    blocks: Vec<(u64, u64)>,
    /// A key of the site and the logarithm of the length; and the number of tasks.
    lengths: Vec<(u64, u64)>,
    /// The index of the block of the strand that ended last.
    last: Option<usize>,
}

impl Tally {
    /// The position from which on new entries are added.
    #[inline]
    pub(crate) fn since(&self) -> HistogramMark {
        HistogramMark {
            blocks: self.blocks.len() as u32,
            lengths: self.lengths.len() as u32,
        }
    }

    /// Adds a strand of this weight.
    #[inline]
    pub(crate) fn strand(&mut self, from: u32, to: u32, weight: u64) {
        self.last = Some(self.blocks.len());
        self.blocks.push((key(from, to), weight));
    }

    /// Moves the end of the last strand, which ended at a create: its task continues in no time and
    /// ends at `place`.
    pub(crate) fn ends_at(&mut self, place: u32) {
        let last = self.last.and_then(|last| self.blocks.get_mut(last));
        if let Some((block, _)) = last {
            *block = key(parts(*block).0, place);
        }
    }

    /// Adds a task of this site whose own strands weigh `weight`. The task has ended.
    #[inline]
    pub(crate) fn task(&mut self, site: u32, weight: u64) {
        let length = 63 - (weight | 1).leading_zeros();
        self.lengths.push((key(site, length), 1));
    }

    /// Adds a block of a folded strand. No later strand continues such a block.
    pub(crate) fn block(&mut self, from: u32, to: u32, weight: u64) {
        self.last = None;
        self.blocks.push((key(from, to), weight));
    }

    /// Adds tasks of this site, counted by the logarithm of the weight of their own strands.
    pub(crate) fn tasks(&mut self, site: u32, lengths: &[u64]) {
        let some = lengths.iter().enumerate().filter(|n| *n.1 > 0);
        let entry = |(length, &n): (usize, &u64)| (key(site, length as u32), n);
        self.lengths.extend(some.map(entry));
    }

    /// Sums all entries since then, so that each key has one entry.
    pub(crate) fn sum(&mut self, since: HistogramMark) {
        self.last = None;
        sum(&mut self.blocks, since.blocks as usize);
        sum(&mut self.lengths, since.lengths as usize);
    }

    /// Writes the sums: lengths into `sites`, which have a row for each site, and blocks.
    pub(crate) fn tell(
        &self,
        since: HistogramMark,
        sites: &mut [FoldedSite],
        blocks: &mut Vec<(u32, u32, u64)>,
    ) {
        blocks.clear();
        let some = self.blocks.get(since.blocks as usize..).unwrap_or(&[]);
        let some = some.iter().filter(|block| block.1 > 0);
        blocks.extend(some.map(|&(key, work)| (parts(key).0, parts(key).1, work)));
        let lengths = self.lengths.get(since.lengths as usize..).unwrap_or(&[]);
        for &(key, n) in lengths {
            let (site, length) = parts(key);
            if let Some(row) = sites.iter_mut().find(|s| s.site == site) {
                let length = length as usize;
                if row.lengths.len() <= length {
                    row.lengths.resize(length + 1, 0);
                }
                row.lengths[length] = row.lengths[length].saturating_add(n);
                row.count = row.count.saturating_add(n);
            }
        }
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.lengths.clear();
        self.last = None;
    }

    /// Memory used, in bytes.
    pub(crate) fn memory(&self) -> usize {
        (self.blocks.len() + self.lengths.len()) * size_of::<(u64, u64)>()
    }
}

/// Packs two numbers into one key, which sorts in the order of the pair.
#[inline]
fn key(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

/// The two numbers of a key.
fn parts(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

/// Sums the entries from `from` on by key. The keys stay in the order of their first entries,
/// unless there are many.
fn sum(entries: &mut Vec<(u64, u64)>, from: usize) {
    let from = from.min(entries.len());
    let many = entries.len() - from > MIN_ENTRIES_TO_SORT;
    if many {
        entries[from..].sort_unstable_by_key(|e| e.0);
    }
    let mut end = from;
    // A subtree has few blocks and lengths, so a linear search is faster than sorting.
    for at in from..entries.len() {
        let (key, n) = entries[at];
        let first = if many {
            end.saturating_sub(1).max(from)
        } else {
            from
        };
        let known = entries[first..end].iter().position(|e| e.0 == key);
        match known {
            Some(i) => {
                let sum = &mut entries[first + i].1;
                *sum = sum.saturating_add(n);
            }
            None => {
                entries[end] = (key, n);
                end += 1;
            }
        }
    }
    entries.truncate(end);
}
