//! Comparisons of runs, and checked limits: traces in, numbers and text out. The texts are under
//! `runs/`.

use serde_json::Value;
use workspan_analysis::compare::{
    Amount, Comparison, Limit, Noise, Quantity, Reason, RunMeasures, Side, check, compare, measure,
};
use workspan_analysis::{Options, report};
use workspan_export::{
    Charset, CompareOptions, check_json, check_text, compare_json, compare_text,
};

/// A run on two workers, times in us: the root works for `before`, spawns a task of 400 at `line`,
/// works for 400 itself, waits, and merges for `merge`; the task is taken `delay` late.
#[derive(Clone, Copy)]
struct Run {
    line: u32,
    before: u64,
    merge: u64,
    delay: u64,
}

const BASE: Run = Run {
    line: 37,
    before: 100,
    merge: 200,
    delay: 0,
};

impl Run {
    fn trace(self) -> String {
        let Run {
            line,
            before,
            merge,
            delay,
        } = self;
        let at = format!("src/sort.rs:{line}");
        let place = serde_json::json!({
            "label": at, "file": "src/sort.rs", "line": line, "function": "sort::msort", "primitive": "spawn",
            "source": "s.spawn(|_| msort(b));",
        });
        let header = serde_json::json!({
            "workspan_trace": 1, "workers": 2, "time_unit": "us", "steals": "child", "name": "sort",
            "runtime": "Rayon 1.13.0", "places": [{"label": "root"}, place],
        });
        let (fork, join) = (before, before + delay + 400);
        let end = join + merge;
        format!(
            r#"{header}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"create","t":{fork},"w":0,"task":0,"child":1,"site":"{at}","at":"{at}"}}
{{"ev":"resume","t":{fork},"w":0,"task":0}}
{{"ev":"begin","t":{begun},"w":1,"task":1}}
{{"ev":"wait","t":{waits},"w":0,"task":0,"at":"{at}"}}
{{"ev":"end","t":{join},"w":1,"task":1}}
{{"ev":"resume","t":{join},"w":0,"task":0}}
{{"ev":"end","t":{end},"w":0,"task":0}}
"#,
            begun = fork + delay,
            waits = fork + 400,
        )
    }

    fn measures(self) -> RunMeasures {
        let dag = workspan_reader::text::read(self.trace().as_bytes()).unwrap();
        let report = report(&dag, &Options::default()).unwrap();
        measure(&dag, &report, "sort.jsonl".into())
    }
}

fn side(name: &str, runs: &[Run]) -> Side {
    Side {
        name: name.into(),
        runs: runs.iter().map(|r| r.measures()).collect(),
    }
}

fn change(comparison: &Comparison, quantity: Quantity) -> (f64, Noise) {
    let d = &comparison.quantity(quantity).unwrap().differences[0];
    (d.absolute, d.noise)
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../runs");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The root's last strand is a region; its first lies in two, of which the inner one never counts.
fn with_regions(run: Run) -> RunMeasures {
    let mark = |ev: &str, t: u64, region: &str| {
        format!(r#"{{"ev":"region_{ev}","t":{t},"w":0,"task":0,"region":"{region}"}}"#)
    };
    let join = run.before + run.delay + 400;
    let mut lines: Vec<String> = run.trace().lines().map(str::to_owned).collect();
    let prepare = [
        mark("begin", 0, "prepare"),
        mark("begin", 10, "parse"),
        mark("end", run.before, "parse"),
        mark("end", run.before, "prepare"),
    ];
    lines.splice(2..2, prepare);
    lines.insert(lines.len() - 1, mark("begin", join, "merge"));
    let dag = workspan_reader::text::read(lines.join("\n").as_bytes()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    measure(&dag, &report, "sort.jsonl".into())
}

#[test]
fn marked_regions_are_compared_by_label() {
    let side = |name: &str, merge: u64| Side {
        name: name.into(),
        runs: vec![with_regions(Run { merge, ..BASE })],
    };
    let comparison = compare(&[side("before", 200), side("after", 140)]);
    let rows: Vec<(&str, f64, f64, f64)> = comparison
        .regions
        .iter()
        .map(|row| {
            let work = &row.work_differences[0];
            let critical = &row.critical_differences[0];
            let name = row.key.as_str();
            (name, row.work[0].mean, work.absolute, critical.absolute)
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("merge", 200e3, -60e3, -60e3),
            ("prepare", 100e3, 0.0, 0.0),
            ("parse", 0.0, 0.0, 0.0),
        ]
    );
    let text = compare_text(&comparison, &CompareOptions::default());
    let at = text.find("Marked regions").expect(&text);
    let line = text[at..].lines().nth(1).unwrap();
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace()).collect();
    let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
    assert_eq!(
        words.join(" "),
        "merge 200 us 140 us -30.0 % -60.0 us",
        "{text}"
    );
    let json: Value = serde_json::from_str(&compare_json(&comparison)).unwrap();
    assert_eq!(json["regions"][0]["region"], "merge");
    assert_eq!(json["regions"][0]["work_differences"][0]["relative"], -0.3);
}

fn merges(merges: &[u64], line: u32) -> Vec<Run> {
    let of = |&merge: &u64| Run {
        merge,
        line,
        ..BASE
    };
    merges.iter().map(of).collect()
}

#[test]
fn before_and_after_an_edit_that_moved_the_line() {
    let before = side("before", &merges(&[198, 200, 202], 37));
    let after = side("after", &merges(&[98, 100, 102], 40));
    let comparison = compare(&[before, after]);
    assert_eq!(comparison.moved, 1, "recognised by its source text");
    for (quantity, expected) in [
        (Quantity::Elapsed, -100e3),
        (Quantity::Work, -100e3),
        (Quantity::Span, -100e3),
        // During the merge, the other worker had nothing to do.
        (Quantity::NoWorkProgram, -100e3),
    ] {
        assert_eq!(
            change(&comparison, quantity),
            (expected, Noise::Beyond),
            "{quantity:?}"
        );
    }
    assert_eq!(change(&comparison, Quantity::Tasks), (0.0, Noise::Within));
    // The root's merge is what shrank; the task did not change, and is one row although its line
    // moved.
    let largest = &comparison.blocks[0];
    assert_eq!(largest.key.site, 0);
    assert_eq!(largest.critical_differences[0].absolute, -100e3);
    assert_eq!(comparison.sites.len(), 2);
    assert_eq!(comparison.sites[1].work_differences[0].absolute, 0.0);
    snapshot(
        "compare_pair",
        &compare_text(&comparison, &CompareOptions::default()),
    );
}

#[test]
fn what_the_runs_of_a_side_differ_by_is_noise() {
    let a = side("a", &merges(&[150, 200, 260], 37));
    let b = side("b", &merges(&[160, 240, 255], 37));
    let comparison = compare(&[a, b]);
    assert_eq!(change(&comparison, Quantity::Elapsed).1, Noise::Within);
    let text = compare_text(&comparison, &CompareOptions::default());
    assert!(text.contains("within the noise of the runs"), "{text}");
    let one = compare(&[side("a", &[BASE]), side("b", &merges(&[300], 37))]);
    assert_eq!(change(&one, Quantity::Elapsed).1, Noise::Unknown);
    let text = compare_text(&one, &CompareOptions::default());
    assert!(text.contains("The noise is unknown"), "{text}");
    assert!(!text.contains('~'), "{text}");
}

#[test]
fn many_sides_against_the_first() {
    let sides: Vec<Side> = [200, 150, 100, 50, 10, 5]
        .iter()
        .map(|&merge| side(&format!("merge {merge}"), &merges(&[merge], 37)))
        .collect();
    let comparison = compare(&sides);
    assert_eq!(comparison.quantities[0].differences.len(), 5);
    snapshot(
        "compare_many",
        &compare_text(&comparison, &CompareOptions::default()),
    );
    for charset in [Charset::Ascii, Charset::Strict, Charset::Unicode] {
        let options = CompareOptions {
            charset,
            ..CompareOptions::default()
        };
        let text = compare_text(&comparison, &options);
        let wide = text.lines().find(|l| l.chars().count() > 80);
        assert_eq!(wide, None, "{text}");
    }
}

#[test]
fn json_has_the_numbers_of_the_text() {
    let sides = [
        side("a", &merges(&[200], 37)),
        side("b", &merges(&[300], 37)),
    ];
    let json: Value = serde_json::from_str(&compare_json(&compare(&sides))).unwrap();
    let elapsed = &json["quantities"]["elapsed"];
    assert_eq!(elapsed["values"][0]["mean"], 700e3);
    assert_eq!(elapsed["differences"][0]["absolute"], 100e3);
    assert_eq!(elapsed["differences"][0]["noise"], "unknown");
    assert_eq!(elapsed["values"][0]["deviation"], Value::Null);
    let block = &json["blocks"][0]["block"];
    assert_eq!(
        (&block["from"]["line"], &block["to_kind"]),
        (&37.into(), &"end".into())
    );
    assert_eq!(json["noise_known"], false);
}

fn limits(run: Run, limits: &[Limit]) -> Vec<bool> {
    let checked = check(None, &side("run", &[run]), limits);
    checked.iter().map(|c| c.broken).collect()
}

/// Work 1100 us, span 700 us: parallelism 1.5714. Delay 0; of 2 · 700 us, 300 have no work.
#[test]
fn limits_break_right_beyond_their_bound() {
    let parallelism = 1100.0 / 700.0;
    for (limit, broken) in [
        (Limit::MinParallelism(parallelism - 1e-9), false),
        (Limit::MinParallelism(parallelism + 1e-9), true),
        (Limit::MinBurdenedParallelism(1.6), true),
        // 1100 / (550 + 0.85 · 700)
        (Limit::MinSpeedupBound(None, 0.960), false),
        (Limit::MinSpeedupBound(None, 0.961), true),
        (Limit::MinSpeedupBound(Some(1), 1.0), false),
        (Limit::MaxElapsed(700e3), false),
        (Limit::MaxElapsed(699e3), true),
        (Limit::MaxDelay(Amount::Share(0.0)), false),
        (Limit::MaxNoWork(Amount::Share(0.2143)), false),
        (Limit::MaxNoWork(Amount::Share(0.2142)), true),
        (Limit::MaxNoWork(Amount::Time(300e3)), false),
    ] {
        assert_eq!(limits(BASE, &[limit]), [broken], "{limit:?}");
    }
    let late = Run { delay: 50, ..BASE };
    assert_eq!(limits(late, &[Limit::MaxDelay(Amount::Time(0.0))]), [true]);
}

#[test]
fn a_broken_limit_names_the_line() {
    let base = side("base", &[BASE]);
    let slow = side(
        "run",
        &[Run {
            merge: 400,
            delay: 50,
            ..BASE
        }],
    );
    let checked = check(
        Some(&base),
        &slow,
        &[
            Limit::MinParallelism(8.0),
            Limit::MaxDelay(Amount::Share(0.01)),
            Limit::MaxNoWork(Amount::Share(0.05)),
            Limit::MaxRegression(0.10),
            Limit::MaxWorkGrowth(0.10),
            Limit::MaxSpanGrowth(0.5),
        ],
    );
    let broken: Vec<bool> = checked.iter().map(|c| c.broken).collect();
    assert_eq!(broken, [true, true, true, true, true, false]);
    let reasons: Vec<Option<Reason>> = checked
        .iter()
        .map(|c| c.place.as_ref().map(|p| p.reason))
        .collect();
    assert_eq!(
        reasons,
        [
            Some(Reason::Critical),
            Some(Reason::Ready),
            Some(Reason::Alone),
            Some(Reason::CriticalGrowth),
            Some(Reason::WorkGrowth),
            None
        ]
    );
    // The merge: from the wait at line 37 to the task's end.
    let grown = checked[3].place.as_ref().unwrap();
    assert_eq!(grown.amount, 200e3);
    let from = grown.block.unwrap().from;
    assert_eq!(grown.places[from as usize].line, Some(37));
    snapshot(
        "check_broken",
        &check_text(&checked, None, &CompareOptions::default()),
    );
    let json: Value = serde_json::from_str(&check_json(&checked, None)).unwrap();
    assert_eq!(json["broken"], 5);
    assert_eq!(json["limits"][3]["place"]["block"]["from"]["line"], 37);
    assert_eq!(json["limits"][3]["measured"], 0.357143);
}

#[test]
fn growth_within_the_noise_breaks_nothing_and_says_so() {
    let base = side("base", &merges(&[150, 200, 250], 37));
    let run = side("run", &merges(&[210, 280, 290], 37));
    let checked = check(Some(&base), &run, &[Limit::MaxRegression(0.05)]);
    assert!(checked[0].measured > 0.05 && !checked[0].broken);
    let text = check_text(&checked, None, &CompareOptions::default());
    assert!(text.contains("within the noise of the runs"), "{text}");
    let alone = check(
        Some(&side("base", &[BASE])),
        &side("run", &merges(&[280], 37)),
        &[Limit::MaxRegression(0.05)],
    );
    assert!(alone[0].broken);
}
