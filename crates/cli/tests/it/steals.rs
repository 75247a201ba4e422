//! Steals as Rayon reports them, from the program to the report.

use std::path::Path;

use crate::project::{Project, WORKSPAN, bare, printed, read, said, trace_of};

fn workspan(args: &[&str], trace: &Path) -> String {
    let output = bare(WORKSPAN).args(args).arg(trace).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    printed(&output)
}

/// A barrier in both halves of the program's only join forces one steal, and lets no other happen.
#[test]
fn one_forced_steal_is_reported_with_its_thief_and_victim() {
    let project = Project::new("sorter");
    let mut run = project.cargo_workspan(&["run", "--locked", "--", "steals", "1"]);
    let output = run.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let trace = trace_of(&output, &project.root);
    let dag = read(&trace);

    let [steal] = dag.steals[..] else {
        panic!("{:?}", dag.steals)
    };
    assert_ne!(steal.thief, steal.victim);
    assert!(
        steal.thief < 2 && steal.victim < 2 && !steal.leap,
        "{steal:?}"
    );
    let first = dag.tasks.first[steal.task as usize];
    assert_eq!(dag.strands.thread[first as usize], steal.thief);

    let exported = workspan(&["export", "--format", "text"], &trace);
    let lines: Vec<&str> = exported
        .lines()
        .filter(|l| l.contains(r#""ev":"steal","#))
        .collect();
    let (w, victim, task) = (steal.thief, steal.victim, dag.tasks.number(steal.task));
    let expected_end = format!(r#""w":{w},"victim":{victim},"task":{task}}}"#);
    assert!(
        lines.len() == 1 && lines[0].ends_with(&expected_end),
        "{lines:?}"
    );

    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&workspan(args, &trace)).unwrap()
    };
    assert_eq!(json(&["report", "--json"])["steals"], 1);
    assert!(workspan(&["report", "--long"], &trace).contains(" 1 steal,"));
    let info = json(&["info", "--json"]);
    let captured = info["captured"].as_array().unwrap();
    let row = captured
        .iter()
        .find(|row| row["what"] == "steals the runtime reported");
    assert_eq!(row.unwrap()["count"], 1, "{info:#}");
    assert_eq!(
        info["warnings"]
            .to_string()
            .matches("Steals by victim")
            .count(),
        0
    );
}

/// The steals that the runtime reports and the steals inferred from the strands are the same.
#[test]
fn steals_told_are_steals_inferred() {
    let project = Project::new("sorter");
    let mut run = project.cargo_workspan(&["run", "--locked", "--", "steals", "40"]);
    let output = run.output().unwrap();
    let trace = trace_of(&output, &project.root);
    let dag = read(&trace);
    assert_eq!(dag.steals.len(), 40);
    for steal in &dag.steals {
        let first = dag.tasks.first[steal.task as usize] as usize;
        assert_eq!(dag.strands.thread[first], steal.thief);
        assert!(steal.t <= dag.strands.start[first], "{steal:?}");
    }
    let report: serde_json::Value =
        serde_json::from_str(&workspan(&["report", "--json"], &trace)).unwrap();
    assert_eq!(report["steals"], 40);
}
