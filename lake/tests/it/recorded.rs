//! Runs of real programs, which `cargo xtask test lake` records. Each was added to a lake by its
//! recording.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use workspan_lake::queries;
use workspan_lake::tables::DETAIL;

use crate::sqlite::{answer, same_rows};
use crate::{add, rows};

/// The environment variable with the folder of the traces and of the lake that they were added to.
const RUNS: &str = "WORKSPAN_LAKE_RUNS";
/// Minimum number of runs.
const MIN_RUNS: usize = 200;

fn folder() -> PathBuf {
    let runs = std::env::var_os(RUNS);
    PathBuf::from(runs.expect("a folder of recorded runs: cargo xtask test lake"))
}

/// A lake of these runs, with all tables.
pub fn lake() -> &'static Path {
    static LAKE: OnceLock<PathBuf> = OnceLock::new();
    LAKE.get_or_init(|| {
        let root = folder().join("detail");
        let _ = std::fs::remove_dir_all(&root);
        let traces: Vec<PathBuf> = (0..)
            .map(|run| folder().join(format!("{run}.wspan")))
            .take_while(|trace| trace.exists())
            .collect();
        for (i, part) in traces.chunks(20).enumerate() {
            let tag = format!("commit=c{i}");
            add(&root, part, &["--detail", "--quiet", "--tag", &tag]);
        }
        root
    })
}

#[test]
#[ignore = "needs recorded runs: cargo xtask test lake"]
fn runs_that_added_themselves_are_those_that_were_added_later() {
    let by_themselves = folder().join("lake");
    let count = rows(
        &by_themselves,
        "select count(*), count(distinct run) from runs",
    );
    let runs = count[0].split(',').next().unwrap();
    assert!(runs.parse::<usize>().unwrap() >= MIN_RUNS, "{count:?}");
    assert_eq!(
        count,
        rows(lake(), "select count(*), count(distinct run) from runs")
    );
    let programs = rows(
        lake(),
        "select project, count(*) from runs group by project",
    );
    assert!(programs.len() > 2, "{programs:?}");
    let reads_detail = |sql: &str| {
        let words = sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let mut words = words.skip_while(|word| *word != "FROM");
        words.any(|word| DETAIL.contains(&word))
    };
    let mut compared = 0;
    for query in queries::all().filter(|query| !reads_detail(query.sql)) {
        assert_eq!(
            answer(&by_themselves, query.name),
            answer(lake(), query.name),
            "{}",
            query.name
        );
        compared += 1;
    }
    assert!(compared > 10, "{compared} queries");
}

#[test]
#[ignore = "needs recorded runs: cargo xtask test lake"]
fn recorded_runs_have_the_same_rows_in_sqlite() {
    same_rows(lake());
}
