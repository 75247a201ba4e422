//! Waits as edges (MODEL.md §2).
//!
//! A thread that waits for a lock, a condition variable or the like stays in its strand, and so
//! does the thread that ends the wait. If the process reported both, the two strands are cut: the
//! waiting thread's where the wait ended, and the other thread's where it released the object. A
//! signal edge leads from the first piece of one to the second piece of the other.
//!
//! ```text
//! holder  ──────────── held ────────────┤ released, goes on ──────────▶
//!                                        ╲ signal edge
//! waiter  ──────── waits, blocked ─────────┤ has the lock ─────────────▶
//! ```
//!
//! The pieces of a strand lie end to end, so their weights add up to the strand's.

mod pieces;

use std::collections::BTreeSet;

use crate::dag::{Dag, NONE, StrandId, ThreadId};
use crate::samples::{Running, Stop, WaitCause, WaitedFor};
use crate::wait_kinds::WaitKinds;
pub(crate) use pieces::Pieces;

/// An edge from the strand that ended a wait to the strand that continues after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handoff {
    /// The strand that continues after the wait.
    pub to: StrandId,
    /// The strand that ends where it released the object of the wait.
    pub from: StrandId,
    /// The wait: an index into [`crate::Samples::stops`].
    pub stop: u32,
    /// Whether another order was possible ([`WaitKinds::is_order`]).
    pub is_order: bool,
}

/// The handoffs of a run, and the strands that they cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Handoffs {
    /// The handoffs, by [`Handoff::to`].
    pub list: Vec<Handoff>,
    /// For each piece of a cut strand, ascending: the piece, and the first and last piece of its
    /// strand.
    pieces: Vec<(StrandId, StrandId, StrandId)>,
}

impl Handoffs {
    /// The handoffs that lead to strand `s`.
    pub fn to(&self, s: StrandId) -> &[Handoff] {
        let first = self.list.partition_point(|handoff| handoff.to < s);
        let there = &self.list[first..];
        &there[..there.partition_point(|handoff| handoff.to == s)]
    }

    /// True if no strand was cut.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The first and the last piece of the strand that `s` is a piece of.
    pub fn whole(&self, s: StrandId) -> (StrandId, StrandId) {
        let found = self.pieces.binary_search_by_key(&s, |piece| piece.0);
        found.map_or((s, s), |i| (self.pieces[i].1, self.pieces[i].2))
    }

    /// Renumbers the strands after they were cut further into `pieces`.
    pub(crate) fn renumber(&mut self, pieces: &Pieces) {
        for handoff in &mut self.list {
            handoff.to = pieces.first(handoff.to);
            handoff.from = pieces.last(handoff.from);
        }
        let mut all = Vec::new();
        for &(piece, first, last) in &self.pieces {
            let whole = (pieces.first(first), pieces.last(last));
            all.extend(pieces.of(piece).map(|own| (own, whole.0, whole.1)));
        }
        // An earlier piece still belongs to the same whole strand.
        let known: BTreeSet<StrandId> = all.iter().map(|entry| entry.0).collect();
        let cut = pieces.wholes().into_iter();
        all.extend(cut.filter(|entry| !known.contains(&entry.0)));
        all.sort_unstable();
        self.pieces = all;
    }

    /// Gives strands other numbers; a strand that is left out gets `NONE`.
    pub(crate) fn place(&mut self, number: impl Fn(StrandId) -> StrandId) {
        for handoff in &mut self.list {
            (handoff.to, handoff.from) = (number(handoff.to), number(handoff.from));
        }
        self.list
            .retain(|handoff| handoff.to != NONE && handoff.from != NONE);
        self.list.sort_unstable();
        for piece in &mut self.pieces {
            *piece = (number(piece.0), number(piece.1), number(piece.2));
        }
        self.pieces.retain(|piece| piece.0 != NONE);
        self.pieces.sort_unstable();
    }
}

/// A time at which a strand is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cut {
    pub(crate) strand: StrandId,
    pub(crate) t: u64,
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

/// The handoffs whose two strands are known and can be cut.
fn ends(dag: &Dag) -> Vec<Ends> {
    // No thread ends a sleep, and for I/O the other end is not known.
    let is_known_end = |wait: &WaitCause| {
        let is_ended = !matches!(wait.kind, WaitedFor::Sleep | WaitedFor::Io);
        is_ended && wait.object != 0 && wait.by != NONE
    };
    let has_known_end = |stop: &&Stop| stop.wait.is_some_and(|wait| is_known_end(&wait));
    if !dag.samples.stops.iter().any(|stop| has_known_end(&stop)) {
        return Vec::new();
    }
    // The time and place of the release that ended each wait, by time.
    let mut releases: Vec<(u64, ThreadId, u32)> = Vec::new();
    for (i, stop) in (0..).zip(&dag.samples.stops) {
        if let Some(wait) = stop.wait.filter(is_known_end)
            && wait.by != stop.thread
            && !stop.waits_on()
        {
            releases.push((stop.t.saturating_add(wait.held), wait.by, i));
        }
    }
    releases.sort_unstable();
    let is_inside = |cut: Cut| {
        let i = cut.strand as usize;
        let strands = &dag.strands;
        cut.strand != NONE
            && strands.start[i] < cut.t
            && cut.t < strands.end[i]
            && dag.is_divisible(cut.strand)
    };
    let mut kinds = WaitKinds::new(&dag.samples);
    let mut running = Running::new(&dag.strands, dag.meta.threads, false);
    let mut ends = Vec::new();
    for (t, by, i) in releases {
        let stop = &dag.samples.stops[i as usize];
        let to = Cut {
            strand: stop.strand,
            t: stop.t.saturating_add(stop.ticks),
        };
        let from = Cut {
            // The strand that runs until then.
            strand: running.at(t.saturating_sub(1), by),
            t,
        };
        if is_inside(to) && is_inside(from) {
            ends.push(Ends {
                from,
                to,
                stop: i,
                is_order: kinds.is_order(stop),
            });
        }
    }
    ends
}
