//! Waits as edges (MODEL.md §2).
//!
//! A thread that waits for a lock, a condition variable or the like stays in its strand, and so
//! does the thread that ends the wait. Where the process told both, the two strands are cut: that
//! of the waiting thread where the wait ended, the other one's where it released the object. A
//! signal edge leads from the first piece of one to the second piece of the other.
//!
//! ```text
//! holder  ──────────── held ────────────┤ released, goes on ──────────▶
//!                                        ╲ signal edge
//! waiter  ──────── waits, blocked ─────────┤ has the lock ─────────────▶
//! ```
//!
//! The pieces of one strand lie end to end, so they weigh together what it weighed.

use crate::dag::{Dag, EndKind, NONE, Region, StartKind, StrandId, ThreadId};
use crate::samples::{Stop, Waited, WaitedFor};
use crate::wait_kinds::WaitKinds;

/// An edge from the strand that ended a wait to the one that goes on after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handoff {
    /// Goes on after the wait.
    pub to: StrandId,
    /// Ends where it released what was waited for.
    pub from: StrandId,
    /// The wait: an index into [`crate::Samples::stops`].
    pub stop: u32,
    /// Another order was possible ([`WaitKinds::is_order`]).
    pub is_order: bool,
}

/// The handoffs of a run, and what they cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Handoffs {
    /// By [`Handoff::to`].
    pub list: Vec<Handoff>,
    /// Of each piece of a cut strand, ascending: the piece, the first and the last of its strand.
    pieces: Vec<(StrandId, StrandId, StrandId)>,
}

impl Handoffs {
    /// Those that lead to strand `s`.
    pub fn to(&self, s: StrandId) -> &[Handoff] {
        let first = self.list.partition_point(|handoff| handoff.to < s);
        let there = &self.list[first..];
        &there[..there.partition_point(|handoff| handoff.to == s)]
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The first and the last piece of the strand that `s` is a piece of.
    pub fn whole(&self, s: StrandId) -> (StrandId, StrandId) {
        let found = self.pieces.binary_search_by_key(&s, |piece| piece.0);
        found.map_or((s, s), |i| (self.pieces[i].1, self.pieces[i].2))
    }
}

/// A strand is cut at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cut {
    strand: StrandId,
    t: u64,
}

/// A handoff before strands are cut: both ends as cuts.
struct Ends {
    from: Cut,
    to: Cut,
    stop: u32,
    is_order: bool,
}

/// Cuts the strands of `dag` at the waits that another thread ended, and connects the pieces. O(n)
/// where there are any, and O(m log m) for m waits.
pub(crate) fn connect(dag: &mut Dag) {
    let ends = ends(dag);
    if ends.is_empty() {
        return;
    }
    let mut cuts: Vec<Cut> = ends.iter().flat_map(|ends| [ends.from, ends.to]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let pieces = Pieces::new(dag, &cuts);
    pieces.renumber(dag);
    dag.handoffs.pieces = pieces.wholes();
    dag.handoffs.list = ends
        .iter()
        .map(|ends| Handoff {
            to: pieces.after(ends.to),
            from: pieces.before(ends.from),
            stop: ends.stop,
            is_order: ends.is_order,
        })
        .collect();
    dag.handoffs.list.sort_unstable();
}

/// The handoffs of which both strands are known and can be cut.
fn ends(dag: &Dag) -> Vec<Ends> {
    // Nobody ends a sleep, and of I/O the other end is not known.
    let is_told = |wait: &Waited| {
        let is_ended = !matches!(wait.kind, WaitedFor::Sleep | WaitedFor::Io);
        is_ended && wait.object != 0 && wait.by != NONE
    };
    let told = |stop: &&Stop| stop.wait.is_some_and(|wait| is_told(&wait));
    if !dag.samples.stops.iter().any(|stop| told(&stop)) {
        return Vec::new();
    }
    // When and where each wait was ended, by time.
    let mut releases: Vec<(u64, ThreadId, u32)> = Vec::new();
    for (i, stop) in (0..).zip(&dag.samples.stops) {
        if let Some(wait) = stop.wait.filter(is_told)
            && wait.by != stop.thread
        {
            let held = wait.held.min(stop.ticks);
            releases.push((stop.t.saturating_add(held), wait.by, i));
        }
    }
    releases.sort_unstable();
    let has_counters = |s: StrandId| {
        let mut counters = dag.counters.iter();
        counters.any(|c| c.values.binary_search_by_key(&s, |v| v.0).is_ok())
    };
    let is_inside = |cut: Cut| {
        let i = cut.strand as usize;
        let strands = &dag.strands;
        // What a folded strand stands for, and a counter's value, can't be divided.
        cut.strand != NONE
            && strands.start[i] < cut.t
            && cut.t < strands.end[i]
            && !dag.folded.has(cut.strand)
            && !has_counters(cut.strand)
    };
    let mut kinds = WaitKinds::new(&dag.samples);
    let mut running = Running::new(dag);
    let mut ends = Vec::new();
    for (t, by, i) in releases {
        let stop = &dag.samples.stops[i as usize];
        let to = Cut {
            strand: stop.strand,
            t: stop.t.saturating_add(stop.ticks),
        };
        let from = Cut {
            strand: running.at(t, by),
            t,
        };
        if is_inside(to) && is_inside(from) {
            let is_order = |wait| kinds.is_order(stop.stack, wait);
            ends.push(Ends {
                from,
                to,
                stop: i,
                is_order: stop.wait.as_ref().is_some_and(is_order),
            });
        }
    }
    ends
}

/// What threads run, asked by rising time.
struct Running<'a> {
    dag: &'a Dag,
    next: usize,
    /// The strand that began last on each thread.
    last: Vec<StrandId>,
}

impl Running<'_> {
    fn new(dag: &Dag) -> Running<'_> {
        let threads = dag.strands.thread.iter().max();
        Running {
            dag,
            next: 0,
            last: vec![NONE; threads.map_or(0, |&t| t as usize + 1)],
        }
    }

    /// The last strand of `thread` that began before `t`; [`NONE`] for none.
    fn at(&mut self, t: u64, thread: ThreadId) -> StrandId {
        let strands = &self.dag.strands;
        while self.next < strands.len() && strands.start[self.next] < t {
            if strands.end[self.next] > strands.start[self.next] {
                self.last[strands.thread[self.next] as usize] = self.next as u32;
            }
            self.next += 1;
        }
        self.last.get(thread as usize).copied().unwrap_or(NONE)
    }
}

/// How strands are numbered once some are cut. They stay in the order of their starts; of those
/// that start at one tick the second pieces come first, as what follows from them starts later.
struct Pieces {
    /// The cuts, by strand, then time.
    cuts: Vec<Cut>,
    /// The number of the piece after each cut.
    after: Vec<StrandId>,
    /// Start of the strands, to count the pieces before each.
    starts: Vec<u64>,
    /// Times of the cuts, ascending.
    times: Vec<u64>,
}

impl Pieces {
    fn new(dag: &Dag, cuts: &[Cut]) -> Pieces {
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

    /// The new number of a strand, of a cut one the number of its first piece.
    fn first(&self, s: StrandId) -> StrandId {
        if s == NONE {
            return NONE;
        }
        let start = self.starts[s as usize];
        s + self.times.partition_point(|&t| t <= start) as u32
    }

    /// The number of the last piece of a strand.
    fn last(&self, s: StrandId) -> StrandId {
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
    fn after(&self, cut: Cut) -> StrandId {
        self.cuts
            .binary_search(&cut)
            .map_or(NONE, |i| self.after[i])
    }

    /// The piece that ends at a cut.
    fn before(&self, cut: Cut) -> StrandId {
        self.at(cut.strand, cut.t)
    }

    /// Each piece with the first and the last of its strand, ascending.
    fn wholes(&self) -> Vec<(StrandId, StrandId, StrandId)> {
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

    /// Inserts the pieces and gives every strand its new number.
    fn renumber(&self, dag: &mut Dag) {
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
            // A region that ends at a cut has nothing in the later piece, one that begins there
            // nothing in the earlier, so either will do.
            (begin.0, end.0) = (self.at(begin.0, begin.1), self.at(end.0, end.1));
        }
        let values = dag.counters.iter_mut().flat_map(|c| &mut c.values);
        values.for_each(|value| value.0 = self.first(value.0));
        dag.folded.renumber(|s| *s = self.first(*s));
        for unrecorded in &mut dag.unrecorded {
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

    /// The strands' columns with the pieces between them.
    fn insert(&self, dag: &mut Dag) {
        let strands = &mut dag.strands;
        let (old, total) = (strands.len(), strands.len() + self.cuts.len());
        // Where the strands go; the pieces take the numbers that are left.
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
