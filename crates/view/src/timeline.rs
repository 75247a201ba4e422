//! Tiles of the timeline: the run in bins at any resolution, exact boxes, steals and paths
//! (`ui/src/data/contract.ts`).
//!
//! One [`window`] computes any stretch of the run in bins from the strands; the [`pyramid`] keeps
//! those that hold too much to be computed when asked for.

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
use crate::run::{Picture, Run};
use arcs::Arcs;
use cell::CellBytes;
pub(crate) use cell::{narrow, share};
use events::Events;
use path::Pieces;
use pyramid::Pyramid;
pub(crate) use strands::{FOLDED, SUMS_ALONE, sums_alone};
pub(crate) use waits::{Wait, Waits};
pub(crate) use window::Source;

/// Bins of a tile.
pub const TILE_BINS: u64 = 1024;

/// A tile: ticks [index·1024·2^level, (index + 1)·1024·2^level) of the run, from its begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// 2^level ticks a bin.
    pub level: u32,
    /// Which of that level.
    pub index: u64,
}

impl Tile {
    /// A tile of the run.
    ///
    /// # Errors
    /// It lies outside of it.
    pub fn new(picture: &Picture, level: u32, index: u64) -> Result<Tile, ApiError> {
        if level > picture.top_level() || index > (picture.elapsed() / TILE_BINS) >> level {
            return Err(ApiError::not_found("There is no such tile in this run."));
        }
        Ok(Tile { level, index })
    }

    /// Its first tick, absolute, as the DAG's times are.
    pub fn begin(&self, picture: &Picture) -> u64 {
        picture.begin + self.index * self.ticks()
    }

    /// Ticks of a bin.
    pub fn bin(&self) -> u64 {
        1 << self.level
    }

    /// Ticks of the tile.
    pub fn ticks(&self) -> u64 {
        TILE_BINS.saturating_mul(self.bin())
    }
}

/// Which path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// MODEL.md §3.
    Critical,
    /// MODEL.md §5.
    Ready,
}

/// What tiles are made from.
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
    /// Once for each run: O(n log n).
    pub(crate) fn new(picture: &Picture) -> Index {
        let source = Source::new(picture);
        let critical = (0..picture.dag.strands.len() as u32).filter(|&s| picture.critical(s));
        let path = &source.index.ready_path().strands;
        Index {
            pyramid: Pyramid::new(picture, &source),
            arcs: Arcs::new(picture),
            waits: Waits::new(picture, &source),
            events: Events::new(picture),
            critical: Pieces::new(picture, critical.collect()),
            ready: Pieces::new(picture, path.iter().map(|s| s.0).collect()),
            busy: BusyTime::new(&picture.dag, &source.index),
            source,
        }
    }

    /// Mean number of strands that are on the CPU in [from, to), absolute ticks.
    pub(crate) fn mean_busy(&self, picture: &Picture, from: u64, to: u64) -> f64 {
        let index = &self.source.index;
        self.busy.mean(&picture.dag, index, from, to)
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

/// Those of time in which workers were free.
const LOST: [&str; 4] = ["delay", "no_work_sched", "no_work_app", "unread"];

/// `profile`.
pub(crate) fn profile(run: &Run, (level, at): (u32, u64)) -> Result<Planes, ApiError> {
    if let Some(overview) = run.overview() {
        return Ok(overview.profile(overview.tile(level, at)?, &PROFILE));
    }
    let tile = Tile::new(run.picture()?, level, at)?;
    let (picture, index) = (run.picture()?, run.timeline()?);
    let drawn = index
        .pyramid
        .tile(picture, &index.source, tile.level, tile.index);
    let mut planes = Planes::new();
    for (i, name) in PROFILE.into_iter().enumerate() {
        // Of a part of a run it is not known what its workers lacked meanwhile.
        let told = !(run.is_part() && LOST.contains(&name));
        let value = |bin: &[f32; window::PROFILE]| if told { bin[i] } else { 0.0 };
        planes.plane(name, drawn.profile.iter().map(value));
    }
    Ok(planes)
}

/// `rows`.
pub(crate) fn rows(run: &Run, (level, at): (u32, u64)) -> Result<Planes, ApiError> {
    if let Some(overview) = run.overview() {
        return Ok(overview.rows(overview.tile(level, at)?));
    }
    let tile = Tile::new(run.picture()?, level, at)?;
    let (picture, index) = (run.picture()?, run.timeline()?);
    let drawn = index
        .pyramid
        .tile(picture, &index.source, tile.level, tile.index);
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
        planes.plane("queue", index.events.queue(picture, tile));
    }
    if index.events.has_cpu {
        planes.plane("cpu", index.events.cpu(picture, tile));
    }
    if index.events.has_attempts {
        planes.plane("failed", index.events.failed(picture, tile));
    }
    if index.events.has_sleeps {
        planes.plane("asleep", index.events.asleep(picture, tile));
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

/// `strands`.
pub(crate) fn strands(run: &Run, tile: Tile) -> Result<Planes, ApiError> {
    let (picture, index) = (run.picture()?, run.timeline()?);
    let candidates = strands::in_tile(picture, index, tile);
    Ok(strands::planes(picture, index, &candidates))
}

/// `arcs`.
pub(crate) fn arcs(run: &Run, tile: Tile) -> Result<Planes, ApiError> {
    let (picture, index) = (run.picture()?, run.timeline()?);
    Ok(index.arcs.tile(picture, tile))
}

/// `waits`.
pub(crate) fn waits(run: &Run, tile: Tile) -> Result<Planes, ApiError> {
    let (picture, index) = (run.picture()?, run.timeline()?);
    Ok(index.waits.tile(picture, tile))
}

/// `path`.
pub(crate) fn path(run: &Run, kind: PathKind, tile: Tile) -> Result<Planes, ApiError> {
    let (picture, index) = (run.picture()?, run.timeline()?);
    let pieces = match kind {
        PathKind::Critical => &index.critical,
        PathKind::Ready => &index.ready,
    };
    Ok(pieces.tile(picture, tile))
}
