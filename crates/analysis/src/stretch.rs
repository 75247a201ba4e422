//! Work time stretch: one worker against many (MODEL.md §6, SWoPP'13).
//!
//! The same work takes longer on many workers: caches are shared, memory is far. The *stretch* of a
//! code block, spawn site, level or subtree is its time in the parallel run minus its time in the
//! serial one. Tasks are matched by path where the two trees are alike, and by spawn site and level
//! where the runtime split differently. Positions match as in [`crate::compare`]. A row that only
//! one run has is all stretch (or all saving), so that rows always add up to the whole.
//!
//! Times are ticks of the parallel run; those of the serial run are converted, each number once. So
//! if the two clocks differ, rows may miss their sum by one tick per row.

mod loss;
mod matching;
mod regions;
mod rows;

use workspan_dag::{Dag, Place, PlaceId, Reporter};

use crate::blocks::CodeBlock;
use crate::compare::places::PlaceTable;
use crate::options::{Error, Metric, Options};
use crate::report::Report;
use crate::weight::Weights;

pub use loss::{Loss, loss};
pub use matching::Matched;
use matching::Pairs;
use rows::Sums;

/// A counter and what one of its events costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Latency {
    /// The counter's name.
    pub counter: String,
    /// Nanoseconds per event.
    pub ns: f64,
}

/// The options of a comparison.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StretchOptions {
    /// How strands are measured; their weight is always time.
    pub measured: Options,
    /// Costs of events, to explain the stretch by counters.
    pub latencies: Vec<Latency>,
    /// The counter whose surplus orders the rows; `None` orders them by time.
    pub metric: Option<String>,
}

/// Why two runs can't be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StretchError {
    /// A run can't be measured.
    #[error(transparent)]
    Measure(#[from] Error),
    /// A requested counter is not in a trace.
    #[error("the {run} trace has no counter `{counter}`; {hint}", hint = offered(.has))]
    NoSuchCounter {
        /// `serial` or `parallel`.
        run: &'static str,
        /// The requested counter.
        counter: String,
        /// The counters in the trace.
        has: Vec<String>,
    },
}

fn offered(counters: &[String]) -> String {
    if counters.is_empty() {
        "it has none at all".to_owned()
    } else {
        format!("it has {}", counters.join(", "))
    }
}

/// A number in the serial and in the parallel run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pair {
    /// In the serial run.
    pub serial: u128,
    /// In the parallel run.
    pub parallel: u128,
}

impl Pair {
    /// Parallel minus serial. Sums are below 2^100, so nothing is lost.
    pub fn surplus(self) -> i128 {
        self.parallel as i128 - self.serial as i128
    }

    /// The surplus as a share of the serial number; `None` if that is 0.
    pub fn relative(self) -> Option<f64> {
        (self.serial > 0).then(|| self.surplus() as f64 / self.serial as f64)
    }
}

/// The subject of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKey {
    /// A code block of a spawn site's tasks; places are indices into [`Stretch::places`].
    Block(CodeBlock),
    /// The own strands of a spawn site's tasks.
    Site(PlaceId),
    /// The own strands of the tasks of a level.
    Level(u32),
    /// The regions of a label, an index into [`Stretch::labels`].
    Region(u32),
    /// The own strands of the tasks that the program reported by calls, or that a runtime's hooks
    /// reported; `None` for roots, and if it is not known.
    Reporter(Option<Reporter>),
    /// A task matched by path, with its descendants.
    Subtree {
        /// Its number in the parallel run.
        task: u64,
        /// Its number in the serial run.
        serial_task: u64,
        /// Its spawn site.
        site: PlaceId,
        /// Its level.
        level: u32,
    },
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct StretchRow {
    /// Its subject.
    pub key: RowKey,
    /// Number of strands.
    pub strands: Pair,
    /// Weight, in ticks of the parallel run.
    pub time: Pair,
    /// Values of the counters in [`Stretch::counters`].
    pub counters: Vec<Pair>,
}

impl StretchRow {
    /// The time, or the counter with that index.
    pub fn measured(&self, metric: Option<usize>) -> Pair {
        match metric {
            Some(counter) => self.counters.get(counter).copied().unwrap_or_default(),
            None => self.time,
        }
    }

    /// The cost of the surplus of counter `i`, at `ns` per event, as a multiple of the row's
    /// stretch; `None` if there is no stretch. `tick` is in nanoseconds.
    pub fn explains(&self, i: usize, ns: f64, tick: f64) -> Option<f64> {
        let stretch = self.time.surplus() as f64 * tick;
        let surplus = self.counters.get(i)?.surplus() as f64;
        (stretch != 0.0).then(|| surplus * ns / stretch)
    }
}

/// The additional time of a parallel run compared with a serial one, and where it was spent.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// Positions of both runs under common numbers; 0 is the root's.
    pub places: Vec<Place>,
    /// Nanoseconds per tick of the parallel run.
    pub tick: f64,
    /// Number of workers of the serial run; with more than 1 it is a doubtful base.
    pub serial_workers: u32,
    /// The parts of W · elapsed − serial work.
    pub loss: Loss,
    /// How much of the work was matched, by way of matching.
    pub matched: Matched,
    /// Counters that both runs have, by name.
    pub counters: Vec<String>,
    /// The counter whose surplus orders the rows, as an index into `counters`; `None` if time does.
    pub metric: Option<usize>,
    /// Cost of an event by counter: (index into `counters`, ns).
    pub latencies: Vec<(usize, f64)>,
    /// Both runs as a whole.
    pub total: StretchRow,
    /// Code blocks, in descending order of stretch.
    pub blocks: Vec<StretchRow>,
    /// Spawn sites, in descending order of stretch.
    pub sites: Vec<StretchRow>,
    /// Levels, from the root.
    pub levels: Vec<StretchRow>,
    /// Labels of the regions that the program marked.
    pub labels: Vec<String>,
    /// These regions, in descending order of stretch; each moment counts only in the outermost
    /// region.
    pub regions: Vec<StretchRow>,
    /// Rows by who reported the tasks, if both the program and a runtime did; else empty.
    pub reporter: Vec<StretchRow>,
    /// Subtrees matched by path, in descending order of stretch, at most [`MAX_SUBTREES`].
    pub subtrees: Vec<StretchRow>,
    /// Reasons to doubt the comparison, each a full sentence.
    pub warnings: Vec<String>,
}

/// Maximum number of subtrees in the result.
pub const MAX_SUBTREES: usize = 100;

/// Compares `parallel` with `serial`. `report` is the parallel run's, of the metric *time* and with
/// the same options. O(strands + tasks).
///
/// # Errors
/// See [`StretchError`].
pub fn stretch(
    serial: &Dag,
    parallel: &Dag,
    report: &Report,
    options: &StretchOptions,
) -> Result<Stretch, StretchError> {
    let measured = Options {
        metric: Metric::Time,
        ..options.measured.clone()
    };
    let counters = common_counters(serial, parallel);
    let latencies = latencies(serial, parallel, &counters, &options.latencies)?;
    let metric = match &options.metric {
        Some(name) => Some(counter_at(serial, parallel, &counters, name)?),
        None => None,
    };
    let weights = [
        Weights::new(serial, &measured)?,
        Weights::new(parallel, &measured)?,
    ];
    let mut table = PlaceTable::new();
    let maps = [table.add(&serial.places), table.add(&parallel.places)];
    let rates = [serial, parallel].map(crate::compare::ns_per_tick);
    let pairs = Pairs::new([serial, parallel], &maps);
    let shown = (&counters[..], metric);
    let sums = Sums::new([serial, parallel], &maps, &weights, rates, shown);
    let matched = pairs.matched([serial, parallel], &maps, &weights, rates);
    let subtrees = sums.subtrees(&pairs);
    let total = sums.total();
    let loss = loss(&report.breakdown, total.time.serial, total.time.parallel);
    let (blocks, sites, levels) = sums.rows();
    let (labels, regions) =
        regions::regions([serial, parallel], &weights, &measured, &counters, &sums)?;
    let mut warnings = Vec::new();
    if serial.meta.workers > 1 {
        warnings.push(format!(
            "The serial run had {} workers, so its times are stretched too; record it on one worker.",
            serial.meta.workers
        ));
    }
    if parallel.meta.workers <= 1 {
        warnings.push(
            "The parallel run had 1 worker, so the differences are noise, not stretch.".into(),
        );
    }
    if matched.unmatched_share() > 0.1 {
        warnings.push(format!(
            "{:.0} % of the two runs' work has no counterpart in the other run: they did not do the same work.",
            matched.unmatched_share() * 100.0
        ));
    }
    Ok(Stretch {
        places: table.finish(),
        tick: rates[1],
        serial_workers: serial.meta.workers,
        loss,
        matched,
        counters,
        metric,
        latencies,
        total,
        blocks,
        sites,
        levels,
        labels,
        regions,
        reporter: sums.reporter(),
        subtrees,
        warnings,
    })
}

fn common_counters(serial: &Dag, parallel: &Dag) -> Vec<String> {
    let names = serial.strand_counters().map(|c| &c.name);
    let in_both = |name: &&String| parallel.counters.iter().any(|c| c.name == **name);
    names.filter(in_both).cloned().collect()
}

/// `cache_misses` and `cache-misses` are the same counter.
fn same_counter(a: &str, b: &str) -> bool {
    let plain = |c: char| if c == '-' { '_' } else { c };
    a.chars().map(plain).eq(b.chars().map(plain))
}

fn latencies(
    serial: &Dag,
    parallel: &Dag,
    counters: &[String],
    asked: &[Latency],
) -> Result<Vec<(usize, f64)>, StretchError> {
    let at = |latency: &Latency| {
        let at = counter_at(serial, parallel, counters, &latency.counter)?;
        Ok((at, latency.ns))
    };
    asked.iter().map(at).collect()
}

/// The index in `counters` of a counter that both runs have.
fn counter_at(
    serial: &Dag,
    parallel: &Dag,
    counters: &[String],
    name: &str,
) -> Result<usize, StretchError> {
    if let Some(at) = counters.iter().position(|c| same_counter(c, name)) {
        return Ok(at);
    }
    let has = |dag: &Dag| dag.counters.iter().any(|c| same_counter(&c.name, name));
    let (run, dag) = if has(serial) {
        ("parallel", parallel)
    } else {
        ("serial", serial)
    };
    Err(StretchError::NoSuchCounter {
        run,
        counter: name.to_owned(),
        has: dag.counters.iter().map(|c| c.name.clone()).collect(),
    })
}

/// Ticks of a run converted to ticks of the parallel one, rounded to the nearest.
fn convert(ticks: u128, from: f64, to: f64) -> u128 {
    if from == to {
        ticks
    } else {
        (ticks as f64 * (from / to)).round() as u128
    }
}
