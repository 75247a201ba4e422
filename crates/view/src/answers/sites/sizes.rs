//! The strands of one code by size: their number, when they ran, and how busy the workers were
//! meanwhile.

use std::collections::BTreeMap;

use serde::Serialize;
use workspan_analysis::FreeTime;

use super::Spark;
use crate::run::RunModel;

/// Maximum number of sizes given for one code: those with most time.
const MAX_SIZES: usize = 10;

/// The strands whose weights are nearest to the same power of two.
#[derive(Serialize)]
pub(super) struct Size {
    strands: u64,
    /// Sum of the strands' weights.
    total: u64,
    spark: Vec<f32>,
    /// Mean number of strands that ran while a strand of this size ran.
    busy: f64,
    /// Ticks of free workers while the strands ran, shared equally among all that ran. `None` if
    /// some ran when records were missing already.
    free: Option<u64>,
}

#[derive(Default)]
pub(super) struct Sizes(BTreeMap<i32, OfSize>);

struct OfSize {
    strands: u64,
    total: u64,
    spark: Spark,
    length: u64,
    running: f64,
    free: f64,
    is_unread: bool,
}

impl Sizes {
    pub(super) fn add(
        &mut self,
        model: &RunModel,
        weight: u64,
        (start, end): (u64, u64),
        free: &FreeTime,
    ) {
        let size = (weight.max(1) as f64).log2().round() as i32;
        let of = self.0.entry(size).or_insert_with(|| OfSize {
            strands: 0,
            total: 0,
            spark: Spark([0; super::BINS]),
            length: 0,
            running: 0.0,
            free: 0.0,
            is_unread: false,
        });
        let (running, idle) = free.sums(start, end);
        of.strands += 1;
        of.total = of.total.saturating_add(weight);
        of.spark.add(model, start, end);
        of.length = of.length.saturating_add(end - start);
        of.running += running;
        of.free += idle;
        of.is_unread |= free.is_unread(end);
    }

    /// The sizes with most time, the smallest first.
    pub(super) fn rows(&self, model: &RunModel) -> Vec<Size> {
        let mut all: Vec<(&i32, &OfSize)> = self.0.iter().collect();
        all.sort_by_key(|(_, of)| std::cmp::Reverse(of.total));
        all.truncate(MAX_SIZES);
        all.sort_by_key(|(size, _)| **size);
        let row = |(_, of): (&i32, &OfSize)| Size {
            strands: of.strands,
            total: of.total,
            spark: of.spark.mean(model),
            busy: of.running / of.length.max(1) as f64,
            free: (!of.is_unread).then_some(of.free as u64),
        };
        all.into_iter().map(row).collect()
    }
}
