//! Runs written in the format of otf2-print are read back unchanged.

use std::path::Path;

use proptest::prelude::*;
use workspan_analysis::{Options, report};
use workspan_dag::Dag;
use workspan_export::otf2_print;
use workspan_reader::OpenOptions;
use workspan_reader::open::read;

use crate::dag_recorder::Program;

/// Work, span, tasks, spawns and the tasks of each site.
fn measured(dag: &Dag) -> (u128, u128, u64, u64, Vec<(String, u64)>) {
    let all = report(dag, &Options::default()).unwrap();
    let label = |site: u32| dag.places[site as usize].label.clone();
    let mut sites: Vec<_> = all.sites.iter().map(|r| (label(r.site), r.count)).collect();
    sites.sort();
    let ws = all.work_span;
    (ws.work, ws.span, ws.tasks, ws.spawns, sites)
}

fn check(dag: &Dag) {
    let text = otf2_print(dag);
    let options = OpenOptions::default();
    let again = read(Path::new("run.txt"), text.as_bytes(), &options);
    let again = again.unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again.meta.warnings, [""; 0], "{text}");
    let named = |mut of: (u128, u128, u64, u64, Vec<(String, u64)>)| {
        // A site without a line has its region's name.
        for site in &mut of.4 {
            site.0 = site.0.rsplit('@').next().unwrap().to_owned();
        }
        of.4.sort();
        of
    };
    assert_eq!(named(measured(&again)), measured(dag), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_run_comes_back(steps in prop::collection::vec(any::<u8>(), 0..120)) {
        // The format has no scopes: every wait is for all children.
        let steps: Vec<u8> = steps.into_iter().filter(|step| step % 8 != 4).collect();
        for dag in Program::runs(&steps) {
            check(&dag);
        }
    }
}
