//! The folded record (MODEL.md §7): what [`crate::wire::Kind::Folded`] carries, and what readers
//! make of it: a subtree that ran on one thread, reduced to what the measures need. Readers put
//! places where the file has sites.

mod head;
mod places;

use self::head::Head;
pub use self::head::{Paths, Sums};
use self::places::{MOST_PAIRS, Places};
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
    /// Histogram of task lengths: `lengths[i]` tasks took [2^i, 2^(i+1)) ticks; trailing zeros left
    /// off.
    pub lengths: Vec<u64>,
}

/// A folded subtree; the strand it hangs on has its start and end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoldedRecord {
    /// Work inside, in raw ticks.
    pub work: u64,
    /// Span inside, in raw ticks: the envelope's point with most weight at burden 0.
    pub span: u64,
    /// Upper envelope of (path weight, burdened edges on it) over all paths through, at most 8
    /// points, by falling weight.
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
    /// Work per block: (where it starts, where it ends, ticks). In the file sites + 1, and 0 for
    /// unknown ones; a reader: places, and `u32::MAX`.
    pub blocks: Vec<(u32, u32, u64)>,
    /// Ticks that the recorder's probes took in the strands inside, where all weights here leave
    /// them out; 0 where they are still in.
    pub probes: u64,
    /// Ticks between the strands inside, in which the thread ran the runtime: at each moment of
    /// them a strand of the subtree stood ready, and this thread was free for it (MODEL.md §5). In
    /// a record that leaves it out 0.
    pub between: u64,
    /// Ticks in which the thread was off the CPU in the strands inside or between them; all that
    /// the record says is without them. 0 where that is not known: then they are still in.
    pub off_cpu: u64,
    /// The same of the time in which the thread folded the subtree.
    pub folding_off_cpu: u64,
    /// Where it was folded from, when that was done while a trace was read: bytes of its thread's
    /// records before the first one inside, and tasks that the thread had created before.
    pub source: Option<(u64, u64)>,
}

impl FoldedRecord {
    /// Weight of the heaviest path through, when each burdened edge costs `burden`, and that burden
    /// excluded or not is the caller's business: returns (weight + burden·edges) maximised.
    pub fn path(&self, burden: u64) -> u128 {
        head::heaviest(&self.envelope, self.span, burden)
    }

    /// Appends the record's bytes (without their length).
    pub fn encode(&self, out: &mut Vec<u8>) {
        let places = self.block_places();
        let told = self.told(places);
        push_varint(out, told);
        push_varint(out, self.work);
        push_varint(out, self.tasks);
        if told & JOINS == 0 {
            push_varint(out, self.spawns);
            push_varint(out, self.syncs);
            push_varint(out, self.strands);
        }
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
            let some = site.lengths.len() - none;
            push_varint(out, none as u64 | (some as u64) << NONE_BITS);
            for &n in &site.lengths[none..] {
                push_varint(out, n);
            }
        }
        push_varint(out, places.unwrap_or(self.blocks.len() as u64));
        for (i, &(from, to, work)) in self.blocks.iter().enumerate() {
            if places.is_none() {
                push_varint(out, u64::from(from));
                push_varint(out, u64::from(to));
            }
            if told & BLOCKS == 0 || i + 1 < self.blocks.len() {
                push_varint(out, work);
            }
        }
        if told & PROBES != 0 {
            push_varint(out, self.probes);
        }
        if told & BETWEEN != 0 {
            push_varint(out, self.between);
        }
        if told & OFF_CPU != 0 {
            push_varint(out, self.off_cpu);
            push_varint(out, self.folding_off_cpu);
        }
        if let Some((bytes, tasks)) = self.source {
            push_varint(out, bytes);
            push_varint(out, tasks);
        }
    }

    /// What follows from the rest of the record, and is left out; and what else is in it. `places`
    /// are those of its blocks.
    fn told(&self, places: Option<u64>) -> u64 {
        let counted = |site: &FoldedSite| Some(site.count) == sum(site.lengths.iter());
        let blocks = sum(self.blocks.iter().map(|b| &b.2));
        let joins = self.spawns == self.syncs
            && self.spawns.checked_mul(2) == Some(self.tasks)
            && strands_of_joins(self.tasks) == Some(self.strands);
        let is = [
            (SPAN, self.envelope.first().map(|e| e.0) == Some(self.span)),
            (JOINS, joins),
            (COUNTS, self.sites.iter().all(counted)),
            (BLOCKS, !self.blocks.is_empty() && blocks == Some(self.work)),
            (PLACES, places.is_some()),
            (PROBES, self.probes > 0),
            (BETWEEN, self.between > 0),
            (OFF_CPU, self.off_cpu > 0 || self.folding_off_cpu > 0),
            (SOURCE, self.source.is_some()),
        ];
        is.iter().map(|&(bit, is)| if is { bit } else { 0 }).sum()
    }

    /// The pairs of places that are blocks, as a set of bits, where all of them are of the record's
    /// few sites or unknown, in order.
    fn block_places(&self) -> Option<u64> {
        let places = Places::of(&self.sites)?;
        let mut bits = 0;
        for &(from, to, _) in &self.blocks {
            let bit = 1 << places.pair(from, to)?;
            if bits >= bit {
                return None;
            }
            bits |= bit;
        }
        Some(bits)
    }

    /// Reads a record; `None` when the bytes are none.
    pub fn decode(bytes: &[u8]) -> Option<FoldedRecord> {
        let mut record = FoldedRecord::default();
        record.read(bytes)?;
        Some(record)
    }

    /// Becomes the record in these bytes, in the memory that its lists have; `None`, and anything,
    /// when the bytes are none.
    pub fn read(&mut self, bytes: &[u8]) -> Option<()> {
        let mut f = Fields::new(bytes);
        let Head { told, sums, paths } = Head::read(&mut f)?;
        (self.work, self.span) = (paths.work(), paths.span());
        (self.tasks, self.spawns, self.syncs) = (sums.tasks, sums.spawns, sums.syncs);
        (self.strands, self.levels) = (sums.strands, sums.levels);
        self.ready_integral = sums.ready_integral;
        // Readers may keep many of these: no list has more room than it needs.
        let envelope = paths.envelope();
        self.envelope.clear();
        self.envelope.reserve_exact(envelope.len());
        self.envelope.extend_from_slice(envelope);
        let sites = list_length(&mut f, LEAST_SITE, u64::MAX)?;
        // Those that there are have lists whose memory serves again.
        self.sites.truncate(usize::try_from(sites).ok()?);
        let known = self.sites.len() as u64;
        self.sites
            .reserve_exact((sites.min(FEW)).saturating_sub(known) as usize);
        for i in 0..sites {
            if i >= known {
                self.sites.push(FoldedSite::default());
            }
            let site = self.sites.get_mut(i as usize)?;
            site.read(&mut f, told, self.work)?;
        }
        self.read_blocks(&mut f, told)?;
        self.probes = if told & PROBES != 0 { f.number()? } else { 0 };
        self.between = if told & BETWEEN != 0 { f.number()? } else { 0 };
        (self.off_cpu, self.folding_off_cpu) = if told & OFF_CPU != 0 {
            (f.number()?, f.number()?)
        } else {
            (0, 0)
        };
        self.source = if told & SOURCE != 0 {
            Some((f.number()?, f.number()?))
        } else {
            None
        };
        Some(())
    }

    fn read_blocks(&mut self, f: &mut Fields<'_>, told: u64) -> Option<()> {
        let places = Places::of(&self.sites).filter(|_| told & PLACES != 0);
        let mut bits = 0;
        let blocks = if told & PLACES == 0 {
            list_length(f, 2, u64::MAX)?
        } else {
            bits = f.number().filter(|&bits| bits < 1 << MOST_PAIRS)?;
            u64::from(bits.count_ones())
        };
        self.blocks.clear();
        self.blocks.reserve_exact(blocks.min(FEW) as usize);
        let mut rest = self.work;
        for i in 0..blocks {
            let (from, to) = if told & PLACES == 0 {
                (f.number32()?, f.number32()?)
            } else {
                let pair = places.as_ref()?.at(bits.trailing_zeros())?;
                bits &= bits - 1;
                pair
            };
            let work = if told & BLOCKS != 0 && i + 1 == blocks {
                rest
            } else {
                f.number()?
            };
            rest = rest.wrapping_sub(work);
            self.blocks.push((from, to, work));
        }
        Some(())
    }
}

impl FoldedSite {
    /// Becomes the next one in a record of so much work.
    fn read(&mut self, f: &mut Fields<'_>, told: u64, work: u64) -> Option<()> {
        self.site = f.number32()?;
        if told & COUNTS == 0 {
            self.count = f.number()?;
        }
        self.work = work.wrapping_sub(f.number()?);
        (self.span, self.critical_work) = (f.number()?, f.number()?);
        let length = f.number()?;
        let (none, some) = (length & MOST_NONE as u64, length >> NONE_BITS);
        if none + some > 64 {
            return None;
        }
        self.lengths.clear();
        self.lengths.reserve_exact((none + some) as usize);
        self.lengths.resize(none as usize, 0);
        for _ in 0..some {
            self.lengths.push(f.number()?);
        }
        if told & COUNTS != 0 {
            self.count = sum(self.lengths.iter())?;
        }
        Some(())
    }
}

/// In a record's first number. Its span is the weight of the envelope's first point, and is left
/// out.
const SPAN: u64 = 1;
/// Half of its tasks are spawns, it has as many waits, and as many strands as joins make: all are
/// left out.
const JOINS: u64 = 2;
/// Counts of its sites are the sums of their lengths, and are left out.
const COUNTS: u64 = 4;
/// The work of its blocks adds up to its own: the last one's is left out.
const BLOCKS: u64 = 8;
/// Which pairs of its sites' places are blocks is told by a set of bits.
const PLACES: u64 = 16;
/// It has the time of its probes.
const PROBES: u64 = 32;
/// It says where it was folded from.
const SOURCE: u64 = 64;
/// It has the time between its strands.
const BETWEEN: u64 = 128;
/// It has the time in which its thread was off the CPU.
const OFF_CPU: u64 = 256;

/// A site takes as many bytes or more.
const LEAST_SITE: u64 = 5;

/// Each task has a strand and each join one more, and so has what it all hangs on; `None` for too
/// many.
fn strands_of_joins(tasks: u64) -> Option<u64> {
    tasks.checked_add(tasks / 2)?.checked_add(1)
}

/// Items for which room is made before they are read: what a damaged record says of its length
/// costs nothing.
const FEW: u64 = 64;

/// Lengths without a task, shorter than any task there is, that are only counted. More are written,
/// so that a few bytes don't take much memory.
const MOST_NONE: usize = (1 << NONE_BITS) - 1;
/// Their count is in as many bits, below that of the others.
const NONE_BITS: usize = 4;

/// `None` for one that is too large.
fn sum<'a>(mut of: impl Iterator<Item = &'a u64>) -> Option<u64> {
    of.try_fold(0, |sum: u64, &n| sum.checked_add(n))
}

/// A list's length, checked against the bytes left (each item takes `least` or more) and against
/// `most`.
fn list_length(f: &mut Fields<'_>, least: u64, most: u64) -> Option<u64> {
    let length = f.number()?;
    (length <= most && length.checked_mul(least)? <= f.left() as u64).then_some(length)
}

#[cfg(test)]
mod tests;
