//! `sites`: the columns of the table of sites that are not in the report, and the strands of each
//! code by size.

mod sizes;
mod stretched;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use workspan_analysis::{FreeTime, SiteRow, site_delays};
use workspan_dag::{PlaceId, StrandId, memory};

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::sites::REPORT_LIMITS;
use crate::run::{Run, RunAnalyses, RunModel};
use crate::session::Session;
use sizes::{Size, Sizes};
use stretched::Stretched;

/// Number of bins of a spark.
const BINS: usize = 64;
/// Number of instances given for each site.
const MAX_INSTANCES: usize = 32;

#[derive(Serialize)]
struct SiteExtras {
    sites: Vec<SiteExtra>,
    /// The codes of all blocks in `sites`, by number.
    codes: Vec<CodeSizes>,
}

#[derive(Serialize)]
struct SiteExtra {
    place: PlaceId,
    delay: u128,
    buried: u128,
    spark: Vec<f32>,
    lengths: Lengths,
    stretch: Option<f64>,
    longest: Vec<Instance>,
    blocks: Vec<BlockExtra>,
}

#[derive(Serialize, Default)]
struct Lengths {
    min: u64,
    median: u64,
    p90: u64,
    max: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Instance {
    task: u32,
    start: u64,
    end: u64,
}

#[derive(Serialize)]
struct BlockExtra {
    code: u16,
    /// Sums over the site's strands of this code: weight, weight on the critical path, and number.
    work: u64,
    critical: u64,
    count: u64,
    spark: Vec<f32>,
    stretch: Option<f64>,
}

/// Sums over the strands of one code in all sites.
#[derive(Serialize)]
struct CodeSizes {
    code: u16,
    /// Number of spawn sites whose tasks have such strands.
    sites: u64,
    work: u64,
    critical: u64,
    count: u64,
    /// The strands by the size of their tasks, or else by weight, the smallest first.
    sizes: Vec<Size>,
}

pub(crate) fn answer(session: &Session, run: &Run) -> Result<Reply, ApiError> {
    let (model, analyses) = (run.model()?, run.analyses()?);
    let serial = serial(session, run)?;
    if let Some(known) = analyses.sites.get() {
        return Ok(Reply::Json(known.clone()));
    }
    let extras = extras(model, analyses, serial);
    // The results are small; the memory used to compute them is not.
    memory::give_back();
    let reply = Reply::json(&extras)?;
    Ok(Reply::Json(
        analyses
            .sites
            .get_or_init(|| reply.bytes().to_vec())
            .clone(),
    ))
}

/// Another run of the program on one worker, if this one had more.
fn serial<'a>(session: &'a Session, run: &Run) -> Result<Option<&'a RunModel>, ApiError> {
    let many = run.model()?.dag.meta.workers > 1;
    let found = session.serial_of(run)?.filter(|_| many);
    found.map(Run::model).transpose()
}

fn extras(model: &RunModel, analyses: &RunAnalyses, serial: Option<&RunModel>) -> SiteExtras {
    let dag = &*model.dag;
    let delays = site_delays(dag);
    let Sums {
        sites: sparks,
        blocks,
        by_code,
        sizes,
    } = Sums::new(model);
    let statistics = analyses.statistics(model).ok();
    let stretched = serial.and_then(|serial| Stretched::new(serial, model, &analyses.report));
    let stretched = stretched.as_ref();
    let mut longest = longest(model);
    let lengths = statistics.map_or(&[][..], |s| &s.sites);
    let lengths: BTreeMap<PlaceId, _> = lengths.iter().map(|row| (row.site, row)).collect();
    let mut told = 0;
    let row = |site: &SiteRow| {
        let number = usize::from(model.sites.of(site.site));
        let spread = lengths.get(&site.site);
        let place = site.site as usize;
        let most = REPORT_LIMITS.blocks_of(blocks[number].len(), &mut told);
        SiteExtra {
            place: site.site,
            delay: delays[place].delay,
            buried: delays[place].buried_ticks,
            spark: sparks[number].mean(model),
            lengths: spread.map_or_else(Lengths::default, |s| Lengths {
                min: s.strand_lengths.minimum,
                median: s.strand_lengths.median,
                p90: s.strand_lengths.p90,
                max: s.strand_lengths.maximum,
            }),
            stretch: stretched.and_then(|s| s.site(site.site)),
            longest: std::mem::take(&mut longest[number]),
            blocks: blocks[number]
                .iter()
                .take(most)
                .map(|&i| BlockExtra {
                    code: by_code[i].code,
                    work: by_code[i].work,
                    critical: by_code[i].critical,
                    count: by_code[i].count,
                    spark: by_code[i].spark.mean(model),
                    stretch: stretched.and_then(|s| s.code(site.site, by_code[i].code)),
                })
                .collect(),
        }
    };
    // Sites that have numbers come first.
    let numbered = analyses.report.sites.iter().take(model.sites.places.len());
    let sites: Vec<SiteExtra> = numbered.map(row).collect();
    let blocks = sites.iter().flat_map(|site| &site.blocks);
    let named: BTreeSet<u16> = blocks.map(|block| block.code).collect();
    let mut codes: BTreeMap<u16, CodeSizes> = BTreeMap::new();
    for of in &by_code {
        if named.contains(&of.code) {
            let all = codes.entry(of.code).or_insert_with(|| CodeSizes {
                code: of.code,
                sites: 0,
                work: 0,
                critical: 0,
                count: 0,
                sizes: sizes.get(&of.code).map_or_else(Vec::new, |s| s.rows(model)),
            });
            all.sites += 1;
            all.work = all.work.saturating_add(of.work);
            all.critical = all.critical.saturating_add(of.critical);
            all.count += of.count;
        }
    }
    SiteExtras {
        sites,
        codes: codes.into_values().collect(),
    }
}

/// Running strand-ticks in equal bins of the run.
#[derive(Clone)]
struct Spark([u64; BINS]);

/// The first tick of a bin of a run of that length. Bins begin at rounded-down ticks.
fn edge(elapsed: u64, bin: usize) -> u64 {
    (u128::from(elapsed) * bin as u128 / BINS as u128) as u64
}

impl Spark {
    fn add(&mut self, model: &RunModel, start: u64, end: u64) {
        let elapsed = model.elapsed().max(1);
        let (start, end) = (start - model.begin, end - model.begin);
        let mut bin = (u128::from(start) * BINS as u128 / u128::from(elapsed)) as usize;
        while bin + 1 < BINS && edge(elapsed, bin + 1) <= start {
            bin += 1;
        }
        let mut at = start;
        while at < end && bin < BINS {
            let upto = edge(elapsed, bin + 1).min(end);
            self.0[bin] += upto.saturating_sub(at);
            at = at.max(upto);
            bin += 1;
        }
    }

    /// The mean number of running strands in each bin. In a run of fewer ticks than bins, a bin
    /// without a tick has the number of the next one.
    fn mean(&self, model: &RunModel) -> Vec<f32> {
        self.means(model.elapsed().max(1))
    }

    fn means(&self, elapsed: u64) -> Vec<f32> {
        let mut means = vec![0.0; BINS];
        let mut next = 0.0;
        for bin in (0..BINS).rev() {
            let width = edge(elapsed, bin + 1) - edge(elapsed, bin);
            if width > 0 {
                next = (self.0[bin] as f64 / width as f64) as f32;
            }
            means[bin] = next;
        }
        means
    }
}

/// Sums over the strands of one code at one site.
struct OfCode {
    code: u16,
    work: u64,
    critical: u64,
    count: u64,
    spark: Spark,
}

struct Sums {
    sites: Vec<Spark>,
    /// For each site its codes, those with most time first, as indices into `by_code`.
    blocks: Vec<Vec<usize>>,
    by_code: Vec<OfCode>,
    /// The strands of a code in all sites by size, if it is known which workers were free.
    sizes: BTreeMap<u16, Sizes>,
}

impl Sums {
    fn new(model: &RunModel) -> Sums {
        let dag = &*model.dag;
        let free = FreeTime::new(&model.dag);
        let mut sites = vec![Spark([0; BINS]); model.sites.places.len()];
        let mut blocks: Vec<Vec<usize>> = vec![Vec::new(); sites.len()];
        let mut by_code: Vec<OfCode> = Vec::new();
        let mut sizes: BTreeMap<u16, Sizes> = BTreeMap::new();
        let mut index = std::collections::HashMap::new();
        for s in 0..dag.strands.len() {
            let (start, end) = (dag.strands.start[s], dag.strands.end[s]);
            if start == end {
                continue;
            }
            let place = dag.tasks.site[dag.strands.task[s] as usize];
            let site = usize::from(model.sites.of(place));
            let Some(spark) = sites.get_mut(site) else {
                continue;
            };
            let code = model.codes.of(s as StrandId);
            spark.add(model, start, end);
            let i = *index.entry((site, code)).or_insert_with(|| {
                by_code.push(OfCode {
                    code,
                    work: 0,
                    critical: 0,
                    count: 0,
                    spark: Spark([0; BINS]),
                });
                blocks[site].push(by_code.len() - 1);
                by_code.len() - 1
            });
            let of = &mut by_code[i];
            let weight = model.weight(s as StrandId);
            of.count += 1;
            of.work = of.work.saturating_add(weight);
            if model.critical(s as StrandId) {
                let on_path = model.path_weight(s as StrandId);
                of.critical = of.critical.saturating_add(on_path);
            }
            of.spark.add(model, start, end);
            if let Some(free) = &free {
                let sizes = sizes.entry(code).or_default();
                let size = model.sizes.of_strand(dag, s as StrandId);
                sizes.add(model, (weight, size), (start, end), free);
            }
        }
        for list in &mut blocks {
            list.sort_by_key(|&i| {
                let ticks: u64 = by_code[i].spark.0.iter().sum();
                (std::cmp::Reverse(ticks), by_code[i].code)
            });
        }
        Sums {
            sites,
            blocks,
            by_code,
            sizes,
        }
    }
}

/// For each site, the instances with the longest time from first start to last end, longest first.
fn longest(model: &RunModel) -> Vec<Vec<Instance>> {
    let (dag, begin) = (&*model.dag, model.begin);
    let mut by_site: Vec<Vec<Instance>> = vec![Vec::new(); model.sites.places.len()];
    let length = |i: &Instance| std::cmp::Reverse(i.end - i.start);
    for task in 0..dag.tasks.len() {
        let start = dag.strands.start[dag.tasks.first[task] as usize];
        let end = dag.strands.end[dag.tasks.last[task] as usize].max(start);
        let site = usize::from(model.sites.of(dag.tasks.site[task]));
        let Some(list) = by_site.get_mut(site) else {
            continue;
        };
        let instance = Instance {
            task: task as u32,
            start: start - begin,
            end: end - begin,
        };
        if list.len() == 2 * MAX_INSTANCES {
            list.sort_by_key(|i| (length(i), i.task));
            list.truncate(MAX_INSTANCES);
        }
        list.push(instance);
    }
    for list in &mut by_site {
        list.sort_by_key(|i| (length(i), i.task));
        list.truncate(MAX_INSTANCES);
    }
    by_site
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strand_that_runs_all_the_time_is_one_in_each_bin() {
        for elapsed in [1, 7, 63, 64, 100, 1_000_003] {
            let mut all = Spark([0; BINS]);
            for bin in 0..BINS {
                all.0[bin] = edge(elapsed, bin + 1) - edge(elapsed, bin);
            }
            assert_eq!(all.means(elapsed), [1.0; BINS], "{elapsed}");
        }
        // Of four ticks, one strand ran in the second one, two in the last.
        let mut some = Spark([0; BINS]);
        (some.0[BINS / 2 - 1], some.0[BINS - 1]) = (1, 2);
        let means = some.means(4);
        assert_eq!(
            (means[0], means[BINS / 4], means[BINS / 2]),
            (0.0, 1.0, 0.0)
        );
        assert_eq!(means[BINS - 1], 2.0);
    }
}
