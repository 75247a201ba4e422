//! Compares the profile by spawn site when a site is faster with the slow implementation.

use workspan_analysis::{Options, Target, faster_sites};
use workspan_dag::Dag;

use crate::random::run::Run;
use crate::random::slow::{Measure, Slow};

/// Makes one of the run's sites faster.
pub fn check(dag: &Dag, options: &Options, run: &Run, m: Measure, context: &str) {
    let mut slow = Slow::new(run);
    let m = Measure { burden: 0, ..m };
    let labels: Vec<&str> = slow.sites(m).into_keys().collect();
    let label = labels[run.tasks.len() % labels.len()];
    let factor: u32 = 1 << (1 + run.tasks.len() % 3);
    let has = |&site: &u32| dag.places[site as usize].label == label;
    let places = (0..dag.places.len() as u32).filter(has).collect();
    let target = Target::Site {
        places,
        subtree: false,
    };
    let rows = faster_sites(dag, options, &[target], f64::from(factor)).unwrap();
    slow.faster = Some((label, u128::from(factor)));
    let then = slow.sites(m);
    assert_eq!(rows.len(), then.len(), "{context}");
    for row in rows {
        let label = dag.places[row.site as usize].label.as_str();
        let expected = &then[label];
        let parts = |v: u128| v as f64 / f64::from(factor);
        assert_eq!(row.span_then, parts(expected.span), "{label}, {context}");
        // Counters go up to 2^62: in f64, different paths may have the same weight.
        if !m.counter {
            let critical = parts(expected.critical_work);
            assert_eq!(row.critical_work_then, critical, "{label}, {context}");
        }
    }
}
