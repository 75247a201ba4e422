//! Waits inside strands, and the threads that ended them (MODEL.md §1).

use serde_json::json;
use workspan_dag::{NONE, StrandId, ThreadId, WaitKind, WaitKinds};

use super::{Source, Tile};
use crate::planes::Planes;
use crate::run::RunModel;

/// Maximum number of waits drawn one by one; if there are more, the longest are drawn.
const MAX_WAITS: usize = 2000;

/// The kinds of waits, in the order of their numbers in answers. No thread ends a sleep, and for
/// I/O the other end is not known.
const KINDS: [WaitKind; 6] = [
    WaitKind::Lock,
    WaitKind::Channel,
    WaitKind::Condition,
    WaitKind::Barrier,
    WaitKind::Bridge,
    WaitKind::Other,
];

/// A wait of a thread inside a strand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// The begin and the end of the time in which the thread was off the CPU, in ticks.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The thread that waited.
    pub(crate) thread: ThreadId,
    /// The strand that the thread waited in.
    pub(crate) strand: StrandId,
    /// The kind, one of [`KINDS`].
    pub(crate) kind: WaitKind,
    /// Index into `Dag::samples.stops`.
    pub(crate) stop: u32,
    /// The thread that ended the wait, the time, and the strand it ran; [`NONE`] if unknown.
    pub(crate) by: ThreadId,
    pub(crate) released: u64,
    pub(crate) by_strand: StrandId,
    /// Whether the strand that waited and the one that ended the wait are on the critical path.
    pub(crate) critical: bool,
}

/// The waits of a run.
#[derive(Debug)]
pub(crate) struct Waits {
    /// The waits, in the order of their starts.
    list: Vec<Wait>,
    /// Length of the longest wait, in ticks.
    longest: u64,
    /// The waits with a known end, as indices into `list`, sorted by the strand that ended them.
    ended: Vec<(StrandId, u32)>,
}

impl Waits {
    pub(super) fn new(model: &RunModel, source: &Source) -> Waits {
        let dag = &*model.dag;
        let mut kinds = WaitKinds::new(&dag.samples);
        let mut list = Vec::new();
        for (number, stop) in (0..).zip(&dag.samples.stops) {
            let kind = kinds.of(stop);
            // Stops of other kinds count as waits only if it is known which thread ended them.
            let is_told = kind != WaitKind::Other || stop.wait.is_some();
            if !KINDS.contains(&kind) || !is_told {
                continue;
            }
            let by = stop.wait.map_or(NONE, |wait| wait.by);
            let held = stop.wait.map_or(stop.ticks, |wait| wait.held);
            let released = stop.t.saturating_add(held.min(stop.ticks));
            list.push(Wait {
                start: stop.t,
                end: stop.t.saturating_add(stop.ticks),
                thread: stop.thread,
                strand: stop.strand,
                kind,
                stop: number,
                by,
                released,
                by_strand: NONE,
                critical: false,
            });
        }
        for wait in &mut list {
            if wait.by == NONE || wait.by >= dag.meta.threads {
                continue;
            }
            // Strands of a thread are in the order of their starts and do not overlap.
            let own = source.strands_of(wait.by);
            let begun = own.partition_point(|&s| dag.strands.start[s as usize] < wait.released);
            let last = begun.checked_sub(1).map(|i| own[i]);
            let runs = last.filter(|&s| dag.strands.end[s as usize] >= wait.released);
            wait.by_strand = runs.unwrap_or(NONE);
        }
        let mut handoffs: Vec<_> = dag.handoffs.list.iter().map(|h| (h.stop, h)).collect();
        handoffs.sort_unstable_by_key(|h| h.0);
        for wait in &mut list {
            let Ok(at) = handoffs.binary_search_by_key(&wait.stop, |h| h.0) else {
                continue;
            };
            let handoff = handoffs[at].1;
            wait.by_strand = handoff.from;
            wait.critical = model.critical(handoff.from) && model.critical(handoff.to);
        }
        list.sort_by_key(|wait| wait.start);
        let mut ended: Vec<(StrandId, u32)> = (0..)
            .zip(&list)
            .filter(|(_, wait)| wait.by_strand != NONE)
            .map(|(i, wait)| (wait.by_strand, i))
            .collect();
        ended.sort_unstable();
        Waits {
            longest: list.iter().map(|w| w.end - w.start).max().unwrap_or(0),
            list,
            ended,
        }
    }

    /// Number of waits for which the thread that ended them is known.
    pub(crate) fn told(&self) -> usize {
        self.ended.len()
    }

    /// Waits inside strand `s`, longest first.
    pub(crate) fn inside(&self, model: &RunModel, s: StrandId) -> Vec<&Wait> {
        let strands = &model.dag.strands;
        let (from, to) = (strands.start[s as usize], strands.end[s as usize]);
        let first = self.list.partition_point(|wait| wait.start < from);
        let begun = self.list[first..].iter().take_while(|w| w.start <= to);
        let mut own: Vec<&Wait> = begun.filter(|wait| wait.strand == s).collect();
        own.sort_by_key(|wait| std::cmp::Reverse(wait.end - wait.start));
        own
    }

    /// Waits that strand `s` ended, longest first.
    pub(crate) fn ended_by(&self, s: StrandId) -> Vec<&Wait> {
        let first = self.ended.partition_point(|e| e.0 < s);
        let own = self.ended[first..].iter().take_while(|e| e.0 == s);
        let mut own: Vec<&Wait> = own.map(|e| &self.list[e.1 as usize]).collect();
        own.sort_by_key(|wait| std::cmp::Reverse(wait.end - wait.start));
        own
    }

    /// The waits in the time of a tile.
    pub(super) fn tile(&self, model: &RunModel, tile: Tile) -> Planes {
        let begin = tile.begin(model);
        let end = begin.saturating_add(tile.ticks());
        let from = begin.saturating_sub(self.longest);
        let first = self.list.partition_point(|wait| wait.start < from);
        let begun = self.list[first..].iter().take_while(|w| w.start < end);
        let mut shown: Vec<&Wait> = begun.filter(|wait| wait.end >= begin).collect();
        let total = shown.len();
        if total > MAX_WAITS {
            shown.sort_by_key(|wait| std::cmp::Reverse((wait.critical, wait.end - wait.start)));
            shown.truncate(MAX_WAITS);
            shown.sort_by_key(|wait| wait.start);
        }
        let mut planes = Planes::new();
        planes.fact("total", total);
        planes.fact("truncated", total > shown.len());
        planes.fact("kinds", json!(KINDS.map(WaitKind::name)));
        let since = |t: u64| t.saturating_sub(model.begin) as f64;
        let row = |thread: ThreadId| match thread {
            NONE => u16::MAX,
            thread => model.rows.of(thread),
        };
        planes.plane("row", shown.iter().map(|w| row(w.thread)));
        planes.plane("start", shown.iter().map(|w| since(w.start)));
        planes.plane("end", shown.iter().map(|w| since(w.end)));
        let number = |w: &&Wait| KINDS.iter().position(|&kind| kind == w.kind);
        planes.plane("kind", shown.iter().map(|w| number(w).unwrap_or(0) as u8));
        planes.plane("strand", shown.iter().map(|w| w.strand));
        planes.plane("by_row", shown.iter().map(|w| row(w.by)));
        planes.plane("released", shown.iter().map(|w| since(w.released)));
        planes.plane("by_strand", shown.iter().map(|w| w.by_strand));
        planes.plane("critical", shown.iter().map(|w| u8::from(w.critical)));
        planes
    }
}
