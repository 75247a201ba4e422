//! Real programs before and after their fix: OpenMP kernels recorded on 2 threads of 2 processors
//! that nothing else used (`workspan export --format text`, without host, command and samples).
//! Their sources are next to the traces.

use std::path::Path;

use workspan_analysis::causes::{Cause, Causes};
use workspan_analysis::{Options, report};

/// The causes, and the label of each finding's site with its share of the loss.
fn causes(name: &str) -> (Causes, Vec<(Cause, String, f64)>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let text = std::fs::read(folder.join(format!("{name}.jsonl"))).unwrap();
    let dag = workspan_reader::text::read(&text).unwrap();
    // GNU OpenMP's own steals were not calibrated; 1000 cycles is what they took there at best.
    let options = Options {
        burden: Some(1000),
        ..Options::default()
    };
    let report = report(&dag, &options).unwrap();
    let causes = report.causes;
    assert_eq!(
        causes.by_cause.iter().sum::<u128>(),
        report.breakdown.lost()
    );
    let label = |place: u32| dag.places.get(place as usize).map(|p| p.label.clone());
    let findings = causes.findings().into_iter();
    let named = findings.map(|f| {
        let site = label(f.block.site).unwrap_or_default();
        (f.cause, site, causes.percent(f.lost))
    });
    let named = named.collect();
    (causes, named)
}

fn is_named(name: &str, cause: Cause, site: &str, at_least: f64) {
    let (_, findings) = causes(name);
    let found = findings.iter().find(|f| f.0 == cause && f.1 == site);
    assert!(
        found.is_some_and(|f| f.2 >= at_least),
        "{name}: {findings:?}"
    );
}

fn is_not_named(name: &str, cause: Cause) {
    let (causes, findings) = causes(name);
    assert!(
        findings.iter().all(|f| f.0 != cause),
        "{name}: {findings:?}"
    );
    let lost = causes.by_cause[cause as usize];
    assert!(
        lost * 100 <= causes.total,
        "{name}: {lost} of {}",
        causes.total
    );
}

/// One thread reads 60 records and creates a task for each; then tasks halve the range, and each
/// reads its own.
#[test]
fn a_loop_that_spawns() {
    is_named("spawner-loop", Cause::SpawnLoop, "spawner.c:36", 50.0);
    is_not_named("spawner-split", Cause::SpawnLoop);
}

/// A triangle's rows in two blocks; then row by row.
#[test]
fn a_schedule_that_is_too_coarse() {
    is_named("uneven-static", Cause::GrainCoarse, "uneven.c:21", 50.0);
    is_not_named("uneven-dynamic", Cause::GrainCoarse);
}

/// A task for each number; then for twenty.
#[test]
fn tasks_that_are_too_small() {
    is_named("grains-1", Cause::GrainFine, "grains.c:15", 10.0);
    is_not_named("grains-20", Cause::GrainFine);
}
