//! Stretch (MODEL.md §6): the additional time of a site's tasks compared with a serial run of the
//! same program.

use std::collections::BTreeMap;

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, NONE, StrandId};

use super::book::Book;
use super::{Cause, Causes};
use crate::blocks::CodeBlock;
use crate::options::{Error, Options};
use crate::weight::Weights;

/// The work of a serial run of the program, by spawn site.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Baseline {
    ticks_per_second: u64,
    /// Work in strands of the tasks of each site, by the site's label.
    work: BTreeMap<String, u128>,
}

impl Baseline {
    /// Measures the serial run `dag`.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn measure(dag: &Dag, options: &Options) -> Result<Baseline, Error> {
        let weights = Weights::new(dag, options)?;
        let mut work = BTreeMap::new();
        for (site, sum) in own_work(dag, &weights).into_iter().enumerate() {
            if sum.strands > 0 {
                *work.entry(dag.places[site].label.clone()).or_default() += sum.work;
            }
        }
        Ok(Baseline {
            ticks_per_second: dag.meta.ticks_per_second,
            work,
        })
    }

    /// The serial work of a site in ticks of a clock of `rate` hertz; `None` for a site the serial
    /// run doesn't have.
    fn work(&self, label: &str, rate: u64) -> Option<u128> {
        let work = *self.work.get(label)?;
        if rate == self.ticks_per_second || self.ticks_per_second == 0 {
            return Some(work);
        }
        Some((work as f64 * rate as f64 / self.ticks_per_second as f64).round() as u128)
    }
}

/// Adds to `causes` the additional work of the run's sites compared with `baseline`. A site that
/// the baseline lacks counts as new work, not as stretch.
pub(crate) fn stretch(causes: &mut Causes, dag: &Dag, weights: &Weights, baseline: &Baseline) {
    let mut book = Book::new();
    for (site, sum) in own_work(dag, weights).into_iter().enumerate() {
        let label = &dag.places[site].label;
        let serial = baseline.work(label, dag.meta.ticks_per_second);
        let more = serial.map_or(0, |serial| sum.work.saturating_sub(serial));
        if more > 0 {
            let group = book.group(Cause::Stretch, CodeBlock::whole_site(site as u32));
            group.lost = more;
            group.strands = sum.strands;
            group.ticks = u64::try_from(sum.work).unwrap_or(u64::MAX);
            (group.longest, group.strand) = (sum.longest, sum.strand);
        }
    }
    let places = book.places(dag, |_, evidence| evidence);
    let more: u128 = places.iter().map(|f| f.lost).sum();
    causes.lost += more;
    causes.by_cause[Cause::Stretch as usize] += more;
    causes.places.extend(places);
    causes.places.sort_by_key(|f| std::cmp::Reverse(f.lost));
    causes.places.truncate(super::book::MAX_PLACES);
}

#[derive(Debug, Clone, Copy)]
struct SiteWork {
    work: u128,
    strands: u64,
    longest: u64,
    strand: StrandId,
}

/// Work in the strands of each site's own tasks, by place.
fn own_work(dag: &Dag, weights: &Weights) -> Vec<SiteWork> {
    let none = SiteWork {
        work: 0,
        strands: 0,
        longest: 0,
        strand: NONE,
    };
    let mut sums = vec![none; dag.places.len()];
    for s in checked(0..dag.strands.len()) {
        let site = dag.tasks.site[dag.strands.task[s] as usize];
        let weight = weights.work(s as StrandId);
        let sum = &mut sums[site as usize];
        sum.work += u128::from(weight);
        sum.strands += 1;
        if sum.strand == NONE || weight > sum.longest {
            (sum.longest, sum.strand) = (weight, s as StrandId);
        }
    }
    sums
}
