//! Tiles of the timeline: the run in bins at any resolution, exact boxes, steals and paths
//! (`ui/src/data/contract.ts`).
//!
//! A [`window`] computes a stretch of the run in bins from the strands; the [`pyramid`] stores the
//! bins of stretches with too many strands to be computed at each request.

mod arcs;
mod cell;
pub(crate) mod events;
mod free_rows;
mod load;
mod path;
mod pyramid;
mod queues;
mod strands;
mod waits;
mod window;

use workspan_analysis::BusyTime;

use crate::api_error::ApiError;
use crate::planes::Planes;
use crate::run::{Run, RunModel};
use arcs::Arcs;
use cell::CellBytes;
pub(crate) use cell::{narrow, share};
use events::Events;
use path::Pieces;
use pyramid::Pyramid;
pub(crate) use strands::{FOLDED, SUMS_ALONE, sums_alone};
pub(crate) use waits::{Wait, Waits};
pub(crate) use window::Source;

/// Number of bins of a tile.
pub const TILE_BINS: u64 = 1024;

/// A tile: ticks [index·1024·2^level, (index + 1)·1024·2^level) of the run, from its begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Each bin has 2^level ticks.
    pub level: u32,
    /// The tile's index among those of its level.
    pub index: u64,
}

impl Tile {
    /// Creates a tile of the run.
    ///
    /// # Errors
    /// The tile lies outside the run.
    pub fn new(model: &RunModel, level: u32, index: u64) -> Result<Tile, ApiError> {
        if level > model.top_level() || index > (model.elapsed() / TILE_BINS) >> level {
            return Err(ApiError::not_found("There is no such tile in this run."));
        }
        Ok(Tile { level, index })
    }

    /// First tick of the tile, in absolute ticks like the DAG's times.
    pub fn begin(&self, model: &RunModel) -> u64 {
        model.begin + self.index * self.ticks()
    }

    /// Number of ticks of a bin.
    pub fn bin(&self) -> u64 {
        1 << self.level
    }

    /// Number of ticks of the tile.
    pub fn ticks(&self) -> u64 {
        TILE_BINS.saturating_mul(self.bin())
    }
}

/// The two paths that tiles can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// The critical path (MODEL.md §3).
    Critical,
    /// The ready path (MODEL.md §5).
    Ready,
}

/// The data that tiles are made from.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) source: Source,
    pyramid: Pyramid,
    pub(crate) arcs: Arcs,
    pub(crate) waits: Waits,
    events: Events,
    critical: Pieces,
    ready: Pieces,
    busy: BusyTime,
}

impl Index {
    /// Builds the index of a run: O(n log n).
    pub(crate) fn new(model: &RunModel) -> Index {
        let source = Source::new(model);
        let critical = (0..model.dag.strands.len() as u32).filter(|&s| model.critical(s));
        let path = &source.index.ready_path().strands;
        Index {
            pyramid: Pyramid::new(model, &source),
            arcs: Arcs::new(model),
            waits: Waits::new(model, &source),
            events: Events::new(model),
            critical: Pieces::new(model, critical.collect()),
            ready: Pieces::new(model, path.iter().map(|s| s.0).collect()),
            busy: BusyTime::new(&model.dag, &source.index),
            source,
        }
    }

    /// Mean number of strands on the CPU in [from, to), which are absolute ticks.
    pub(crate) fn mean_busy(&self, model: &RunModel, from: u64, to: u64) -> f64 {
        let index = &self.source.index;
        self.busy.mean(&model.dag, index, from, to)
    }
}

/// Names of the profile's planes.
const PROFILE: [&str; window::PROFILE] = [
    "running",
    "ready_create",
    "ready_create_continuation",
    "ready_wait_continuation",
    "ready_yield_continuation",
    "ready_end",
    "ready_depend",
    "ready_signal",
    "delay",
    "no_work_sched",
    "no_work_app",
    "descheduled",
    "blocked",
    "unread",
];

/// Names of the planes for time in which workers were free.
const LOST: [&str; 4] = ["delay", "no_work_sched", "no_work_app", "unread"];

/// `profile`: running, ready and lost time in each bin.
pub(crate) fn profile(run: &Run, (level, at): (u32, u64)) -> Result<Planes, ApiError> {
    if let Some(overview) = run.overview() {
        return Ok(overview.profile(overview.tile(level, at)?, &PROFILE));
    }
    let tile = Tile::new(run.model()?, level, at)?;
    let (model, index) = (run.model()?, run.timeline()?);
    let drawn = index
        .pyramid
        .tile(model, &index.source, tile.level, tile.index);
    let mut planes = Planes::new();
    for (i, name) in PROFILE.into_iter().enumerate() {
        // For a part of a run it is not known why its workers were idle meanwhile.
        let told = !(run.is_part() && LOST.contains(&name));
        let value = |bin: &[f32; window::PROFILE]| if told { bin[i] } else { 0.0 };
        planes.plane(name, drawn.profile.iter().map(value));
    }
    Ok(planes)
}

/// `rows`: what each row did in each bin.
pub(crate) fn rows(run: &Run, (level, at): (u32, u64)) -> Result<Planes, ApiError> {
    if let Some(overview) = run.overview() {
        return Ok(overview.rows(overview.tile(level, at)?));
    }
    let tile = Tile::new(run.model()?, level, at)?;
    let (model, index) = (run.model()?, run.timeline()?);
    let drawn = index
        .pyramid
        .tile(model, &index.source, tile.level, tile.index);
    let mut planes = Planes::new();
    let seen = || drawn.seen.iter().flatten();
    let shares = |i: usize| seen().map(move |s: &CellBytes| s.shares[i]);
    planes.plane("work", shares(0));
    planes.plane("descheduled", shares(1));
    planes.plane("blocked", shares(2));
    planes.plane("strands", seen().map(|s| s.strands));
    planes.plane("creates", seen().map(|s| s.creates));
    planes.plane("strand", seen().map(|s| s.strand));
    planes.plane("code", seen().map(|s| s.code));
    planes.plane("site", seen().map(|s| s.site));
    planes.plane("level", seen().map(|s| s.level));
    if index.events.has_queue {
        planes.plane("queue", index.events.queue(model, tile));
    }
    if index.events.has_cpu {
        planes.plane("cpu", index.events.cpu(model, tile));
    }
    if index.events.has_attempts {
        planes.plane("failed", index.events.failed(model, tile));
    }
    if index.events.has_sleeps {
        planes.plane("asleep", index.events.asleep(model, tile));
    }
    let rest = [
        "critical",
        "ready_path",
        "delay",
        "no_work_sched",
        "no_work_app",
        "unread",
    ];
    for (i, name) in (3..).zip(rest) {
        let told = !(run.is_part() && LOST.contains(&name));
        planes.plane(name, shares(i).map(|share| if told { share } else { 0 }));
    }
    Ok(planes)
}

/// `strands`: the exact boxes of a tile.
pub(crate) fn strands(run: &Run, tile: Tile) -> Result<Planes, ApiError> {
    let (model, index) = (run.model()?, run.timeline()?);
    let candidates = strands::in_tile(model, index, tile);
    Ok(strands::planes(model, index, &candidates))
}

/// `arcs`: the steals of a tile.
pub(crate) fn arcs(run: &Run, tile: Tile) -> Result<Planes, ApiError> {
    let (model, index) = (run.model()?, run.timeline()?);
    Ok(index.arcs.tile(model, tile))
}

/// `waits`: the waits of a tile.
pub(crate) fn waits(run: &Run, tile: Tile) -> Result<Planes, ApiError> {
    let (model, index) = (run.model()?, run.timeline()?);
    Ok(index.waits.tile(model, tile))
}

/// `path`: the pieces of a path in a tile.
pub(crate) fn path(run: &Run, kind: PathKind, tile: Tile) -> Result<Planes, ApiError> {
    let (model, index) = (run.model()?, run.timeline()?);
    let pieces = match kind {
        PathKind::Critical => &index.critical,
        PathKind::Ready => &index.ready,
    };
    Ok(pieces.tile(model, tile))
}
