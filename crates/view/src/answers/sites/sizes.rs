//! The strands of one code by the size that their tasks told, or else by weight: their number, when
//! they ran, and how busy the workers were meanwhile.

use std::collections::BTreeMap;

use serde::Serialize;
use workspan_analysis::FreeTime;

use super::Spark;
use crate::run::RunModel;

/// Maximum number of sizes given for one code: those with most time.
const MAX_SIZES: usize = 10;

/// The strands whose weights, or the sizes of whose tasks, are nearest to the same power of two.
#[derive(Serialize)]
pub(super) struct Size {
    strands: u64,
    /// The mean size of their tasks; `None` where the strands are by weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<f64>,
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
pub(super) struct Sizes {
    by_weight: BTreeMap<i32, OfSize>,
    by_size: BTreeMap<i32, OfSize>,
    /// Number of strands whose tasks told no size.
    untold: u64,
}

struct OfSize {
    strands: u64,
    elements: u64,
    total: u64,
    spark: Spark,
    length: u64,
    running: f64,
    free: f64,
    is_unread: bool,
}

impl OfSize {
    fn new() -> OfSize {
        OfSize {
            strands: 0,
            elements: 0,
            total: 0,
            spark: Spark([0; super::BINS]),
            length: 0,
            running: 0.0,
            free: 0.0,
            is_unread: false,
        }
    }
}

/// The power of two that is nearest to `number`.
fn nearest_power(number: u64) -> i32 {
    (number.max(1) as f64).log2().round() as i32
}

impl Sizes {
    /// Adds a strand of this weight, whose task told this size.
    pub(super) fn add(
        &mut self,
        model: &RunModel,
        (weight, size): (u64, Option<u64>),
        (start, end): (u64, u64),
        free: &FreeTime,
    ) {
        let (running, idle) = free.sums(start, end);
        let add = |of: &mut OfSize| {
            of.strands += 1;
            of.elements = of.elements.saturating_add(size.unwrap_or(0));
            of.total = of.total.saturating_add(weight);
            of.spark.add(model, start, end);
            of.length = of.length.saturating_add(end - start);
            of.running += running;
            of.free += idle;
            of.is_unread |= free.is_unread(end);
        };
        let by_weight = self.by_weight.entry(nearest_power(weight));
        add(by_weight.or_insert_with(OfSize::new));
        match size {
            Some(size) => {
                let by_size = self.by_size.entry(nearest_power(size));
                add(by_size.or_insert_with(OfSize::new));
            }
            None => self.untold += 1,
        }
    }

    /// The sizes with most time, the smallest first. Strands are by the sizes of their tasks if all
    /// of these are known.
    pub(super) fn rows(&self, model: &RunModel) -> Vec<Size> {
        let is_told = self.untold == 0 && !self.by_size.is_empty();
        let by = match is_told {
            true => &self.by_size,
            false => &self.by_weight,
        };
        let mut all: Vec<(&i32, &OfSize)> = by.iter().collect();
        all.sort_by_key(|(_, of)| std::cmp::Reverse(of.total));
        all.truncate(MAX_SIZES);
        all.sort_by_key(|(size, _)| **size);
        let row = |(_, of): (&i32, &OfSize)| Size {
            strands: of.strands,
            size: is_told.then(|| of.elements as f64 / of.strands as f64),
            total: of.total,
            spark: of.spark.mean(model),
            busy: of.running / of.length.max(1) as f64,
            free: (!of.is_unread).then_some(of.free as u64),
        };
        all.into_iter().map(row).collect()
    }
}
