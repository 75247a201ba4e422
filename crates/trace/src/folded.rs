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
        for v in [
            self.work,
            self.span,
            self.tasks,
            self.spawns,
            self.syncs,
            self.strands,
            u64::from(self.levels),
            self.ready_integral,
        ] {
            push_varint(out, v);
        }
        push_varint(out, self.envelope.len() as u64);
        for &(weight, edges) in &self.envelope {
            push_varint(out, weight);
            push_varint(out, u64::from(edges));
        }
        push_varint(out, self.sites.len() as u64);
        for site in &self.sites {
            for v in [
                u64::from(site.site),
                site.count,
                site.work,
                site.span,
                site.critical_work,
            ] {
                push_varint(out, v);
            }
            push_varint(out, site.lengths.len() as u64);
            for &n in &site.lengths {
                push_varint(out, n);
            }
        }
        push_varint(out, self.blocks.len() as u64);
        for &(from, to, work) in &self.blocks {
            push_varint(out, u64::from(from));
            push_varint(out, u64::from(to));
            push_varint(out, work);
        }
        if self.probes > 0 || self.source.is_some() {
            push_varint(out, self.probes);
        }
        if let Some((bytes, tasks)) = self.source {
            push_varint(out, bytes);
            push_varint(out, tasks);
        }
    }

    /// Reads a record; `None` when the bytes are none.
    pub fn decode(bytes: &[u8]) -> Option<FoldedRecord> {
        let mut f = Fields::new(bytes);
        let mut record = FoldedRecord {
            work: f.number()?,
            span: f.number()?,
            tasks: f.number()?,
            spawns: f.number()?,
            syncs: f.number()?,
            strands: f.number()?,
            levels: f.number32()?,
            ready_integral: f.number()?,
            ..FoldedRecord::default()
        };
        // Readers keep hundreds of thousands of these: no list has more room than it needs.
        let points = list_length(&mut f, 2, 8)?;
        record.envelope = Vec::with_capacity(points as usize);
        for _ in 0..points {
            record.envelope.push((f.number()?, f.number32()?));
        }
        let sites = list_length(&mut f, 6, u64::MAX)?;
        record.sites = Vec::with_capacity(sites.min(FEW) as usize);
        for _ in 0..sites {
            let mut site = FoldedSite {
                site: f.number32()?,
                count: f.number()?,
                work: f.number()?,
                span: f.number()?,
                critical_work: f.number()?,
                lengths: Vec::new(),
            };
            let lengths = list_length(&mut f, 1, 64)?;
            site.lengths = Vec::with_capacity(lengths as usize);
            for _ in 0..lengths {
                site.lengths.push(f.number()?);
            }
            record.sites.push(site);
        }
        let blocks = list_length(&mut f, 3, u64::MAX)?;
        record.blocks = Vec::with_capacity(blocks.min(FEW) as usize);
        for _ in 0..blocks {
            record
                .blocks
                .push((f.number32()?, f.number32()?, f.number()?));
        }
        if f.left() > 0 {
            record.probes = f.number()?;
        }
        if f.left() > 0 {
            record.source = Some((f.number()?, f.number()?));
        }
        Some(record)
    }
}

/// Items for which room is made before they are read: what a damaged record says of its length costs nothing.
const FEW: u64 = 64;

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
        assert_eq!(FoldedRecord::decode(&bytes), Some(read));
    }
}
