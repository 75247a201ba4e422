//! A parallel iterator that Rayon splits adaptively. Only its work is known, and the fact that no
//! item is divided.
use rayon::prelude::*;
use truth_programs::{spin, truth};

fn main() {
    (0..60usize).into_par_iter().for_each(|_| spin(1_500));
    truth("work_us=90000 span_min_us=1500");
}
