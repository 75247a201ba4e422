//! The pieces of cut strands, and the new numbers of all strands.

use super::Cut;
use crate::dag::{Dag, EndKind, NONE, Region, StartKind, StrandId};

/// The numbers of strands once some are cut. Strands stay in the order of their starts. Among
/// strands that start at one tick, the second pieces come first, because their successors start
/// later.
pub(crate) struct Pieces {
    /// The cuts, by strand, then time.
    cuts: Vec<Cut>,
    /// The number of the piece after each cut.
    after: Vec<StrandId>,
    /// Starts of the strands, to count the pieces before each.
    starts: Vec<u64>,
    /// Times of the cuts, ascending.
    times: Vec<u64>,
}

impl Pieces {
    pub(crate) fn new(dag: &Dag, cuts: &[Cut]) -> Pieces {
        let mut by_time: Vec<usize> = (0..cuts.len()).collect();
        by_time.sort_by_key(|&i| (cuts[i].t, cuts[i].strand));
        let mut after = vec![0; cuts.len()];
        for (rank, &i) in by_time.iter().enumerate() {
            let before = dag
                .strands
                .start
                .partition_point(|&start| start < cuts[i].t);
            after[i] = (before + rank) as StrandId;
        }
        Pieces {
            cuts: cuts.to_vec(),
            after,
            starts: dag.strands.start.clone(),
            times: by_time.iter().map(|&i| cuts[i].t).collect(),
        }
    }

    /// The new number of a strand; for a cut strand the number of its first piece.
    pub(crate) fn first(&self, s: StrandId) -> StrandId {
        if s == NONE {
            return NONE;
        }
        let start = self.starts[s as usize];
        s + self.times.partition_point(|&t| t <= start) as u32
    }

    /// The number of the last piece of a strand.
    pub(crate) fn last(&self, s: StrandId) -> StrandId {
        if s == NONE {
            return NONE;
        }
        let end = self.cuts.partition_point(|cut| cut.strand <= s);
        match end.checked_sub(1) {
            Some(i) if self.cuts[i].strand == s => self.after[i],
            _ => self.first(s),
        }
    }

    /// The piece of a strand that holds a time; the earlier of two at a cut.
    fn at(&self, s: StrandId, t: u64) -> StrandId {
        if s == NONE {
            return NONE;
        }
        let cuts = self
            .cuts
            .partition_point(|cut| (cut.strand, cut.t) < (s, t));
        match cuts.checked_sub(1) {
            Some(i) if self.cuts[i].strand == s => self.after[i],
            _ => self.first(s),
        }
    }

    /// The piece that begins at a cut.
    pub(super) fn after(&self, cut: Cut) -> StrandId {
        self.cuts
            .binary_search(&cut)
            .map_or(NONE, |i| self.after[i])
    }

    /// The piece that ends at a cut.
    pub(super) fn before(&self, cut: Cut) -> StrandId {
        self.at(cut.strand, cut.t)
    }

    /// Each piece with the first and the last of its strand, ascending.
    pub(super) fn wholes(&self) -> Vec<(StrandId, StrandId, StrandId)> {
        let mut wholes = Vec::new();
        let mut i = 0;
        for of_strand in self.cuts.chunk_by(|a, b| a.strand == b.strand) {
            let strand = of_strand[0].strand;
            let (first, last) = (self.first(strand), self.last(strand));
            wholes.push((first, first, last));
            let after = &self.after[i..i + of_strand.len()];
            wholes.extend(after.iter().map(|&piece| (piece, first, last)));
            i += of_strand.len();
        }
        wholes.sort_unstable();
        wholes
    }

    /// The pieces of a strand, or the strand itself.
    pub(crate) fn of(&self, s: StrandId) -> impl Iterator<Item = StrandId> + '_ {
        let from = self.cuts.partition_point(|cut| cut.strand < s);
        let own = self.cuts[from..].iter().take_while(move |c| c.strand == s);
        let count = own.count();
        std::iter::once(self.first(s)).chain(self.after[from..from + count].iter().copied())
    }

    /// Inserts the pieces and gives every strand its new number.
    pub(crate) fn renumber(&self, dag: &mut Dag) {
        self.insert(dag);
        for strand in &mut dag.tasks.first {
            *strand = self.first(*strand);
        }
        let ends = dag.tasks.last.iter_mut().chain(&mut dag.tasks.creator);
        let ends = ends.chain(&mut dag.waits.signals.items);
        ends.for_each(|strand| *strand = self.last(*strand));
        for strand in &mut dag.waits.after {
            *strand = self.first(*strand);
        }
        for scope in &mut dag.scopes {
            scope.strand = self.last(scope.strand);
        }
        for region in dag.regions.iter_mut().chain(&mut dag.parts) {
            let Region { begin, end, .. } = region;
            // A region that ends at a cut has nothing in the later piece, and one that begins there
            // has nothing in the earlier piece, so either piece will do.
            (begin.0, end.0) = (self.at(begin.0, begin.1), self.at(end.0, end.1));
        }
        let values = dag.counters.iter_mut().flat_map(|c| &mut c.values);
        values.for_each(|value| value.0 = self.first(value.0));
        dag.folded.renumber(|s| *s = self.first(*s));
        for unrecorded in &mut dag.skipped {
            unrecorded.0 = self.first(unrecorded.0);
        }
        for signal in &mut dag.signals {
            signal.0 = self.last(signal.0);
        }
        for stop in &mut dag.samples.stops {
            stop.strand = self.at(stop.strand, stop.t.saturating_add(1));
        }
        let samples = dag.samples.strand.iter_mut().zip(&dag.samples.t);
        samples.for_each(|(strand, &t)| *strand = self.at(*strand, t.saturating_add(1)));
    }

    /// Inserts the pieces into the strands' columns.
    fn insert(&self, dag: &mut Dag) {
        let strands = &mut dag.strands;
        let (old, total) = (strands.len(), strands.len() + self.cuts.len());
        // The new places of the strands; the pieces take the remaining numbers.
        let place: Vec<StrandId> = (0..old as StrandId).map(|s| self.first(s)).collect();
        for (s, prev) in strands.prev.iter_mut().enumerate() {
            *prev = self.last(*prev);
            debug_assert!(*prev == NONE || *prev < place[s]);
        }
        spread(&mut strands.task, &place, total);
        spread(&mut strands.thread, &place, total);
        spread(&mut strands.start, &place, total);
        spread(&mut strands.end, &place, total);
        spread(&mut strands.prev, &place, total);
        spread(&mut strands.start_kind, &place, total);
        spread(&mut strands.end_kind, &place, total);
        spread(&mut strands.to, &place, total);
        for (i, cut) in self.cuts.iter().enumerate() {
            // Cuts of one strand follow each other, so the piece before is whole up to its end.
            let whole = self.before(*cut) as usize;
            let piece = self.after[i] as usize;
            strands.task[piece] = strands.task[whole];
            strands.thread[piece] = strands.thread[whole];
            strands.start[piece] = cut.t;
            strands.end[piece] = std::mem::replace(&mut strands.end[whole], cut.t);
            strands.prev[piece] = whole as StrandId;
            strands.start_kind[piece] = StartKind::AfterHandoff;
            let end_kind = &mut strands.end_kind[whole];
            let end_kind = std::mem::replace(end_kind, EndKind::Handoff);
            strands.end_kind[piece] = end_kind;
            strands.to[piece] = strands.to[whole];
        }
    }
}

/// Moves each value to its place in a column of `total` values; places are ascending.
fn spread<T: Copy + Default>(column: &mut Vec<T>, place: &[StrandId], total: usize) {
    column.resize(total, T::default());
    for (from, &to) in place.iter().enumerate().rev() {
        column[to as usize] = column[from];
    }
}
