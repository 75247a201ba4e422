//! The folded record (MODEL.md §7), which [`crate::wire::Kind::Folded`] carries: a subtree that ran
//! on one thread, reduced to the values that the measures need. Readers replace the file's sites by
//! places.

mod head;
mod places;

use self::head::Head;
pub use self::head::{Paths, Sums};
use self::places::{MAX_PAIRS, Places};
use crate::entry::{Fields, push_varint};

/// The values of one spawn site inside a folded subtree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoldedSite {
    /// The site, or the place once a reader has resolved it.
    pub site: u32,
    /// The number of task instances created there inside the fold.
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

/// A folded subtree. Start and end are those of the strand that carries it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoldedRecord {
    /// Work inside, in raw ticks.
    pub work: u64,
    /// Span inside, in raw ticks: the weight of the heaviest path at burden 0.
    pub span: u64,
    /// Upper envelope of (path weight, burdened edges on it) over all paths through the subtree: at
    /// most 8 points, by falling weight.
    pub envelope: Vec<(u64, u32)>,
    /// The number of tasks created inside.
    pub tasks: u64,
    /// The number of deferred creates inside.
    pub spawns: u64,
    /// The number of waits inside.
    pub syncs: u64,
    /// The number of strands inside.
    pub strands: u64,
    /// The number of levels below the folded task.
    pub levels: u32,
    /// Integral of the number of ready tasks over the fold's time, in task·ticks.
    pub ready_integral: u64,
    /// Values per site.
    pub sites: Vec<FoldedSite>,
    /// Work per block: (start, end, ticks). In the file, start and end are sites + 1, or 0 if
    /// unknown. In a reader they are places, or `u32::MAX`.
    pub blocks: Vec<(u32, u32, u64)>,
    /// Ticks that the recorder's probes took in the strands inside, if the weights here exclude
    /// them; 0 if the weights still include them.
    pub probes: u64,
    /// Ticks between the strands inside, in which the thread ran the runtime. At each moment of
    /// this time, a strand of the subtree was ready and this thread was free for it (MODEL.md §5).
    /// 0 if the record does not have it.
    pub between: u64,
    /// Ticks in which the thread was off the CPU, in or between the strands inside. All other
    /// fields exclude this time. 0 if not known; then they still include it.
    pub off_cpu: u64,
    /// Ticks in which the thread was off the CPU while it folded the subtree.
    pub folding_off_cpu: u64,
    /// The source of a record that was folded while a trace was read: bytes of its thread's records
    /// before the first one inside, and tasks that the thread had created before.
    pub source: Option<(u64, u64)>,
}

impl FoldedRecord {
    /// The weight of the heaviest path through the subtree if each burdened edge costs `burden`:
    /// the maximum of weight + burden · edges.
    pub fn path(&self, burden: u64) -> u128 {
        head::heaviest(&self.envelope, self.span, burden)
    }

    /// Appends the record's bytes (without their length).
    pub fn encode(&self, out: &mut Vec<u8>) {
        let places = self.block_places();
        let flags = self.flags(places);
        push_varint(out, flags);
        push_varint(out, self.work);
        push_varint(out, self.tasks);
        if flags & JOINS == 0 {
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
        if flags & SPAN == 0 {
            push_varint(out, self.span);
        }
        push_varint(out, self.sites.len() as u64);
        for site in &self.sites {
            push_varint(out, u64::from(site.site));
            if flags & COUNTS == 0 {
                push_varint(out, site.count);
            }
            push_varint(out, self.work.wrapping_sub(site.work));
            push_varint(out, site.span);
            push_varint(out, site.critical_work);
            let zeros = site.lengths.iter().take_while(|&&n| n == 0);
            let none = zeros.take(MAX_EMPTY_LENGTHS).count();
            let some = site.lengths.len() - none;
            push_varint(out, none as u64 | (some as u64) << EMPTY_LENGTHS_BITS);
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
            if flags & BLOCKS == 0 || i + 1 < self.blocks.len() {
                push_varint(out, work);
            }
        }
        if flags & PROBES != 0 {
            push_varint(out, self.probes);
        }
        if flags & BETWEEN != 0 {
            push_varint(out, self.between);
        }
        if flags & OFF_CPU != 0 {
            push_varint(out, self.off_cpu);
            push_varint(out, self.folding_off_cpu);
        }
        if let Some((bytes, tasks)) = self.source {
            push_varint(out, bytes);
            push_varint(out, tasks);
        }
    }

    /// The flags for fields that are left out because they follow from others, and for optional
    /// fields. `places` is the bit set of its blocks.
    fn flags(&self, places: Option<u64>) -> u64 {
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

    /// The start and end places of the blocks as a bit set; `None` unless they are all unknown or
    /// among the record's few sites, and in order.
    fn block_places(&self) -> Option<u64> {
        let places = Places::from_sites(&self.sites)?;
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

    /// Reads a record; `None` if the bytes are not one.
    pub fn decode(bytes: &[u8]) -> Option<FoldedRecord> {
        let mut record = FoldedRecord::default();
        record.read(bytes)?;
        Some(record)
    }

    /// Reads the record in these bytes into this one, reusing its lists. Returns `None` if the
    /// bytes are not a record; the contents are then unspecified.
    pub fn read(&mut self, bytes: &[u8]) -> Option<()> {
        let mut f = Fields::new(bytes);
        let Head { flags, sums, paths } = Head::read(&mut f)?;
        (self.work, self.span) = (paths.work(), paths.span());
        (self.tasks, self.spawns, self.syncs) = (sums.tasks, sums.spawns, sums.syncs);
        (self.strands, self.levels) = (sums.strands, sums.levels);
        self.ready_integral = sums.ready_integral;
        // Readers may keep many records, so no list has more capacity than it needs.
        let envelope = paths.envelope();
        self.envelope.clear();
        self.envelope.reserve_exact(envelope.len());
        self.envelope.extend_from_slice(envelope);
        let sites = list_length(&mut f, MIN_SITE_BYTES, u64::MAX)?;
        // Existing sites are reused with their lists.
        self.sites.truncate(usize::try_from(sites).ok()?);
        let known = self.sites.len() as u64;
        self.sites
            .reserve_exact((sites.min(MAX_RESERVED_ITEMS)).saturating_sub(known) as usize);
        for i in 0..sites {
            if i >= known {
                self.sites.push(FoldedSite::default());
            }
            let site = self.sites.get_mut(i as usize)?;
            site.read(&mut f, flags, self.work)?;
        }
        self.read_blocks(&mut f, flags)?;
        self.probes = if flags & PROBES != 0 { f.number()? } else { 0 };
        self.between = if flags & BETWEEN != 0 { f.number()? } else { 0 };
        (self.off_cpu, self.folding_off_cpu) = if flags & OFF_CPU != 0 {
            (f.number()?, f.number()?)
        } else {
            (0, 0)
        };
        self.source = if flags & SOURCE != 0 {
            Some((f.number()?, f.number()?))
        } else {
            None
        };
        Some(())
    }

    fn read_blocks(&mut self, f: &mut Fields<'_>, flags: u64) -> Option<()> {
        let places = Places::from_sites(&self.sites).filter(|_| flags & PLACES != 0);
        let mut bits = 0;
        let blocks = if flags & PLACES == 0 {
            list_length(f, 2, u64::MAX)?
        } else {
            bits = f.number().filter(|&bits| bits < 1 << MAX_PAIRS)?;
            u64::from(bits.count_ones())
        };
        self.blocks.clear();
        self.blocks
            .reserve_exact(blocks.min(MAX_RESERVED_ITEMS) as usize);
        let mut rest = self.work;
        for i in 0..blocks {
            let (from, to) = if flags & PLACES == 0 {
                (f.number32()?, f.number32()?)
            } else {
                let pair = places.as_ref()?.at(bits.trailing_zeros())?;
                bits &= bits - 1;
                pair
            };
            let work = if flags & BLOCKS != 0 && i + 1 == blocks {
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
    /// Reads the next site of a record with this work.
    fn read(&mut self, f: &mut Fields<'_>, flags: u64, work: u64) -> Option<()> {
        self.site = f.number32()?;
        if flags & COUNTS == 0 {
            self.count = f.number()?;
        }
        self.work = work.wrapping_sub(f.number()?);
        (self.span, self.critical_work) = (f.number()?, f.number()?);
        let length = f.number()?;
        let (none, some) = (
            length & MAX_EMPTY_LENGTHS as u64,
            length >> EMPTY_LENGTHS_BITS,
        );
        if none + some > 64 {
            return None;
        }
        self.lengths.clear();
        self.lengths.reserve_exact((none + some) as usize);
        self.lengths.resize(none as usize, 0);
        for _ in 0..some {
            self.lengths.push(f.number()?);
        }
        if flags & COUNTS != 0 {
            self.count = sum(self.lengths.iter())?;
        }
        Some(())
    }
}

/// Flag in a record's first number: the span is the weight of the envelope's first point, and is
/// left out.
const SPAN: u64 = 1;
/// Flag: the counts are those of joins (half of the tasks are spawns, there are as many waits, and
/// as many strands as joins make), and are left out.
const JOINS: u64 = 2;
/// Flag: the counts of the sites are the sums of their lengths, and are left out.
const COUNTS: u64 = 4;
/// Flag: the work of the blocks adds up to the record's, and that of the last block is left out.
const BLOCKS: u64 = 8;
/// Flag: the blocks' start and end places are a bit set over pairs of places.
const PLACES: u64 = 16;
/// Flag: the record has the time of its probes.
const PROBES: u64 = 32;
/// Flag: the record has its source.
const SOURCE: u64 = 64;
/// Flag: the record has the time between its strands.
const BETWEEN: u64 = 128;
/// Flag: the record has the time in which its thread was off the CPU.
const OFF_CPU: u64 = 256;

/// The smallest number of bytes of a site.
const MIN_SITE_BYTES: u64 = 5;

/// The number of strands of a tree of joins: one per task, one more per join, and one for the
/// strand that carries the record. `None` if there are too many.
fn strands_of_joins(tasks: u64) -> Option<u64> {
    tasks.checked_add(tasks / 2)?.checked_add(1)
}

/// The number of items for which memory is reserved before they are read, so that a damaged length
/// costs nothing.
const MAX_RESERVED_ITEMS: u64 = 64;

/// The largest number of leading lengths without a task that are only counted. More are written
/// out, so that a few bytes cannot take much memory.
const MAX_EMPTY_LENGTHS: usize = (1 << EMPTY_LENGTHS_BITS) - 1;
/// The bits that hold this number, below the number of the other lengths.
const EMPTY_LENGTHS_BITS: usize = 4;

/// The sum; `None` on overflow.
fn sum<'a>(mut numbers: impl Iterator<Item = &'a u64>) -> Option<u64> {
    numbers.try_fold(0, |sum: u64, &n| sum.checked_add(n))
}

/// Reads a list's length and checks it against `most` and against the bytes left (each item takes
/// at least `least` bytes).
fn list_length(f: &mut Fields<'_>, least: u64, most: u64) -> Option<u64> {
    let length = f.number()?;
    (length <= most && length.checked_mul(least)? <= f.left() as u64).then_some(length)
}

#[cfg(test)]
mod tests;
