//! Work time stretch: one worker against many (MODEL.md §6, SWoPP'13).
//!
//! The same work takes longer on many workers: caches are shared, memory is far. What each code
//! block, spawn site, level and subtree takes in the parallel run less what it takes in the serial
//! one is its *stretch*. Tasks are matched by path where the two trees are alike; where the runtime
//! split differently, by spawn site and level. Positions match as in [`crate::compare`]. A row only
//! one run has is all stretch (or all saving), so that rows always add up to the whole.
//!
//! Times are ticks of the parallel run; those of the serial one are converted, each number once, so
//! rows may miss their sum by a tick a row where the two clocks differ.

mod loss;
mod matching;
mod regions;
mod rows;

use workspan_dag::{Dag, Place, PlaceId, ToldBy};

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
    /// Nanoseconds an event.
    pub ns: f64,
}

/// How to compare.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StretchOptions {
    /// How strands are measured; their weight is always time.
    pub measured: Options,
    /// What counters explain.
    pub latencies: Vec<Latency>,
    /// The counter whose surplus orders the rows; `None`: that of the time.
    pub metric: Option<String>,
}

/// Why two runs can't be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StretchError {
    /// See there.
    #[error(transparent)]
    Measure(#[from] Error),
    /// A counter is asked for that a trace does not have.
    #[error("the {run} trace has no counter `{counter}`; {hint}", hint = offered(.has))]
    NoSuchCounter {
        /// `serial` or `parallel`.
        run: &'static str,
        /// The counter asked for.
        counter: String,
        /// What the trace has.
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
    /// Parallel less serial. Sums are below 2^100, so nothing is lost.
    pub fn surplus(self) -> i128 {
        self.parallel as i128 - self.serial as i128
    }

    /// The surplus as a share of the serial number; `None` where that is 0.
    pub fn relative(self) -> Option<f64> {
        (self.serial > 0).then(|| self.surplus() as f64 / self.serial as f64)
    }
}

/// What a row is of.
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
    /// The own strands of the tasks that the program told of by calls, or a runtime's hooks;
    /// `None`: roots, and where it is not known.
    ToldBy(Option<ToldBy>),
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
    /// What it is of.
    pub key: RowKey,
    /// Strands.
    pub strands: Pair,
    /// Weight, in ticks of the parallel run.
    pub time: Pair,
    /// By [`Stretch::counters`].
    pub counters: Vec<Pair>,
}

impl StretchRow {
    /// The time, or the counter of that number.
    pub fn measured(&self, metric: Option<usize>) -> Pair {
        match metric {
            Some(counter) => self.counters.get(counter).copied().unwrap_or_default(),
            None => self.time,
        }
    }

    /// What the surplus of counter `i`, at `ns` an event, costs as a multiple of the row's stretch;
    /// `None` where there is no stretch. `tick` is in nanoseconds.
    pub fn explains(&self, i: usize, ns: f64, tick: f64) -> Option<f64> {
        let stretch = self.time.surplus() as f64 * tick;
        let surplus = self.counters.get(i)?.surplus() as f64;
        (stretch != 0.0).then(|| surplus * ns / stretch)
    }
}

/// What a parallel run took longer than a serial one, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// Positions of both runs under common numbers; 0 is the root's.
    pub places: Vec<Place>,
    /// Nanoseconds in a tick of the parallel run.
    pub tick: f64,
    /// Workers of the serial run; more than 1 makes it a doubtful base.
    pub serial_workers: u32,
    /// Where W · elapsed − serial work went.
    pub loss: Loss,
    /// How much was matched how.
    pub matched: Matched,
    /// Counters that both runs have, by name.
    pub counters: Vec<String>,
    /// The counter whose surplus orders the rows, an index into `counters`; `None`: time does.
    pub metric: Option<usize>,
    /// What an event of a counter costs: (index into `counters`, ns).
    pub latencies: Vec<(usize, f64)>,
    /// Both runs as a whole.
    pub total: StretchRow,
    /// Code blocks, most stretch first.
    pub blocks: Vec<StretchRow>,
    /// Spawn sites, most stretch first.
    pub sites: Vec<StretchRow>,
    /// Levels, from the root.
    pub levels: Vec<StretchRow>,
    /// Labels of the regions that the program marked.
    pub labels: Vec<String>,
    /// Those regions, most stretch first; each moment counts in the outermost one alone.
    pub regions: Vec<StretchRow>,
    /// By who told of the tasks, where both the program and a runtime did; else empty.
    pub told_by: Vec<StretchRow>,
    /// Subtrees matched by path, most stretch first, at most [`MAX_SUBTREES`].
    pub subtrees: Vec<StretchRow>,
    /// What makes it doubtful, each a full sentence.
    pub warnings: Vec<String>,
}

/// Most subtrees kept.
pub const MAX_SUBTREES: usize = 100;

/// Compares `parallel` with `serial`. `report` is the parallel run's, of the metric time and the
/// same options. O(strands + tasks).
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
            "The serial run had {} workers, so its times are stretched too; record it with one.",
            serial.meta.workers
        ));
    }
    if parallel.meta.workers <= 1 {
        warnings.push(
            "The parallel run had 1 worker: what differs is noise and the machine's state, not stretch."
                .into(),
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
        told_by: sums.told_by(),
        subtrees,
        warnings,
    })
}

fn common_counters(serial: &Dag, parallel: &Dag) -> Vec<String> {
    let names = serial.counters.iter().map(|c| &c.name);
    let in_both = |name: &&String| parallel.counters.iter().any(|c| c.name == **name);
    names.filter(in_both).cloned().collect()
}

/// `cache_misses` and `cache-misses` are one counter.
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

/// Where a counter that both runs have is in `counters`.
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

/// Ticks of a run in those of the parallel one, to the nearest.
fn convert(ticks: u128, from: f64, to: f64) -> u128 {
    if from == to {
        ticks
    } else {
        (ticks as f64 * (from / to)).round() as u128
    }
}
