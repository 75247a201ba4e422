//! Runs side by side: what changed between two versions, two runtimes or several core counts, and
//! whether the change is more than the runs of one side differ among themselves.
//!
//! Each run is reduced to [`RunMeasures`] on its own, so the traces need not be in memory at once.
//! Times are nanoseconds, as two recordings' clocks tick at different rates. The first side is the
//! base, the others are compared with it.

mod limits;
mod measures;
mod noise;
pub(crate) mod places;

use std::collections::HashMap;
use std::hash::Hash;

use workspan_dag::{Place, PlaceId};

use crate::blocks::CodeBlock;

pub use limits::{Amount, Limit, LimitKind, LimitResult, Reason, Where, check};
pub(crate) use measures::ns_per_tick;
pub use measures::{BlockMeasure, Quantity, RegionMeasure, RunMeasures, SiteMeasure, measure};
pub use noise::{Difference, Noise, Value};
use places::PlaceTable;

/// The runs of one version, runtime or core count.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// The name shown to people.
    pub name: String,
    /// Its runs, at least one.
    pub runs: Vec<RunMeasures>,
}

/// One quantity of the run on every side.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantityRow {
    /// The quantity.
    pub quantity: Quantity,
    /// By side.
    pub values: Vec<Value>,
    /// By side after the base: that side minus the base.
    pub differences: Vec<Difference>,
}

/// One spawn site, code block or region on every side.
#[derive(Debug, Clone, PartialEq)]
pub struct RowDifference<K> {
    /// The spawn site or code block, whose places are indices into [`Comparison::places`]; for a
    /// region, the label.
    pub key: K,
    /// The same in the side's own numbers, by side: places are indices into those of the first of
    /// its runs that has the row. `None` if no run of the side has it.
    pub own: Vec<Option<K>>,
    /// Work in ns, by side; for a site, the work of its tasks' own strands.
    pub work: Vec<Value>,
    /// Differences of `work`, by side after the base.
    pub work_differences: Vec<Difference>,
    /// Weight on the critical path in ns, by side.
    pub critical_work: Vec<Value>,
    /// Differences of `critical_work`, by side after the base.
    pub critical_differences: Vec<Difference>,
    /// Task instances of the site, strands of the block, or times that the region was opened, by
    /// side.
    pub count: Vec<Value>,
}

impl<K> RowDifference<K> {
    /// The largest change, in ns.
    fn size(&self) -> f64 {
        let changes = self
            .work_differences
            .iter()
            .chain(&self.critical_differences);
        changes.map(|d| d.absolute.abs()).fold(0.0, f64::max)
    }
}

/// The sides of a comparison and their differences.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Positions of all runs under common numbers; 0 is the root's.
    pub places: Vec<Place>,
    /// Number of positions that are on other lines in some run and were recognised by their source
    /// text.
    pub moved: usize,
    /// By side: name, number of runs, workers (of its first run), runtime.
    pub sides: Vec<SideFacts>,
    /// All quantities, in [`Quantity::ALL`]'s order.
    pub quantities: Vec<QuantityRow>,
    /// Spawn sites, in descending order of the change of work or critical work.
    pub sites: Vec<RowDifference<PlaceId>>,
    /// Code blocks, in the same order.
    pub blocks: Vec<RowDifference<CodeBlock>>,
    /// Regions that the program marked, in the same order.
    pub regions: Vec<RowDifference<String>>,
    /// What makes the comparison doubtful, each a full sentence.
    pub warnings: Vec<String>,
}

/// Facts about a side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideFacts {
    /// Its name.
    pub name: String,
    /// The section of its first run, for instance `region:solve`.
    pub section: Option<String>,
    /// Number of runs.
    pub runs: usize,
    /// Number of workers of its first run.
    pub workers: u32,
    /// Runtime of its first run.
    pub runtime: Option<String>,
}

impl Comparison {
    /// The row of `quantity`.
    pub fn quantity(&self, quantity: Quantity) -> Option<&QuantityRow> {
        self.quantities.iter().find(|row| row.quantity == quantity)
    }

    /// True if no side has several runs, so that the noise is unknown.
    pub fn noise_unknown(&self) -> bool {
        self.sides.iter().any(|side| side.runs < 2)
    }
}

/// Compares `sides`; the first is the base. Sides without a run are ignored. O(rows · runs).
pub fn compare(sides: &[Side]) -> Comparison {
    let mut table = PlaceTable::new();
    let mut sites = Rows::new(sides);
    let mut blocks = Rows::new(sides);
    let mut regions = Rows::new(sides);
    for (i, side) in sides.iter().enumerate() {
        for (j, run) in side.runs.iter().enumerate() {
            let map = table.add(&run.places);
            let at = |place: PlaceId| map.get(place as usize).copied().unwrap_or(place);
            for site in &run.sites {
                let m = [site.own_work, site.critical_work, site.count as f64];
                sites.add(at(site.site), &site.site, (i, j), m);
            }
            for block in &run.blocks {
                let common = block.block.renumbered(|place| Some(at(place)));
                let m = [block.work, block.critical_work, block.count as f64];
                blocks.add(common.unwrap_or(block.block), &block.block, (i, j), m);
            }
            for region in &run.regions {
                let m = [region.work, region.critical_work, region.count as f64];
                regions.add(region.label.clone(), &region.label, (i, j), m);
            }
        }
    }
    let quantities = Quantity::ALL.map(|quantity| {
        let values: Vec<Value> = sides
            .iter()
            .map(|s| Value::from_runs(s.runs.iter().map(|r| r.get(quantity))))
            .collect();
        QuantityRow {
            quantity,
            differences: differences(&values),
            values,
        }
    });
    Comparison {
        moved: table.moved(),
        places: table.finish(),
        sides: sides.iter().map(facts).collect(),
        quantities: quantities.into(),
        sites: sites.finish(),
        blocks: blocks.finish(),
        regions: regions.finish(),
        warnings: warnings(sides),
    }
}

fn facts(side: &Side) -> SideFacts {
    let first = side.runs.first();
    SideFacts {
        name: side.name.clone(),
        section: first.and_then(|r| r.section.clone()),
        runs: side.runs.len(),
        workers: first.map_or(0, |r| r.workers),
        runtime: first.and_then(|r| r.runtime.clone()),
    }
}

fn differences(values: &[Value]) -> Vec<Difference> {
    match values.split_first() {
        Some((base, others)) => others.iter().map(|v| Difference::new(base, v)).collect(),
        None => Vec::new(),
    }
}

/// Differences between the runs of one side besides their times, and doubts about single runs.
fn warnings(sides: &[Side]) -> Vec<String> {
    let mut warnings = Vec::new();
    for side in sides {
        let mut workers: Vec<u32> = side.runs.iter().map(|r| r.workers).collect();
        workers.sort_unstable();
        workers.dedup();
        if let [few, .., many] = workers[..] {
            warnings.push(format!(
                "The runs of {} had {few} to {many} workers, so their differences are not only noise.",
                side.name
            ));
        }
        for run in &side.runs {
            let share = run.descheduled_share();
            if share > 0.05 {
                warnings.push(format!(
                    "{}: other programs used the CPUs for {:.0} % of the worker time, so its times are too long.",
                    run.label,
                    share * 100.0
                ));
            }
        }
    }
    warnings
}

/// Three measures of each row for each run of each side.
struct Rows<K> {
    shape: Vec<usize>,
    keys: Vec<K>,
    /// By row and side: [`RowDifference::own`].
    own: Vec<Vec<Option<K>>>,
    index: HashMap<K, usize>,
    values: Vec<[Vec<Vec<f64>>; 3]>,
}

impl<K: Clone + Eq + Hash> Rows<K> {
    fn new(sides: &[Side]) -> Rows<K> {
        Rows {
            shape: sides.iter().map(|s| s.runs.len()).collect(),
            keys: Vec::new(),
            own: Vec::new(),
            index: HashMap::new(),
            values: Vec::new(),
        }
    }

    fn add(&mut self, key: K, own: &K, (side, run): (usize, usize), measures: [f64; 3]) {
        let next = self.keys.len();
        let row = *self.index.entry(key.clone()).or_insert(next);
        if row == next {
            self.keys.push(key);
            self.own.push(vec![None; self.shape.len()]);
            // If a run lacks a row, the values there are 0.
            let none: Vec<Vec<f64>> = self.shape.iter().map(|&n| vec![0.0; n]).collect();
            self.values.push([none.clone(), none.clone(), none]);
        }
        self.own[row][side].get_or_insert_with(|| own.clone());
        for (values, measure) in self.values[row].iter_mut().zip(measures) {
            values[side][run] += measure;
        }
    }

    /// The rows, in descending order of change. Rows of equal size keep the order of the base.
    fn finish(self) -> Vec<RowDifference<K>> {
        let to_values = |sides: Vec<Vec<f64>>| sides.into_iter().map(Value::from_runs).collect();
        let keys = self.keys.into_iter().zip(self.own);
        let mut rows: Vec<RowDifference<K>> = keys
            .zip(self.values)
            .map(|((key, own), values)| {
                let [work, critical_work, count]: [Vec<Value>; 3] = values.map(to_values);
                RowDifference {
                    key,
                    own,
                    work_differences: differences(&work),
                    critical_differences: differences(&critical_work),
                    work,
                    critical_work,
                    count,
                }
            })
            .collect();
        rows.sort_by(|a, b| b.size().total_cmp(&a.size()));
        rows
    }
}
