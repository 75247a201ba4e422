//! The run at all resolutions, built once.
//!
//! Blocks of 64 bins are stored at every level if they contain more events than a threshold; other
//! blocks are computed from the strands at each request. So a tile takes at most 16 blocks' worth
//! of events and of stored bins, and memory is proportional to the number of strands, even if they
//! are spread unevenly over time.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use workspan_dag::cancel::{check, inherit};

use super::TILE_BINS;
use super::cell::CellBytes;
use super::window::{PROFILE, Source, Window};
use crate::run::RunModel;

/// Number of bins of a block.
pub(super) const BLOCK: u64 = 64;

/// The stored blocks.
#[derive(Debug)]
pub(super) struct Pyramid {
    blocks: Vec<Block>,
}

/// A block: bins of all rows as they are drawn.
#[derive(Debug)]
struct Block {
    /// The level, and the block's index in that level. Blocks are sorted by this key.
    key: (u32, u64),
    /// The cells, row by row.
    seen: Vec<CellBytes>,
    profile: Vec<[f32; PROFILE]>,
}

/// A stretch of bins as they are drawn.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// The cells, row by row.
    pub seen: Vec<Vec<CellBytes>>,
    /// The means of each bin.
    pub profile: Vec<[f32; PROFILE]>,
}

/// Average number of events per bin and row below which a block is not stored. Rows beyond
/// [`MANY_ROWS`] count two events each.
const EVENTS_PER_BIN: usize = 8;
const MANY_ROWS: usize = 16;
/// Minimum number of events of a stored block. A tile's 16 blocks with this number of events take
/// some milliseconds to compute. With a smaller minimum, stored blocks would take more bytes per
/// event.
const MIN_BLOCK_EVENTS: usize = 3072;

impl Pyramid {
    /// Builds the pyramid in O(n log n), on two threads or more if there are enough CPUs.
    pub(super) fn new(model: &RunModel, source: &Source) -> Pyramid {
        let rows = model.rows.len();
        let per_bin = EVENTS_PER_BIN * rows.min(MANY_ROWS) + 2 * rows.saturating_sub(MANY_ROWS);
        // A window takes one search per thread, and a trace may have a million threads.
        let threads = model.dag.meta.threads as usize;
        let threshold = (per_bin * BLOCK as usize)
            .max(MIN_BLOCK_EVENTS)
            .max(threads);
        let making = Making {
            model,
            source,
            threshold,
            blocks: Mutex::new(Vec::new()),
        };
        let top = model.top_level();
        // Each top block is split into parts, so that there are enough of them for all threads.
        let level = top.saturating_sub(3);
        let count = (TILE_BINS / BLOCK) << (top - level);
        let next = AtomicU64::new(0);
        let helpers = std::thread::available_parallelism().map_or(1, usize::from);
        let fine: Vec<Mutex<Option<Window>>> = (0..count).map(|_| Mutex::new(None)).collect();
        let help = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(slot) = fine.get(index as usize) else {
                    break;
                };
                let window = making.build(level, index);
                if let Ok(mut slot) = slot.lock() {
                    *slot = Some(window);
                }
            }
        };
        std::thread::scope(|scope| {
            let spawn = |_| scope.spawn(inherit(help));
            let helping: Vec<_> = (0..helpers.min(8)).map(spawn).collect();
            for helper in helping {
                if let Err(why) = helper.join() {
                    resume_unwind(why);
                }
            }
        });
        let mut level = level;
        let taken = |slot: Mutex<Option<Window>>| slot.into_inner().ok().flatten();
        let mut windows: Vec<Window> = fine.into_iter().filter_map(taken).collect();
        while level < top {
            level += 1;
            let mut finer = windows.into_iter();
            windows = Vec::new();
            while let (Some(a), Some(b)) = (finer.next(), finer.next()) {
                let window = a.coarser(b, model);
                let index = window.first / BLOCK;
                if making.load(level, index) > threshold {
                    making.keep((level, index), &window);
                }
                windows.push(window);
            }
        }
        let mut blocks = making.blocks.into_inner().unwrap_or_default();
        blocks.sort_unstable_by_key(|block| block.key);
        Pyramid { blocks }
    }

    /// The bins of a tile.
    pub(super) fn tile(&self, model: &RunModel, source: &Source, level: u32, index: u64) -> Drawn {
        let rows = model.rows.len();
        let mut drawn = Drawn {
            seen: vec![Vec::with_capacity(TILE_BINS as usize); rows],
            profile: Vec::with_capacity(TILE_BINS as usize),
        };
        let per_tile = TILE_BINS / BLOCK;
        let (mut block, end) = (index * per_tile, (index + 1) * per_tile);
        let find = |block: u64| self.blocks.binary_search_by_key(&(level, block), |b| b.key);
        while block < end {
            if let Ok(at) = find(block) {
                let kept = &self.blocks[at];
                let of_rows = kept.seen.chunks(BLOCK as usize);
                for (row, seen) in drawn.seen.iter_mut().zip(of_rows) {
                    row.extend_from_slice(seen);
                }
                drawn.profile.extend_from_slice(&kept.profile);
                block += 1;
                continue;
            }
            let mut until = block + 1;
            while until < end && find(until).is_err() {
                until += 1;
            }
            let bins = ((until - block) * BLOCK) as usize;
            let window = source.window(model, level, block * BLOCK, bins);
            let (seen, profile) = as_drawn(&window, model);
            for (row, seen) in drawn.seen.iter_mut().zip(seen.chunks(bins)) {
                row.extend_from_slice(seen);
            }
            drawn.profile.extend(profile);
            block = until;
        }
        drawn
    }
}

fn as_drawn(window: &Window, model: &RunModel) -> (Vec<CellBytes>, Vec<[f32; PROFILE]>) {
    let width = 1u64 << window.level.min(63);
    let seen = window.cells.iter().map(|c| c.seen(&model.dag, width));
    let means = |sums: &[u128; PROFILE]| sums.map(|sum| (sum as f64 / width as f64) as f32);
    (seen.collect(), window.profile.iter().map(means).collect())
}

struct Making<'a> {
    model: &'a RunModel,
    source: &'a Source,
    threshold: usize,
    blocks: Mutex<Vec<Block>>,
}

impl Making<'_> {
    fn load(&self, level: u32, index: u64) -> usize {
        let at = |index: u64| {
            let ticks = (u128::from(index) * u128::from(BLOCK)) << level;
            let t = u128::from(self.model.begin) + ticks;
            u64::try_from(t).unwrap_or(u64::MAX)
        };
        self.source.load(self.model, at(index), at(index + 1))
    }

    /// Computes the exact bins of a block. Stores the block and those below it if they are large
    /// enough. The recursion ends at level 0.
    fn build(&self, level: u32, index: u64) -> Window {
        check();
        let dense = self.load(level, index) > self.threshold;
        if !dense || level == 0 {
            let bins = BLOCK as usize;
            let window = self.source.window(self.model, level, index * BLOCK, bins);
            if dense {
                self.keep((level, index), &window);
            }
            return window;
        }
        let first = self.build(level - 1, 2 * index);
        let second = self.build(level - 1, 2 * index + 1);
        let window = first.coarser(second, self.model);
        self.keep((level, index), &window);
        window
    }

    fn keep(&self, key: (u32, u64), window: &Window) {
        let (seen, profile) = as_drawn(window, self.model);
        if let Ok(mut blocks) = self.blocks.lock() {
            blocks.push(Block { key, seen, profile });
        }
    }
}
