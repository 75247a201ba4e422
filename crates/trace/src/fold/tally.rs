//! What simply adds up over a subtree: work per block, and task lengths per site. Kept as a list of entries, of which
//! each section owns a tail, and summed only when the section is folded.

use crate::folded::FoldedSite;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// From and to, each site + 1, or 0.
    Block(u32, u32),
    /// Site, and the logarithm of a length.
    Length(u32, u32),
}

/// More entries than this are sorted to be summed.
const MANY: usize = 256;

/// The list.
#[derive(Debug, Default)]
pub(super) struct Tally {
    entries: Vec<(Key, u64)>,
    /// The entry of the strand that ended last.
    last: Option<usize>,
}

impl Tally {
    /// Entries so far.
    pub(super) fn length(&self) -> u32 {
        self.entries.len() as u32
    }

    /// A strand of this weight.
    pub(super) fn strand(&mut self, from: u32, to: u32, weight: u64) {
        self.last = Some(self.entries.len());
        self.entries.push((Key::Block(from, to), weight));
    }

    /// The strand that ended last, at a create, goes on to its end in no time: it ends where that is.
    pub(super) fn ends_at(&mut self, place: u32) {
        let last = self.last.and_then(|last| self.entries.get_mut(last));
        if let Some((Key::Block(_, to), _)) = last {
            *to = place;
        }
    }

    /// A task of this site ended, whose own strands weigh this.
    pub(super) fn task(&mut self, site: u32, weight: u64) {
        let length = 63 - (weight | 1).leading_zeros();
        self.entries.push((Key::Length(site, length), 1));
    }

    /// Sums all entries from `from` on up: at most one of a key is left.
    pub(super) fn sum(&mut self, from: u32) {
        self.last = None;
        let from = (from as usize).min(self.entries.len());
        if self.entries.len() - from > MANY {
            self.entries[from..].sort_unstable_by_key(|e| e.0);
        }
        let sorted = self.entries.len() - from > MANY;
        let mut end = from;
        // A subtree has few blocks and lengths, so that looking through them is quicker than sorting; the one met last is likely
        // met again soon.
        for at in from..self.entries.len() {
            let (key, n) = self.entries[at];
            let first = if sorted {
                end.saturating_sub(1).max(from)
            } else {
                from
            };
            let known = self.entries[first..end].iter().rposition(|e| e.0 == key);
            match known {
                Some(i) => {
                    let sum = &mut self.entries[first + i].1;
                    *sum = sum.saturating_add(n);
                }
                None => {
                    self.entries[end] = (key, n);
                    end += 1;
                }
            }
        }
        self.entries.truncate(end);
    }

    /// Tells what was summed: lengths into `sites`, of which each has its row, and blocks.
    pub(super) fn tell(
        &self,
        from: u32,
        sites: &mut [FoldedSite],
        blocks: &mut Vec<(u32, u32, u64)>,
    ) {
        blocks.clear();
        for &(key, n) in self.entries.get(from as usize..).unwrap_or(&[]) {
            match key {
                Key::Block(from, to) => blocks.push((from, to, n)),
                Key::Length(site, length) => {
                    if let Some(row) = sites.iter_mut().find(|s| s.site == site) {
                        let length = length as usize;
                        if row.lengths.len() <= length {
                            row.lengths.resize(length + 1, 0);
                        }
                        row.lengths[length] += n;
                        row.count += n;
                    }
                }
            }
        }
        blocks.retain(|b| b.2 > 0);
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.last = None;
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.entries.len() * size_of::<(Key, u64)>()
    }
}
