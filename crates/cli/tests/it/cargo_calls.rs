//! Every kind of Rayon call is shown at the user's own line, with no setting, whether the profile
//! strips or not.
//!
//! The lines are marked in the fixture: `//= name`, with `-1` when the line above is meant.

use std::collections::BTreeMap;
use std::fs;

use crate::project::{Project, read, said, sites, trace_of};

#[test]
fn calls_are_shown_at_the_users_lines() {
    let project = Project::named("../../../adapters/rayon/fixtures/calls", "calls");
    let source = fs::read_to_string(project.root.join("src/main.rs")).unwrap();
    let marked: BTreeMap<String, String> = source
        .lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let (_, mark) = line
                .split_once("//= ")
                .filter(|(before, _)| !before.contains("//"))?;
            let (name, back) = match mark.split_once(" -") {
                Some((name, back)) => (name, back.trim().parse().unwrap()),
                None => (mark, 0),
            };
            Some((
                format!("src/main.rs:{}", index + 1 - back),
                name.trim().to_owned(),
            ))
        })
        .collect();
    assert!(marked.len() >= 12, "{marked:?}");

    for profile in ["release", "stripped"] {
        let output = project
            .cargo_workspan(&["run", "--profile", profile, "--no-report"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let dag = read(&trace_of(&output, &project.root));
        // A chain over several lines is labelled with the first and the last; its line is the last.
        let places = dag.places.iter();
        let chains: Vec<_> = places.filter(|p| p.first_line().is_some()).collect();
        for place in &chains {
            assert!(place.first_line() < place.line, "{place:?}");
        }
        let at_its_line = |label: String| {
            let chain = chains.iter().find(|place| place.label == label);
            chain.map_or(label, |place| {
                format!("src/main.rs:{}", place.line.unwrap())
            })
        };
        let shown: Vec<String> = sites(&dag).into_iter().map(at_its_line).collect();
        let missing: Vec<_> = marked
            .iter()
            .filter(|(label, _)| !shown.contains(label))
            .collect();
        let unexpected: Vec<_> = shown
            .iter()
            .filter(|label| !marked.contains_key(*label))
            .collect();
        assert!(
            missing.is_empty() && unexpected.is_empty(),
            "{profile}: no tasks at {missing:?}, but some at {unexpected:?}"
        );
        for place in dag
            .places
            .iter()
            .filter(|place| marked.contains_key(&place.label))
        {
            assert!(
                place.source.is_some() && place.function.is_some() && place.primitive.is_some(),
                "{place:?}"
            );
        }
    }
}
