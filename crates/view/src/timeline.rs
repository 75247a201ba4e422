//! Tiles of the timeline.

use crate::failure::Failure;
use crate::planes::Planes;
use crate::run::{Picture, Run};

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
    pub fn new(picture: &Picture, level: u32, index: u64) -> Result<Tile, Failure> {
        if level > picture.top_level() || index > (picture.elapsed() / TILE_BINS) >> level {
            return Err(Failure::absent("There is no such tile in this run."));
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
pub(crate) struct Index {}

impl Index {
    pub(crate) fn new(_picture: &Picture) -> Index {
        Index {}
    }
}

fn later<T>() -> Result<T, Failure> {
    Err(Failure::absent("This version has no timeline yet."))
}

/// `profile`.
pub(crate) fn profile(run: &Run, _tile: Tile) -> Result<Planes, Failure> {
    run.timeline()?;
    later()
}

/// `rows`.
pub(crate) fn rows(_run: &Run, _tile: Tile) -> Result<Planes, Failure> {
    later()
}

/// `strands`.
pub(crate) fn strands(_run: &Run, _tile: Tile) -> Result<Planes, Failure> {
    later()
}

/// `arcs`.
pub(crate) fn arcs(_run: &Run, _tile: Tile) -> Result<Planes, Failure> {
    later()
}

/// `path`.
pub(crate) fn path(_run: &Run, _kind: PathKind, _tile: Tile) -> Result<Planes, Failure> {
    later()
}
