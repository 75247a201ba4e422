//! Times and counters of both runs in the regions that the program marked (MODEL.md §4). Each
//! moment counts only in the outermost region, so the regions add up to at most the whole.

use workspan_dag::{Dag, NONE};

use super::rows::{RowSums, Sums};
use super::{RowKey, StretchRow};
use crate::options::{Error, Metric, Options};
use crate::regions::{StrandPart, each_part};
use crate::weight::Weights;

/// The labels of both runs' regions, and a row for each. For a strand that lies partly in a region,
/// its share of on-CPU time and of its counters counts.
pub(super) fn regions(
    dags: [&Dag; 2],
    weights: &[Weights; 2],
    measured: &Options,
    counters: &[String],
    sums: &Sums,
) -> Result<(Vec<String>, Vec<StretchRow>), Error> {
    let mut labels: Vec<String> = Vec::new();
    let mut by_label = [Vec::new(), Vec::new()];
    for (side, dag) in dags.into_iter().enumerate() {
        for (label, sum) in of_run(dag, &weights[side], measured, counters)? {
            let name = &dag.labels[label as usize];
            let known = labels.iter().position(|known| known == name);
            let key = known.unwrap_or_else(|| {
                labels.push(name.clone());
                labels.len() - 1
            });
            by_label[side].push((key as u32, sum));
        }
    }
    let rows = sums.rows_of(by_label, RowKey::Region);
    Ok((labels, rows))
}

/// The sums of one run, by number of the label.
fn of_run(
    dag: &Dag,
    weights: &Weights,
    measured: &Options,
    counters: &[String],
) -> Result<Vec<(u32, RowSums)>, Error> {
    if dag.regions.is_empty() {
        return Ok(Vec::new());
    }
    let mut sums = vec![RowSums::none(counters.len()); dag.labels.len()];
    let mut last = vec![NONE; dag.labels.len()];
    each_part(dag, weights, measured, |part: StrandPart| {
        let label = part.label as usize;
        sums[label].ticks += u128::from(part.weight);
        // The stretches of a strand are adjacent.
        sums[label].strands += u128::from(last[label] != part.strand);
        last[label] = part.strand;
    });
    for (i, name) in counters.iter().enumerate() {
        let options = Options {
            metric: Metric::Counter(name.clone()),
            ..measured.clone()
        };
        let counted = Weights::new(dag, &options)?;
        each_part(dag, &counted, &options, |part: StrandPart| {
            sums[part.label as usize].counters[i] += u128::from(part.weight);
        });
    }
    let mut opened: Vec<u32> = dag.regions.iter().map(|region| region.label).collect();
    opened.sort_unstable();
    opened.dedup();
    let row = |label: u32| (label, std::mem::take(&mut sums[label as usize]));
    Ok(opened.into_iter().map(row).collect())
}
