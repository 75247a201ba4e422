//! A preview of a run: tiles of the timeline while the run is still being read.

use std::cmp::Reverse;

use workspan_dag::{Meta, Place, PlaceId, ROOT_PLACE, ThreadId};
use workspan_reader::recorded::preview::{Bin, Preview};

use crate::api_error::ApiError;
use crate::planes::Planes;
use crate::run::sites::NO_SITE;
use crate::run::{Rows, Sites, top_level};
use crate::timeline::{TILE_BINS, Tile, narrow, share};

/// Stands for an unknown strand.
const NO_STRAND: u32 = u32::MAX;

/// A preview of a run, and the numbers of its rows, sites and code on the page.
#[derive(Debug)]
pub(crate) struct Overview {
    preview: Preview,
    pub(crate) rows: Rows,
    /// The root first, then the sites with most time.
    pub(crate) sites: Sites,
    /// Codes and their ticks, those with most time first. A code is a spawn site here, as the
    /// functions that strands run are not known yet.
    pub(crate) codes: Vec<(PlaceId, u64)>,
    code_of: Vec<u16>,
}

impl Overview {
    pub(crate) fn new(preview: Preview) -> Overview {
        let mut ticks = vec![0u64; preview.places.len()];
        let mut ran = vec![false; preview.meta.threads as usize];
        for (ran, bins) in ran.iter_mut().zip(&preview.threads) {
            for bin in bins.iter().filter(|bin| bin.strands > 0 || bin.busy > 0) {
                *ran = true;
                if let Some(ticks) = ticks.get_mut(bin.place as usize) {
                    *ticks += bin.busy;
                }
            }
        }
        let mut codes: Vec<(PlaceId, u64)> = (0..).zip(ticks).filter(|c| c.1 > 0).collect();
        codes.sort_by_key(|&(place, ticks)| (Reverse(ticks), place));
        codes.truncate(usize::from(NO_SITE));
        let mut code_of = vec![NO_SITE; preview.places.len()];
        for (number, code) in (0..).zip(&codes) {
            code_of[code.0 as usize] = number;
        }
        let others = codes.iter().map(|c| c.0).filter(|&p| p != ROOT_PLACE);
        let places = std::iter::once(ROOT_PLACE).chain(others).collect();
        Overview {
            rows: Rows::of_threads(&ran, preview.meta.workers),
            sites: Sites::new(places, preview.places.len()),
            codes,
            code_of,
            preview,
        }
    }

    pub(crate) fn meta(&self) -> &Meta {
        &self.preview.meta
    }

    pub(crate) fn begin(&self) -> u64 {
        self.preview.begin
    }

    pub(crate) fn elapsed(&self) -> u64 {
        self.preview.end - self.preview.begin
    }

    pub(crate) fn tasks(&self) -> u64 {
        self.preview.tasks
    }

    pub(crate) fn place(&self, place: PlaceId) -> Option<&Place> {
        self.preview.places.get(place as usize)
    }

    pub(crate) fn top_level(&self) -> u32 {
        top_level(self.elapsed())
    }

    /// The finest level that has tiles.
    pub(crate) fn finest_level(&self) -> u32 {
        self.preview.level.min(self.top_level())
    }

    /// The thread that ran first among those outside the pools.
    pub(crate) fn main_thread(&self) -> Option<ThreadId> {
        let outside = self.rows.threads.iter().copied();
        outside
            .filter(|&thread| thread >= self.preview.meta.workers)
            .min_by_key(|&thread| {
                let first = self.bins(thread).iter().position(|bin| bin.strands > 0);
                first.unwrap_or(usize::MAX)
            })
    }

    fn bins(&self, thread: ThreadId) -> &[Bin] {
        let bins = self.preview.threads.get(thread as usize);
        bins.map_or(&[], Vec::as_slice)
    }

    /// A tile of this level and index.
    ///
    /// # Errors
    /// The tile lies outside the run, or is finer than the preview.
    pub(crate) fn tile(&self, level: u32, index: u64) -> Result<Tile, ApiError> {
        if level > self.top_level() || index > (self.elapsed() / TILE_BINS) >> level {
            return Err(ApiError::not_found("There is no such tile in this run."));
        }
        if level < self.finest_level() {
            return Err(ApiError::loading(
                "This is a preview; the run is still being read.",
            ));
        }
        Ok(Tile { level, index })
    }

    /// The bins of a tile of one thread.
    fn cells(&self, thread: ThreadId, tile: Tile) -> impl Iterator<Item = Bin> {
        let bins = self.bins(thread);
        // The preview of a run of few ticks may have finer bins than its top level.
        let each = 1usize << tile.level.saturating_sub(self.preview.level);
        let first = (tile.index * TILE_BINS) as usize * each;
        (0..TILE_BINS as usize).map(move |i| {
            let from = (first + i * each).min(bins.len());
            joined(&bins[from..(from + each).min(bins.len())])
        })
    }

    /// `rows`: coverage by work, strands, creates, code and site. The planes of strands, levels and
    /// paths have no data.
    pub(crate) fn rows(&self, tile: Tile) -> Planes {
        let threads = self.rows.threads.iter();
        let cells: Vec<Bin> = threads.flat_map(|&t| self.cells(t, tile)).collect();
        let ran = |bin: &Bin| bin.busy > 0 || bin.strands > 0;
        let name = |bin: &Bin, number: u16| if ran(bin) { number } else { NO_SITE };
        let none = || cells.iter().map(|_| 0u8);
        let mut planes = Planes::new();
        planes.plane("work", cells.iter().map(|bin| share(bin.busy, tile.bin())));
        planes.plane("descheduled", none());
        planes.plane("blocked", none());
        planes.plane("strands", cells.iter().map(|bin| narrow(bin.strands)));
        planes.plane("creates", cells.iter().map(|bin| narrow(bin.creates)));
        planes.plane("strand", cells.iter().map(|_| NO_STRAND));
        let code = |bin: &Bin| self.code_of.get(bin.place as usize).copied();
        let codes = cells.iter().map(|b| name(b, code(b).unwrap_or(NO_SITE)));
        planes.plane("code", codes);
        let sites = cells.iter().map(|b| name(b, self.sites.of(b.place)));
        planes.plane("site", sites);
        planes.plane("level", cells.iter().map(|_| 0u16));
        for later in [
            "critical",
            "ready_path",
            "delay",
            "no_work_sched",
            "no_work_app",
            "unread",
        ] {
            planes.plane(later, none());
        }
        planes
    }

    /// `profile`: running strands. Ready strands and lost time are not known.
    pub(crate) fn profile(&self, tile: Tile, names: &[&str]) -> Planes {
        let mut running = vec![0u64; TILE_BINS as usize];
        for thread in 0..self.preview.threads.len() as ThreadId {
            for (sum, bin) in running.iter_mut().zip(self.cells(thread, tile)) {
                *sum += bin.busy;
            }
        }
        let mut planes = Planes::new();
        let width = tile.bin() as f64;
        for (i, name) in names.iter().enumerate() {
            let mean = |&busy: &u64| {
                if i == 0 {
                    (busy as f64 / width) as f32
                } else {
                    0.0
                }
            };
            planes.plane(name, running.iter().map(mean));
        }
        planes
    }
}

/// Joins adjacent bins to one, with the place of the bin that ran longest.
fn joined(bins: &[Bin]) -> Bin {
    let mut all = Bin::default();
    let mut most = 0;
    for bin in bins {
        if bin.busy > most {
            (most, all.place) = (bin.busy, bin.place);
        }
        all.busy += bin.busy;
        all.strands = all.strands.saturating_add(bin.strands);
        all.creates = all.creates.saturating_add(bin.creates);
    }
    all
}
