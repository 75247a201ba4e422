//! The exact boxes of a tile.

use std::cmp::Reverse;

use workspan_analysis::is_buried;
use workspan_dag::{Dag, EdgeKind, NONE, StrandId};

use super::{Index, TILE_BINS, Tile};
use crate::planes::Planes;
use crate::run::RunModel;

/// Maximum number of boxes in an answer.
const MAX_BOXES: usize = 8192;

/// Maximum number of strands that are inspected one by one.
const MAX_INSPECTED: usize = 65_536;

/// Strands of a tile, ascending.
pub(super) struct InTile {
    /// Number of strands that touch the tile.
    total: usize,
    shown: Vec<StrandId>,
}

/// The strands that touch a tile; if they are too many, the longest ones. If more than
/// [`MAX_INSPECTED`] touch it, only those are inspected that are longest in some bin of their row.
/// They include every strand of at least two bins.
pub(super) fn in_tile(model: &RunModel, index: &Index, tile: Tile) -> InTile {
    let dag = &*model.dag;
    let (starts, ends) = (&dag.strands.start, &dag.strands.end);
    let begin = tile.begin(model);
    let last = begin.saturating_add(tile.ticks() - 1);
    let mut ranges: Vec<&[StrandId]> = Vec::new();
    for &thread in &model.rows.threads {
        let strands = index.source.strands_of(thread);
        let first = strands.partition_point(|&s| ends[s as usize] <= begin);
        let after = strands.partition_point(|&s| starts[s as usize] <= last);
        ranges.push(&strands[first..after.max(first)]);
        let instants = index.source.instants_of(thread);
        let first = instants.partition_point(|&s| starts[s as usize] < begin);
        let after = instants.partition_point(|&s| starts[s as usize] <= last);
        ranges.push(&instants[first..after.max(first)]);
    }
    let total = ranges.iter().map(|range| range.len()).sum();
    let mut shown: Vec<StrandId> = if total <= MAX_INSPECTED {
        ranges.concat()
    } else {
        let drawn = index
            .pyramid
            .tile(model, &index.source, tile.level, tile.index);
        let bins = drawn.seen.iter().flatten();
        let longest = bins.map(|seen| seen.strand).filter(|&s| s != NONE);
        longest.collect()
    };
    shown.sort_unstable();
    shown.dedup();
    if shown.len() > MAX_BOXES {
        let length = |s: StrandId| ends[s as usize] - starts[s as usize];
        shown.select_nth_unstable_by_key(MAX_BOXES, |&s| (Reverse(length(s)), s));
        shown.truncate(MAX_BOXES);
        shown.sort_unstable();
    }
    debug_assert!(total > MAX_INSPECTED || tile.bin() > 0 && TILE_BINS > 0);
    InTile { total, shown }
}

/// The properties of a box, as bits.
const CRITICAL: u8 = 1;
const READY_PATH: u8 = 2;
const STOLEN: u8 = 4;
/// The strand stands for a subtree.
pub(crate) const FOLDED: u8 = 8;
const BURIED: u8 = 16;
const FIRST: u8 = 32;
/// The trace has only sums of that subtree.
pub(crate) const SUMS_ALONE: u8 = 64;

pub(super) fn planes(model: &RunModel, index: &Index, tile: &InTile) -> Planes {
    let dag = &*model.dag;
    let strands = &dag.strands;
    let all = || tile.shown.iter().copied();
    let since = |t: u64| t.saturating_sub(model.begin) as f64;
    let task = |s: StrandId| strands.task[s as usize];
    let ready: Vec<Option<(u64, EdgeKind)>> = all().map(|s| model.ready(s)).collect();
    let flags = |(s, ready): (StrandId, &Option<(u64, EdgeKind)>)| {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let buried = ready.is_some_and(|r| buried(model, index, s, r.0));
        flag(model.critical(s), CRITICAL)
            | flag(index.source.on_ready_path(s), READY_PATH)
            | flag(index.arcs.victim(s).is_some(), STOLEN)
            | flag(dag.folded.has(s), FOLDED)
            | flag(sums_alone(dag, s), SUMS_ALONE)
            | flag(buried, BURIED)
            | flag(dag.tasks.first[task(s) as usize] == s, FIRST)
    };
    let mut planes = Planes::new();
    planes.fact("total", tile.total);
    planes.fact("truncated", tile.total > tile.shown.len());
    planes.plane("id", all());
    let row = |s: StrandId| model.rows.of(strands.thread[s as usize]);
    planes.plane("row", all().map(row));
    planes.plane("start", all().map(|s| since(strands.start[s as usize])));
    planes.plane("end", all().map(|s| since(strands.end[s as usize])));
    planes.plane("task", all().map(task));
    planes.plane("code", all().map(|s| model.codes.of(s)));
    let site = |s: StrandId| model.sites.of(dag.tasks.site[task(s) as usize]);
    planes.plane("site", all().map(site));
    let level = |s: StrandId| dag.tasks.level[task(s) as usize];
    let narrow = |level: u32| u16::try_from(level).unwrap_or(u16::MAX);
    planes.plane("level", all().map(|s| narrow(level(s))));
    planes.plane("flags", all().zip(&ready).map(flags));
    planes.plane("creates", all().map(|s| index.source.creates(s)));
    planes.plane("end_kind", all().map(|s| end_kind(model, s)));
    let ready = ready.iter().map(|r| r.map_or(f64::NAN, |r| since(r.0)));
    planes.plane("ready", ready);
    if !model.sizes.is_empty() {
        let size = |s| model.sizes.of_strand(dag, s);
        planes.plane(
            "size",
            all().map(|s| size(s).map_or(f64::NAN, |n| n as f64)),
        );
    }
    planes
}

/// Whether the trace has only sums of the subtree that strand `s` stands for.
pub(crate) fn sums_alone(dag: &Dag, s: StrandId) -> bool {
    let looked_into =
        |s| dag.meta.read_folding.is_some() && dag.fold_of(s).is_some_and(|f| f.source.is_some());
    dag.folded.has(s) && !looked_into(s)
}

/// The number in the contract of what ended a strand: create, wait, yield, signal, end.
pub(crate) fn end_kind(model: &RunModel, s: StrandId) -> u8 {
    model.dag.strands.end_kind[s as usize] as u8
}

/// Whether strand `s`, which became ready at `ready`, was buried (MODEL.md §5).
pub(crate) fn buried(model: &RunModel, index: &Index, s: StrandId, ready: u64) -> bool {
    let strands = &model.dag.strands;
    let (thread, start) = (strands.thread[s as usize], strands.start[s as usize]);
    let on_thread = index.source.strands_of(thread);
    let before = on_thread.partition_point(|&b| strands.start[b as usize] < start);
    let last = before.checked_sub(1).map(|i| on_thread[i]);
    let ran_until = last.map_or(0, |b| strands.end[b as usize]);
    is_buried(&model.dag, s, ready, ran_until)
}
