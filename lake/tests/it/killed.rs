//! An `add` that is killed leaves no files that are read.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{add, files, rows, traces};

/// Number of kills.
const KILLS: usize = 200;
/// Number of runs that each `add` adds.
const RUNS: usize = 6;

/// Counts the rows of runs that are not in `runs`.
const ORPHANED_ROWS_QUERY: &str = "select (select count(*) from sites where run not in (select run from runs)) as sites, \
    (select count(*) from strands where run not in (select run from runs)) as strands";

#[test]
#[ignore = "200 kills take a minute"]
fn an_add_that_is_killed_at_any_moment_leaves_nothing_that_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let traces = traces(folder.path(), RUNS);
    // The time of an `add` that is not killed, and the number of rows of each run.
    let whole = folder.path().join("whole");
    let begun = Instant::now();
    add(&whole, &traces, &["--detail"]);
    let span = begun.elapsed();
    let per_run = "with s as (select run, count(*) as n from sites group by run), t as (select run, count(*) as n from strands group by run)
        select r.run, s.n, t.n from runs r left join s on s.run = r.run left join t on t.run = r.run order by r.run";
    let expected = rows(&whole, per_run);
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let (mut cut, mut with_orphans) = (0, 0);
    for moment in 0..KILLS {
        let root = folder.path().join(format!("killed-{moment}"));
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let after = Duration::from_nanos(random % (span.as_nanos() as u64 * 11 / 10));
        let mut command = Command::new(env!("CARGO_BIN_EXE_workspan-lake"));
        command
            .args(["add", "--quiet", "--detail", "--into"])
            .arg(&root)
            .args(&traces);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(after);
        child.kill().unwrap();
        child.wait().unwrap();
        let runs = root.join("v1/runs");
        let is_run = |path: &std::path::PathBuf| path.extension().is_some_and(|e| e == "parquet");
        let there = if runs.exists() {
            files(&runs).iter().filter(|p| is_run(p)).count()
        } else {
            0
        };
        cut += usize::from(there < RUNS);
        if there > 0 {
            let left = rows(&root, per_run);
            assert_eq!(left.len(), there, "{after:?}");
            for row in &left {
                assert!(expected.contains(row), "{after:?}: {row}");
            }
            let all = rows(&root, ORPHANED_ROWS_QUERY);
            assert!(all[0] == "0,0", "{after:?}: {all:?}");
            let sites = root.join("v1/sites");
            with_orphans += usize::from(files(&sites).len() > there);
        }
        // The remaining runs can be added afterwards.
        if moment % 10 == 0 {
            add(&root, &traces, &["--detail"]);
            assert_eq!(rows(&root, per_run), expected, "{after:?}");
        }
        std::fs::remove_dir_all(&root).ok();
    }
    println!(
        "{cut} of {KILLS} adds were cut, {with_orphans} left tables of a run that is not there"
    );
    assert!(
        cut > KILLS / 4,
        "only {cut} adds were cut: the moments say little"
    );
}
