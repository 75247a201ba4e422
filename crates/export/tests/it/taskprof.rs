//! Runs written as the files of TaskProf2's analysis, read again and measured by an independent
//! implementation of its rules.

use std::collections::BTreeMap;

use proptest::prelude::*;
use workspan_analysis::{Options, report};
use workspan_dag::{Dag, ROOT_PLACE};
use workspan_export::{TaskprofFile, taskprof_input};
use workspan_reader::text::read_str;

use crate::dag_recorder::Program;

/// A line of `step_work_0.csv`.
struct Line {
    parent: usize,
    kind: u32,
    site: usize,
    work: u128,
    children: Vec<usize>,
}

/// Work and span of a subtree, and of its spawn sites without tasks nested in another of the same
/// site.
#[derive(Default)]
struct Measured {
    work: u128,
    span: u128,
}

/// The tree, by line number; 0 is no node.
fn lines(files: &[TaskprofFile]) -> Vec<Line> {
    let text = &files
        .iter()
        .find(|f| f.name == "step_work_0.csv")
        .unwrap()
        .text;
    let nobody = Line {
        parent: 0,
        kind: 0,
        site: 0,
        work: 0,
        children: Vec::new(),
    };
    let mut lines = vec![nobody];
    for (i, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |cell: usize| cells[cell].parse::<usize>().unwrap();
        assert_eq!(number(0), i + 1, "{line}");
        let step = cells[2] == "3";
        assert_eq!(cells.len(), if step { 9 } else { 4 }, "{line}");
        assert!(
            number(1) <= i,
            "a parent stands before its children: {line}"
        );
        lines.push(Line {
            parent: number(1),
            kind: number(2) as u32,
            site: number(3),
            work: if step { number(4) as u128 } else { 0 },
            children: Vec::new(),
        });
        let parent = number(1);
        lines[parent].children.push(i + 1);
    }
    lines
}

/// A DPST's measures: steps and finishes run one after another, an async runs in parallel with the
/// nodes after it.
fn measure(
    lines: &[Line],
    at: usize,
    around: &mut Vec<usize>,
    sites: &mut BTreeMap<usize, Measured>,
) -> Measured {
    let line = &lines[at];
    if line.kind == 3 {
        assert!(line.children.is_empty());
        return Measured {
            work: line.work,
            span: line.work,
        };
    }
    let first = line.children.first().expect("no async or finish is empty");
    assert_eq!(lines[*first].kind, 3, "each begins with a step");
    let outermost = line.site != 0 && !around.contains(&line.site);
    around.push(line.site);
    let (mut series, mut whole) = (0, Measured::default());
    for &child in &line.children {
        let inner = measure(lines, child, around, sites);
        whole.work += inner.work;
        if lines[child].kind == 1 {
            whole.span = whole.span.max(series + inner.span);
        } else {
            series += inner.span;
        }
    }
    whole.span = whole.span.max(series);
    around.pop();
    if outermost {
        let site = sites.entry(line.site).or_default();
        site.work += whole.work;
        site.span += whole.span;
    }
    whole
}

fn check(dag: &Dag) {
    let options = Options::default();
    let report = report(dag, &options).unwrap();
    let files = taskprof_input(dag, &options).unwrap();
    assert_eq!(files.len(), 33);
    let lines = lines(&files);
    assert_eq!((lines[1].parent, lines[1].kind), (0, 2));
    let mut sites = BTreeMap::new();
    let whole = measure(&lines, 1, &mut Vec::new(), &mut sites);
    assert_eq!(
        (whole.work, whole.span),
        (report.work_span.work, report.work_span.span)
    );
    let text = &files
        .iter()
        .find(|f| f.name == "callsite_info.csv")
        .unwrap()
        .text;
    let rows: Vec<_> = report
        .sites
        .iter()
        .filter(|row| row.site != ROOT_PLACE)
        .collect();
    assert_eq!(
        (sites.len(), text.lines().count()),
        (rows.len(), rows.len())
    );
    for row in rows {
        let site = &sites[&(row.site as usize)];
        assert_eq!((site.work, site.span), (row.work, row.span), "{row:?}");
        let place = &dag.places[row.site as usize];
        let file = place.file.as_deref().unwrap_or(&place.label);
        let line = format!("{},{file},{},0", row.site, place.line.unwrap_or(0));
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn its_analysis_measures_what_the_report_says(steps in prop::collection::vec(any::<u8>(), 0..120)) {
        for dag in Program::runs(&steps) {
            check(&dag);
        }
    }
}

/// MODEL.md §8, example A, as it is written: its figure 3.
#[test]
fn example_a_line_by_line() {
    let text = include_str!("../golden/example_a.jsonl");
    let dag = read_str(text).unwrap();
    let files = taskprof_input(&dag, &Options::default()).unwrap();
    let lines = lines(&files);
    let kinds: Vec<(u32, usize, u128)> = lines[1..]
        .iter()
        .map(|l| (l.kind, l.parent, l.work))
        .collect();
    let shape: Vec<u32> = kinds.iter().map(|k| k.0).collect();
    // Root, nothing, its finish: 80, A0 (nothing, its finish: 10, A1: 30, 5, A2: 40, 0), 5; 0; 5.
    assert_eq!(shape.iter().filter(|&&k| k == 1).count(), 3, "{kinds:?}");
    assert_eq!(shape.iter().filter(|&&k| k == 2).count(), 3, "{kinds:?}");
    let mut work: Vec<u128> = kinds.iter().map(|k| k.2).filter(|&w| w > 0).collect();
    work.sort_unstable();
    assert_eq!(work, [5, 5, 5, 10, 30, 40, 80]);
    check(&dag);
}

#[test]
fn a_run_that_is_no_tree_or_is_folded_is_refused() {
    let text = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"folded","t":10,"w":0,"task":0,"work":9,"span":5,"ready_integral":3,"envelope":[[5,0]],"tasks":2,"spawns":2,"syncs":1,"strands":6,"levels":1,"between":1,"sites":[],"blocks":[]}
{"ev":"end","t":10,"w":0,"task":0}
"#;
    let why = taskprof_input(&read_str(text).unwrap(), &Options::default()).unwrap_err();
    assert!(why.to_string().contains("--fold off"), "{why}");
}
