//! What-if profiles (MODEL.md §4): the worked example, targets of every kind, parts, and the
//! report's suggestion.

use workspan_analysis::{
    CodeBlock, Error, Options, Outcome, Target, TargetSet, WhatIf, contains_place, faster_sites,
    report, what_if,
};
use workspan_dag::{Dag, EndKind, StartKind};

/// Example A, its three expensive strands marked by `"compute"`.
const TREE_SUM: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","name":"tree_sum"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"region_begin","t":0,"w":0,"task":0,"region":"compute"}
{"ev":"region_end","t":80,"w":0,"task":0,"region":"compute"}
{"ev":"create","t":80,"w":0,"task":0,"child":1,"site":"sum.rs:25"}
{"ev":"resume","t":80,"w":0,"task":0}
{"ev":"part_begin","t":80,"w":0,"task":0,"part":"sum"}
{"ev":"wait","t":80,"w":0,"task":0,"at":"sum.rs:26"}
{"ev":"begin","t":80,"w":0,"task":1}
{"ev":"part_begin","t":84,"w":0,"task":1,"part":"inner"}
{"ev":"create","t":90,"w":0,"task":1,"child":2,"site":"sum.rs:10"}
{"ev":"resume","t":90,"w":0,"task":1}
{"ev":"begin","t":92,"w":1,"task":2}
{"ev":"region_begin","t":92,"w":1,"task":2,"region":"compute"}
{"ev":"create","t":95,"w":0,"task":1,"child":3,"site":"sum.rs:13"}
{"ev":"resume","t":95,"w":0,"task":1}
{"ev":"wait","t":95,"w":0,"task":1,"at":"sum.rs:14"}
{"ev":"begin","t":95,"w":0,"task":3}
{"ev":"region_begin","t":95,"w":0,"task":3,"region":"compute"}
{"ev":"end","t":122,"w":1,"task":2}
{"ev":"end","t":135,"w":0,"task":3}
{"ev":"resume","t":135,"w":0,"task":1}
{"ev":"part_end","t":137,"w":0,"task":1,"part":"inner"}
{"ev":"end","t":140,"w":0,"task":1}
{"ev":"resume","t":140,"w":0,"task":0}
{"ev":"end","t":145,"w":0,"task":0}
"#;

fn tree_sum() -> Dag {
    workspan_reader::text::read(TREE_SUM.as_bytes()).unwrap()
}

fn ask(dag: &Dag, targets: &[Target], factors: &[f64]) -> WhatIf {
    let options = Options::default();
    let result = what_if(dag, &options, targets, factors).unwrap();
    let together = TargetSet::new(dag, &options, targets).unwrap();
    if !targets.is_empty() {
        assert_eq!(together.outcomes(factors).unwrap(), result.all);
    }
    result
}

fn spans(outcomes: &[Outcome]) -> Vec<u128> {
    outcomes.iter().map(Outcome::span_ticks).collect()
}

fn site(dag: &Dag, label: &str, subtree: bool) -> Target {
    let has = |i: &u32| dag.places[*i as usize].label == label;
    let places: Vec<u32> = (0..dag.places.len() as u32).filter(has).collect();
    assert!(!places.is_empty());
    Target::Site { places, subtree }
}

fn lines(from: u32, to: u32) -> Target {
    Target::Lines {
        file: "sum.rs".into(),
        from,
        to,
    }
}

#[test]
fn the_worked_example() {
    let dag = tree_sum();
    let result = ask(&dag, &[Target::Region(0)], &[2.0, 4.0, 8.0]);
    assert_eq!((result.work, result.now.span_ticks()), (175, 145));
    assert_eq!(result.targets[0].work, 150);
    assert_eq!(spans(&result.all), [85, 55, 40]);
    let two_digits = |x: f64| (x * 100.0).round() / 100.0;
    let found: Vec<f64> = result
        .all
        .iter()
        .map(|o| two_digits(o.parallelism()))
        .collect();
    assert_eq!(found, [2.06, 3.18, 4.38]);
    // The same three strands, selected directly.
    let picked: Vec<u32> = (0..dag.strands.len() as u32)
        .filter(|&s| dag.strands.end[s as usize] - dag.strands.start[s as usize] >= 30)
        .collect();
    assert_eq!(picked.len(), 3);
    let result = ask(&dag, &[Target::Strands(picked)], &[2.0, 4.0, 8.0]);
    assert_eq!(spans(&result.all), [85, 55, 40]);
    // At factor 4 the path goes through A1 no less than through A2, and gets longer where a factor
    // is below 1.
    assert_eq!(spans(&ask(&dag, &[Target::Region(0)], &[0.5]).all), [265]);
    let together = TargetSet::new(&dag, &Options::default(), &[Target::Region(0)]).unwrap();
    let path = together.critical_path(4.0).unwrap();
    assert_eq!(path.iter().map(|s| s.weight).sum::<f64>(), 55.0);
}

/// Example A computed manually, its three strands 8 times as fast: A1 is 3.75, A2 5. A0 is 10, 5
/// and A2, 5; the root 10, A0, 5.
#[test]
fn the_worked_example_by_site() {
    let dag = tree_sum();
    let options = Options::default();
    let sites = faster_sites(&dag, &options, &[Target::Region(0)], 8.0).unwrap();
    let rows: Vec<(&str, u128, u128, f64, f64)> = sites
        .iter()
        .map(|row| {
            let label = dag.places[row.site as usize].label.as_str();
            (
                label,
                row.work,
                row.span,
                row.span_then,
                row.critical_work_then,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("sum.rs:25", 90, 60, 25.0, 20.0),
            ("root", 175, 145, 40.0, 15.0),
            ("sum.rs:13", 40, 40, 5.0, 5.0),
            ("sum.rs:10", 30, 30, 3.75, 0.0),
        ]
    );
    let parallelism: Vec<f64> = sites.iter().map(|row| row.parallelism_then()).collect();
    assert_eq!(parallelism, [3.6, 4.375, 8.0, 8.0]);
    // Factor 1 gives the report's values.
    let report = report(&dag, &options).unwrap();
    for row in faster_sites(&dag, &options, &[Target::Region(0)], 1.0).unwrap() {
        let same = report.sites.iter().find(|s| s.site == row.site).unwrap();
        assert_eq!((row.work, row.span), (same.work, same.span));
        assert_eq!(row.span_then, same.span as f64);
        assert_eq!(row.critical_work_then, same.critical_work as f64);
    }
}

#[test]
fn sites_blocks_and_lines_alone_and_together() {
    let dag = tree_sum();
    // A0's own strands: 10, 5 and 5, all on the path.
    let own = site(&dag, "sum.rs:25", false);
    let a2 = site(&dag, "sum.rs:13", false);
    let result = ask(&dag, &[own.clone(), a2.clone()], &[2.0]);
    assert_eq!(spans(&result.targets[0].outcomes), [135]);
    // Half of A2 is 20, but then A1 is on the path, which begins 5 earlier.
    assert_eq!(spans(&result.targets[1].outcomes), [145 - 15]);
    assert_eq!(spans(&result.all), [80 + 5 + 30 + 3 + 5]);
    // With all descendants: 60 of the path.
    let subtree = ask(&dag, &[site(&dag, "sum.rs:25", true)], &[2.0]);
    assert_eq!(spans(&subtree.all), [115]);
    // Code in both targets counts once.
    let both = ask(&dag, &[site(&dag, "sum.rs:25", true), own, a2], &[2.0]);
    assert_eq!(spans(&both.all), [115]);

    // Strands that begin at sum.rs:14 are A0's last; those at 26 the root's last; a task begins
    // where it was created.
    assert_eq!(spans(&ask(&dag, &[lines(14, 14)], &[5.0]).all), [141]);
    assert_eq!(
        spans(&ask(&dag, &[lines(14, 26)], &[5.0]).all),
        [145 - 4 - 4 - 8]
    );
    assert_eq!(spans(&ask(&dag, &[lines(40, 50)], &[5.0]).all), [145]);
    let place = |label: &str| {
        let at = dag.places.iter().position(|p| p.label == label);
        at.unwrap() as u32
    };
    let block = Target::Block(CodeBlock {
        site: place("sum.rs:25"),
        from: place("sum.rs:14"),
        from_kind: StartKind::AfterWait,
        to: workspan_dag::NONE,
        to_kind: EndKind::End,
    });
    assert_eq!(spans(&ask(&dag, &[block], &[5.0]).all), [141]);
    let at_25 = &dag.places[place("sum.rs:25") as usize];
    assert!(
        contains_place(at_25, ("sum.rs", 20, 30)) && contains_place(at_25, ("src/sum.rs", 25, 25))
    );
    assert!(
        !contains_place(at_25, ("um.rs", 20, 30)) && !contains_place(at_25, ("sum.rs", 26, 30))
    );
}

#[test]
fn half_ticks_are_rounded_once_away_from_zero() {
    let dag = tree_sum();
    // 10/4 + 5/4 + 5/4 = 5.
    assert_eq!(
        spans(&ask(&dag, &[site(&dag, "sum.rs:25", false)], &[4.0]).all),
        [130]
    );
    // 5 / 2 = 2.5, so 142.5.
    assert_eq!(spans(&ask(&dag, &[lines(14, 14)], &[2.0]).all), [143]);
}

#[test]
fn a_factor_is_a_positive_number() {
    let dag = tree_sum();
    for factor in [0.0, -2.0, f64::NAN, f64::INFINITY] {
        let error = what_if(&dag, &Options::default(), &[lines(1, 2)], &[2.0, factor]);
        assert!(matches!(error, Err(Error::BadFactor(_))), "{factor}");
    }
}

#[test]
fn only_the_outermost_region_counts() {
    // "inner" is the only target, but lies inside "outer" for 30 of its 50 ticks.
    let dag = workspan_reader::text::read(
        br#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"region_begin","t":10,"w":0,"task":0,"region":"outer"}
{"ev":"region_begin","t":20,"w":0,"task":0,"region":"inner"}
{"ev":"region_end","t":50,"w":0,"task":0,"region":"outer"}
{"ev":"region_end","t":70,"w":0,"task":0,"region":"inner"}
{"ev":"end","t":100,"w":0,"task":0}"#,
    )
    .unwrap();
    let label = |name: &str| dag.labels.iter().position(|l| l == name).unwrap() as u32;
    let targets = [
        Target::Region(label("inner")),
        Target::Region(label("outer")),
    ];
    let result = ask(&dag, &targets, &[2.0]);
    assert_eq!((result.targets[0].work, result.targets[1].work), (20, 40));
    assert_eq!(spans(&result.targets[0].outcomes), [90]);
    assert_eq!(spans(&result.all), [70]);
}

#[test]
fn samples_split_a_strand() {
    let dag = workspan_reader::text::read(SAMPLED.as_bytes()).unwrap();
    let range = |from, to| Target::Lines {
        file: "src/a.rs".into(),
        from,
        to,
    };
    // One of the strand's eight samples is at line 5, two at line 9, one of them below a call from
    // line 20. Frames beyond the runtime's belong to another task.
    assert_eq!(spans(&ask(&dag, &[range(5, 5)], &[2.0]).all), [938]);
    assert_eq!(spans(&ask(&dag, &[range(5, 9)], &[2.0]).all), [813]);
    assert_eq!(spans(&ask(&dag, &[range(20, 20)], &[2.0]).all), [938]);
    // In several targets, a sample counts once.
    assert_eq!(
        spans(&ask(&dag, &[range(9, 9), range(20, 20)], &[2.0]).all),
        [875]
    );
}

const SAMPLED: &str = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child","sample_hz":1000}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"end","t":1000,"w":0,"task":0}
{"ev":"frame","frame":0,"function":"five","file":"src/a.rs","line":5}
{"ev":"frame","frame":1,"function":"nine","file":"src/a.rs","line":9}
{"ev":"frame","frame":2,"function":"twenty","file":"src/a.rs","line":20}
{"ev":"frame","frame":3,"function":"join","runtime":true}
{"ev":"stack","stack":0,"frames":[0]}
{"ev":"stack","stack":1,"frames":[1]}
{"ev":"stack","stack":2,"frames":[1,2]}
{"ev":"stack","stack":3,"frames":[3,2]}
{"ev":"sample","t":100,"w":0,"stack":0}
{"ev":"sample","t":200,"w":0,"stack":1}
{"ev":"sample","t":300,"w":0,"stack":2}
{"ev":"sample","t":400,"w":0,"stack":3}
{"ev":"sample","t":500,"w":0,"stack":3}
{"ev":"sample","t":600,"w":0,"stack":3}
{"ev":"sample","t":700,"w":0,"stack":3}
{"ev":"sample","t":800,"w":0,"stack":3}
"#;

#[test]
fn parts_have_work_and_span() {
    let dag = tree_sum();
    let report = report(&dag, &Options::default()).unwrap();
    let rows: Vec<_> = report
        .parts
        .iter()
        .map(|p| {
            let label = dag.labels[p.label as usize].as_str();
            (label, p.count, p.tasks, p.work, p.span, p.elapsed)
        })
        .collect();
    // "sum" starts when A0 has been created; it contains only the root's last strand. "inner"
    // contains 6 of A0's first strand, A1, A2 and 5 + 2 more of A0: 83, of which the path misses
    // A1.
    assert_eq!(
        rows,
        [
            ("sum", 1, 0, 5, Some(5), 65),
            ("inner", 1, 2, 83, Some(6 + 5 + 40 + 2), 53)
        ]
    );
}
