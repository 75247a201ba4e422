//! Checked limits as GitHub annotations, Markdown, SARIF and JUnit XML: their readers accept
//! each, and each names the line.

use std::path::Path;

use serde_json::Value;
use workspan_analysis::compare::{Limit, LimitResult, Side, check, measure};
use workspan_analysis::{Options, report};
use workspan_export::{check_github, check_junit, check_markdown, check_sarif};
use workspan_reader::text;

fn side(name: &str, trace: &str) -> Side {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(trace);
    let dag = text::read(&std::fs::read(path).unwrap()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    Side {
        name: name.into(),
        runs: vec![measure(&dag, &report, name.into())],
    }
}

fn checked() -> (Vec<LimitResult>, Side, Side) {
    let run = side("run", "export/tests/golden/serial_merge.jsonl");
    let base = side("base", "export/tests/golden/balanced.jsonl");
    let limits = [
        Limit::MinParallelism(8.0),
        Limit::MaxSpanGrowth(0.5),
        Limit::MinBurdenedParallelism(1.0),
    ];
    let checked = check(Some(&base), &run, &limits);
    assert!(checked[0].broken && checked[1].broken && !checked[2].broken);
    (checked, base, run)
}

#[test]
fn github_annotates_the_line() {
    let text = check_github(&checked().0);
    let errors: Vec<&str> = text.lines().filter(|l| l.starts_with("::error ")).collect();
    assert_eq!(errors.len(), 2, "{text}");
    let at = "::error file=src/sort.rs,line=37,title=workspan%3A parallelism 3.76 ";
    assert!(errors[0].starts_with(at), "{text}");
    for line in text.lines() {
        let (properties, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        assert!(
            !message.is_empty() && !properties.contains('\u{a0}'),
            "{line}"
        );
    }
    assert!(
        text.ends_with("workspan: 2 of 3 limits are broken\n"),
        "{text}"
    );
}

#[test]
fn a_comment_has_limits_a_table_and_a_picture() {
    let (checked, base, run) = checked();
    let text = check_markdown(&checked, Some(&base), &run);
    assert!(
        text.starts_with("### workspan: 2 of 3 limits are broken\n"),
        "{text}"
    );
    assert!(text.contains("`src/sort.rs:37`"), "{text}");
    assert!(text.contains("| | before | after | change |"), "{text}");
    // Rows of a table have as many cells as its head.
    let mut cells = 0;
    for line in text.lines() {
        let now = line.replace("\\|", "").matches('|').count();
        assert!(now == 0 || cells == 0 || now == cells, "{line}\n{text}");
        cells = now;
    }
    let bar = |name: &str| {
        let line = text.lines().find(|l| l.starts_with(name)).unwrap();
        line.chars().filter(|c| "█▒·".contains(*c)).count()
    };
    // 4 x 48 ms against 4 x 3.2 ms.
    assert_eq!((bar("before"), bar("after")), (4, 60), "{text}");
    let alone = check_markdown(&checked, None, &run);
    assert!(alone.contains("| | this run |"), "{alone}");
}

/// The requirements of section 3 of the specification for the parts that our log has.
#[test]
fn sarif_keeps_the_rules_of_2_1_0() {
    let log: Value = serde_json::from_str(&check_sarif(&checked().0)).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "workspan");
    let rules = driver["rules"].as_array().unwrap();
    let mut ids: Vec<&str> = rules.iter().map(|r| r["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rules.len(), "identifiers are unique");
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        let level = result["level"].as_str().unwrap();
        assert!(["none", "note", "warning", "error"].contains(&level));
        assert!(result["message"]["text"].as_str().unwrap().ends_with('.'));
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert_eq!(uri, "src/sort.rs");
        assert_eq!(place["region"]["startLine"], 37);
    }
}

#[test]
fn junit_has_a_case_for_each_limit() {
    let text = check_junit(&checked().0);
    assert!(
        text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"),
        "{text}"
    );
    assert!(text.contains("tests=\"3\" failures=\"2\""), "{text}");
    assert_eq!(text.matches("<testcase ").count(), 3, "{text}");
    assert_eq!(text.matches("<failure ").count(), 2, "{text}");
    assert!(text.contains("file=\"src/sort.rs\" line=\"37\""), "{text}");
    // Each element is closed in order.
    let mut open: Vec<&str> = Vec::new();
    for tag in text.split('<').skip(2) {
        let tag = tag.split('>').next().unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{text}");
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty(), "{text}");
}
