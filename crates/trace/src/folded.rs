//! The folded record (MODEL.md §7): what [`crate::wire::Kind::Folded`] carries, and what readers make of it: a subtree that ran on
//! one thread, reduced to what the measures need. Readers put places where the file has sites.

use crate::entry::{Fields, push_varint};

/// What a folded subtree keeps of one spawn site inside it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoldedSite {
    /// The site (a reader: its place).
    pub site: u32,
    /// Task instances created there inside the fold.
    pub count: u64,
    /// Work of the outermost instances with their descendants, in ticks.
    pub work: u64,
    /// Span of the outermost instances, summed.
    pub span: u64,
    /// Weight of the fold's own heaviest path (at burden 0) that belongs to tasks of this site.
    pub critical_work: u64,
    /// Histogram of task lengths: `lengths[i]` tasks took [2^i, 2^(i+1)) ticks; trailing zeros left off.
    pub lengths: Vec<u64>,
}

/// A folded subtree; the strand it hangs on has its start and end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoldedRecord {
    /// Work inside, in raw ticks.
    pub work: u64,
    /// Span inside, in raw ticks: the envelope's point with most weight at burden 0.
    pub span: u64,
    /// Upper envelope of (path weight, burdened edges on it) over all paths through, at most 8 points, by falling weight.
    pub envelope: Vec<(u64, u32)>,
    /// Tasks created inside.
    pub tasks: u64,
    /// Deferred creates inside.
    pub spawns: u64,
    /// Waits inside.
    pub syncs: u64,
    /// Strands inside.
    pub strands: u64,
    /// Levels below the folded task.
    pub levels: u32,
    /// Integral of the number of ready tasks over the fold's time, in task·ticks.
    pub ready_integral: u64,
    /// Per site.
    pub sites: Vec<FoldedSite>,
    /// Work per block: (where it starts, where it ends, ticks). In the file sites + 1, and 0 for unknown ones; a reader: places, and
    /// `u32::MAX`.
    pub blocks: Vec<(u32, u32, u64)>,
    /// Ticks that the recorder's probes took in the strands inside, where all weights here leave them out; 0 where they are still in.
    pub probes: u64,
    /// Where it was folded from, when that was done while a trace was read: bytes of its thread's records before the first one inside,
    /// and tasks that the thread had created before.
    pub source: Option<(u64, u64)>,
}

impl FoldedRecord {
    /// Weight of the heaviest path through, when each burdened edge costs `burden`, and that burden excluded or not
    /// is the caller's business: returns (weight + burden·edges) maximised.
    pub fn path(&self, burden: u64) -> u128 {
        self.envelope
            .iter()
            .map(|&(w, edges)| u128::from(w) + u128::from(edges) * u128::from(burden))
            .max()
            .unwrap_or(u128::from(self.span))
    }

    /// Appends the record's bytes (without their length).
    pub fn encode(&self, out: &mut Vec<u8>) {
        let told = self.told();
        push_varint(out, u64::from(told));
        push_varint(out, self.work);
        push_varint(out, self.tasks);
        if told & JOINS == 0 {
            push_varint(out, self.spawns);
            push_varint(out, self.syncs);
        }
        push_varint(out, self.strands);
        push_varint(out, u64::from(self.levels));
        push_varint(out, self.ready_integral);
        push_varint(out, self.envelope.len() as u64);
        let mut before = (0, 0);
        for (i, &(weight, edges)) in self.envelope.iter().enumerate() {
            // By falling weight.
            let lighter = if i == 0 {
                weight
            } else {
                u64::wrapping_sub(before.0, weight)
            };
            push_varint(out, lighter);
            push_varint(out, u64::from(edges.wrapping_sub(before.1)));
            before = (weight, edges);
        }
        if told & SPAN == 0 {
            push_varint(out, self.span);
        }
        push_varint(out, self.sites.len() as u64);
        for site in &self.sites {
            push_varint(out, u64::from(site.site));
            if told & COUNTS == 0 {
                push_varint(out, site.count);
            }
            push_varint(out, self.work.wrapping_sub(site.work));
            push_varint(out, site.span);
            push_varint(out, site.critical_work);
            let zeros = site.lengths.iter().take_while(|&&n| n == 0);
            let none = zeros.take(MOST_NONE).count();
            push_varint(out, site.lengths.len() as u64);
            push_varint(out, none as u64);
            for &n in &site.lengths[none..] {
                push_varint(out, n);
            }
        }
        push_varint(out, self.blocks.len() as u64);
        for (i, &(from, to, work)) in self.blocks.iter().enumerate() {
            push_varint(out, u64::from(from));
            push_varint(out, u64::from(to));
            if told & BLOCKS == 0 || i + 1 < self.blocks.len() {
                push_varint(out, work);
            }
        }
        if told & PROBES != 0 {
            push_varint(out, self.probes);
        }
        if let Some((bytes, tasks)) = self.source {
            push_varint(out, bytes);
            push_varint(out, tasks);
        }
    }

    /// What follows from the rest of the record, and is left out; and what else is in it.
    fn told(&self) -> u8 {
        let counted = |site: &FoldedSite| Some(site.count) == sum(site.lengths.iter());
        let blocks = sum(self.blocks.iter().map(|b| &b.2));
        let is = [
            (SPAN, self.envelope.first().map(|e| e.0) == Some(self.span)),
            (
                JOINS,
                self.spawns == self.syncs && self.spawns.checked_mul(2) == Some(self.tasks),
            ),
            (COUNTS, self.sites.iter().all(counted)),
            (BLOCKS, !self.blocks.is_empty() && blocks == Some(self.work)),
            (PROBES, self.probes > 0),
            (SOURCE, self.source.is_some()),
        ];
        is.iter().map(|&(bit, is)| if is { bit } else { 0 }).sum()
    }

    /// Reads a record; `None` when the bytes are none.
    pub fn decode(bytes: &[u8]) -> Option<FoldedRecord> {
        let mut f = Fields::new(bytes);
        let told = f.number()?;
        if told >= 2 * u64::from(SOURCE) {
            return None;
        }
        let told = told as u8;
        let mut record = FoldedRecord {
            work: f.number()?,
            tasks: f.number()?,
            ..FoldedRecord::default()
        };
        (record.spawns, record.syncs) = if told & JOINS == 0 {
            (f.number()?, f.number()?)
        } else {
            (record.tasks / 2, record.tasks / 2)
        };
        record.strands = f.number()?;
        record.levels = f.number32()?;
        record.ready_integral = f.number()?;
        let mut before = (0, 0);
        // Readers keep hundreds of thousands of these: no list has more room than it needs.
        let points = list_length(&mut f, 2, 8)?;
        record.envelope = Vec::with_capacity(points as usize);
        for i in 0..points {
            let (lighter, edges) = (f.number()?, f.number32()?);
            let weight = if i == 0 {
                lighter
            } else {
                u64::wrapping_sub(before.0, lighter)
            };
            before = (weight, edges.wrapping_add(before.1));
            record.envelope.push(before);
        }
        record.span = match record.envelope.first() {
            Some(first) if told & SPAN != 0 => first.0,
            _ => f.number()?,
        };
        let sites = list_length(&mut f, 6, u64::MAX)?;
        record.sites = Vec::with_capacity(sites.min(FEW) as usize);
        for _ in 0..sites {
            let mut site = FoldedSite {
                site: f.number32()?,
                ..FoldedSite::default()
            };
            if told & COUNTS == 0 {
                site.count = f.number()?;
            }
            site.work = record.work.wrapping_sub(f.number()?);
            (site.span, site.critical_work) = (f.number()?, f.number()?);
            let length = f.number().filter(|&n| n <= 64)?;
            let none = f.number().filter(|&n| n <= length.min(MOST_NONE as u64))?;
            site.lengths = Vec::with_capacity(length as usize);
            site.lengths.resize(none as usize, 0);
            for _ in none..length {
                site.lengths.push(f.number()?);
            }
            if told & COUNTS != 0 {
                site.count = sum(site.lengths.iter())?;
            }
            record.sites.push(site);
        }
        let blocks = list_length(&mut f, 2, u64::MAX)?;
        record.blocks = Vec::with_capacity(blocks.min(FEW) as usize);
        let mut rest = record.work;
        for i in 0..blocks {
            let (from, to) = (f.number32()?, f.number32()?);
            let work = if told & BLOCKS != 0 && i + 1 == blocks {
                rest
            } else {
                f.number()?
            };
            rest = rest.wrapping_sub(work);
            record.blocks.push((from, to, work));
        }
        if told & PROBES != 0 {
            record.probes = f.number()?;
        }
        if told & SOURCE != 0 {
            record.source = Some((f.number()?, f.number()?));
        }
        Some(record)
    }
}

/// In a record's first byte. Its span is the weight of the envelope's first point, and is left out.
const SPAN: u8 = 1;
/// Half of its tasks are spawns, and it has as many waits: both are left out.
const JOINS: u8 = 2;
/// Counts of its sites are the sums of their lengths, and are left out.
const COUNTS: u8 = 4;
/// The work of its blocks adds up to its own: the last one's is left out.
const BLOCKS: u8 = 8;
/// It has the time of its probes.
const PROBES: u8 = 16;
/// It says where it was folded from.
const SOURCE: u8 = 32;

/// Items for which room is made before they are read: what a damaged record says of its length costs nothing.
const FEW: u64 = 64;

/// Lengths without a task, shorter than any task there is, that are only counted. More are written, so that a few bytes don't take much memory.
const MOST_NONE: usize = 15;

/// `None` for one that is too large.
fn sum<'a>(mut of: impl Iterator<Item = &'a u64>) -> Option<u64> {
    of.try_fold(0, |sum: u64, &n| sum.checked_add(n))
}

/// A list's length, checked against the bytes left (each item takes `least` or more) and against `most`.
fn list_length(f: &mut Fields<'_>, least: u64, most: u64) -> Option<u64> {
    let length = f.number()?;
    (length <= most && length.checked_mul(least)? <= f.left() as u64).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_as_written_and_never_from_a_cut_record() {
        let record = FoldedRecord {
            work: 1_000_000,
            span: 70_000,
            envelope: vec![(70_000, 3), (60_000, 12)],
            tasks: 511,
            spawns: 255,
            syncs: 255,
            strands: 1_021,
            levels: 9,
            ready_integral: u64::MAX,
            sites: vec![FoldedSite {
                site: 4,
                count: 510,
                work: 900_000,
                span: 60_000,
                critical_work: 50_000,
                lengths: vec![0, 0, 12, 498],
            }],
            blocks: vec![(0, 5, 100_000), (5, 5, 900_000)],
            probes: 0,
            source: None,
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        assert_eq!(FoldedRecord::decode(&bytes).as_ref(), Some(&record));
        for cut in 0..bytes.len() {
            assert_eq!(FoldedRecord::decode(&bytes[..cut]), None, "cut to {cut}");
        }
        let net = FoldedRecord {
            probes: 300,
            ..record
        };
        bytes.clear();
        net.encode(&mut bytes);
        assert_eq!(FoldedRecord::decode(&bytes).as_ref(), Some(&net));
        let read = FoldedRecord {
            source: Some((1 << 40, 7)),
            ..net
        };
        bytes.clear();
        read.encode(&mut bytes);
        assert_eq!(FoldedRecord::decode(&bytes).as_ref(), Some(&read));
        for at in 0..bytes.len() {
            assert_eq!(FoldedRecord::decode(&bytes[..at]), None, "cut to {at}");
        }
    }

    #[test]
    fn what_does_not_follow_from_the_rest_is_in_it() {
        let site = |count, work, lengths: &[u64]| FoldedSite {
            site: 9,
            count,
            work,
            lengths: lengths.to_vec(),
            ..FoldedSite::default()
        };
        let joins = FoldedRecord {
            work: 900,
            span: 70,
            envelope: vec![(70, 0), (60, 2)],
            tasks: 6,
            spawns: 3,
            syncs: 3,
            sites: vec![site(6, 880, &[0, 0, 6])],
            blocks: vec![(1, 2, 400), (2, 2, 500)],
            ..FoldedRecord::default()
        };
        let odd = [
            FoldedRecord::default(),
            joins.clone(),
            FoldedRecord {
                span: 71,
                ..joins.clone()
            },
            FoldedRecord {
                envelope: vec![],
                ..joins.clone()
            },
            // What nobody writes comes back all the same.
            FoldedRecord {
                envelope: vec![(1, 9), (u64::MAX, 0)],
                ..joins.clone()
            },
            FoldedRecord {
                tasks: 7,
                ..joins.clone()
            },
            FoldedRecord {
                syncs: 2,
                ..joins.clone()
            },
            FoldedRecord {
                spawns: u64::MAX,
                syncs: u64::MAX,
                ..joins.clone()
            },
            FoldedRecord {
                work: 901,
                ..joins.clone()
            },
            FoldedRecord {
                work: 0,
                ..joins.clone()
            },
            FoldedRecord {
                blocks: vec![],
                ..joins.clone()
            },
            FoldedRecord {
                blocks: vec![(0, 0, u64::MAX), (1, 1, 901)],
                ..joins.clone()
            },
            FoldedRecord {
                sites: vec![site(5, u64::MAX, &[0, 6])],
                ..joins.clone()
            },
            FoldedRecord {
                sites: vec![site(0, 0, &[]), site(2, 1, &[1, 1])],
                ..joins.clone()
            },
            FoldedRecord {
                sites: vec![site(0, 0, &[0, 0])],
                ..joins.clone()
            },
            FoldedRecord {
                sites: vec![site(1, 0, &[u64::MAX, 2]), site(2, 0, &[0; 40])],
                ..joins
            },
        ];
        for record in odd {
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            assert_eq!(FoldedRecord::decode(&bytes), Some(record));
        }
    }
}
