//! `workspan whatif` from a user's view.

use std::process::{Command, Output};

use crate::asked::{Trace, ask, refused, said, trace};
use serde_json::Value;

/// Example A of MODEL.md, its expensive strands marked, with positions.
const TREE_SUM: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","name":"tree_sum"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"region_begin","t":0,"w":0,"task":0,"region":"compute"}
{"ev":"region_end","t":80,"w":0,"task":0,"region":"compute"}
{"ev":"create","t":80,"w":0,"task":0,"child":1,"site":"src/sum.rs:25"}
{"ev":"resume","t":80,"w":0,"task":0}
{"ev":"wait","t":80,"w":0,"task":0,"at":"src/sum.rs:26"}
{"ev":"begin","t":80,"w":0,"task":1}
{"ev":"create","t":90,"w":0,"task":1,"child":2,"site":"src/sum.rs:10"}
{"ev":"resume","t":90,"w":0,"task":1}
{"ev":"begin","t":92,"w":1,"task":2}
{"ev":"region_begin","t":92,"w":1,"task":2,"region":"compute"}
{"ev":"create","t":95,"w":0,"task":1,"child":3,"site":"src/sum.rs:13"}
{"ev":"resume","t":95,"w":0,"task":1}
{"ev":"wait","t":95,"w":0,"task":1,"at":"src/sum.rs:14"}
{"ev":"begin","t":95,"w":0,"task":3}
{"ev":"region_begin","t":95,"w":0,"task":3,"region":"compute"}
{"ev":"end","t":122,"w":1,"task":2}
{"ev":"end","t":135,"w":0,"task":3}
{"ev":"resume","t":135,"w":0,"task":1}
{"ev":"end","t":140,"w":0,"task":1}
{"ev":"resume","t":140,"w":0,"task":0}
{"ev":"end","t":145,"w":0,"task":0}
"#;

fn whatif(trace: &Trace, more: &[&str]) -> Output {
    ask("whatif", &trace.file, more)
}

#[test]
fn the_worked_example_as_json() {
    let run = trace(TREE_SUM);
    let text = said(&whatif(&run, &["--json", "--factors", "2,4,8"]));
    let root: Value = serde_json::from_str(&text).unwrap();
    let rows: Vec<(u64, u64)> = root["all"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["factor"].as_u64().unwrap(),
                row["span"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(rows, [(2, 85), (4, 55), (8, 40)]);
    assert_eq!(root["all"][0]["parallelism"], 2.058824);
    assert_eq!(root["regions"][0]["region"], "compute");
    assert_eq!(root["now"]["span"], 145);
}

#[test]
fn the_critical_path_by_site_is_told_as_it_is_and_then() {
    let run = trace(TREE_SUM);
    let text = said(&whatif(
        &run,
        &["--json", "--factors", "4", "--by-site", "4"],
    ));
    let root: Value = serde_json::from_str(&text).unwrap();
    let rows = root["by_site"]["sites"].as_array().unwrap();
    let row = |site: &str, key: &str| -> f64 {
        let row = rows.iter().find(|row| row["site"]["at"] == site).unwrap();
        row[key].as_f64().unwrap()
    };
    // MODEL.md §8, example A.
    let now = ["root", "src/sum.rs:13", "src/sum.rs:25"].map(|site| row(site, "critical_work"));
    assert_eq!(now, [85.0, 40.0, 20.0]);
    let sum = |key: &str| rows.iter().map(|r| r[key].as_f64().unwrap()).sum::<f64>();
    assert_eq!(sum("critical_work"), 145.0);
    assert_eq!(
        sum("critical_work_then"),
        root["all"][0]["span"].as_f64().unwrap()
    );
    assert_eq!(row("root", "critical_work_then"), 85.0 - 80.0 * 3.0 / 4.0);
    // A0: 10, then either A1 from there on (30, then 7.5) or 5 and A2 (40, then 10), then 5.
    let around = |key: &str| row("src/sum.rs:25", key);
    assert_eq!((around("work"), around("span")), (90.0, 60.0));
    assert_eq!(
        (around("span_then"), around("parallelism_then")),
        (30.0, 3.0)
    );
    assert_eq!(row("src/sum.rs:10", "parallelism_then"), 4.0);
    let text = said(&whatif(&run, &["--by-site", "4", "--ascii"]));
    assert!(text.contains("Spawn sites, now > 4x as fast"), "{text}");
    let line = text.lines().find(|l| l.ends_with("src/sum.rs:25")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let expected = "90 ns 60 ns 30 ns 1.50 > 3.00 14 % > 36 % src/sum.rs:25";
    assert_eq!(words.join(" "), expected, "{text}");
}

#[test]
fn targets_are_found_by_label_end_of_path_and_lines() {
    let run = trace(TREE_SUM);
    let span = |args: &[&str]| -> u64 {
        let args = [args, &["--json", "--factors", "5"]].concat();
        let root: Value = serde_json::from_str(&said(&whatif(&run, &args))).unwrap();
        root["all"][0]["span"].as_u64().unwrap()
    };
    assert_eq!(span(&["--site", "src/sum.rs:25"]), 129);
    assert_eq!(span(&["--site", "sum.rs:25"]), 129);
    assert_eq!(span(&["--site", "root"]), 145 - 68);
    assert_eq!(span(&["--lines", "sum.rs:14"]), 141);
    assert_eq!(span(&["--site", "src/sum.rs:25", "--subtree"]), 97);
    let text = said(&whatif(
        &run,
        &["--site", "src/sum.rs:10", "--ascii", "--workers", "2,4"],
    ));
    assert!(
        text.contains("does not shorten the critical path"),
        "{text}"
    );
}

#[test]
fn what_is_not_there_is_answered_with_what_is_close() {
    let run = trace(TREE_SUM);
    for (args, words) in [
        (
            &["--site", "src/sum.rs:24"][..],
            "closest to it: src/sum.rs:25",
        ),
        (
            &["--lines", "src/sum.rs:15-20"],
            "closest positions are src/sum.rs:14",
        ),
        (&["--lines", "src/some.rs:15"], "closest to it: src/sum.rs"),
        (&["--region", "comput"], "closest to it: compute"),
        (&["--factors", "0"], "expected a positive number"),
        (&["--factors", "NaN"], "expected a positive number"),
        (&["--factors=-2"], "expected a positive number"),
        (&["--factors", "2,many"], "expected a positive number"),
        (&["--workers", "0"], "0 is not in 1.."),
        (&["--lines", "sum.rs"], "expected FILE:FROM-TO"),
        (&["--metric", "misses"], "has no counter `misses`"),
    ] {
        let message = refused(&whatif(&run, args));
        assert!(message.contains(words), "{args:?}: {message}");
    }
    let unmarked = TREE_SUM.lines().filter(|l| !l.contains("region"));
    let unmarked = trace(&unmarked.collect::<Vec<_>>().join("\n"));
    let message = refused(&whatif(&unmarked, &[]));
    assert!(message.contains("marked no regions"), "{message}");
    let still = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":5,"w":0,"task":0}
{"ev":"end","t":5,"w":0,"task":0}"#;
    let message = refused(&whatif(&trace(still), &["--site", "root"]));
    assert!(message.contains("no critical path"), "{message}");
}

#[test]
fn the_report_suggests_a_command_that_works() {
    let run = trace(TREE_SUM);
    let report = Command::new(env!("CARGO_BIN_EXE_workspan"))
        .args(["report", "--json"])
        .arg(&run.file)
        .output()
        .unwrap();
    let root: Value = serde_json::from_str(&said(&report)).unwrap();
    let options = root["suggestion"]["options"].as_array().unwrap();
    let options = options.iter().map(|o| o.as_str().unwrap());
    // As a shell takes them: names may have spaces.
    let words: Vec<&str> = options.collect();
    let line = format!(
        "\"$0\" whatif \"$1\" {} --json --factors 2",
        words.join(" ")
    );
    let found = Command::new("sh")
        .args(["-c", &line])
        .args([
            env!("CARGO_BIN_EXE_workspan").as_ref(),
            run.file.as_os_str(),
        ])
        .output()
        .unwrap();
    let found: Value = serde_json::from_str(&said(&found)).unwrap();
    assert_eq!(
        found["all"][0]["span"],
        root["suggestion"]["what_if"]["span"]
    );
    assert!(found["all"][0]["span"].as_u64().unwrap() < 145);
}

/// The golden report's traces, and those of other tests.
const CORPUS: [&str; 9] = [
    "../export/tests/golden/serial_merge.jsonl",
    "../export/tests/golden/counters_and_off.jsonl",
    "../export/tests/golden/doubtful.jsonl",
    "../export/tests/golden/example_a.jsonl",
    "../export/tests/golden/tiny_tasks.jsonl",
    "../export/tests/golden/buried.jsonl",
    "../analysis/tests/recorded/grains-1.jsonl",
    "../analysis/tests/recorded/uneven-static.jsonl",
    "../analysis/tests/recorded/spawner-loop.jsonl",
];

/// The sentence of a text report that suggests a command: the parallelism that it promises, and the
/// command.
fn suggested(report: &str) -> Option<(String, String)> {
    let words: Vec<&str> = report.split_whitespace().collect();
    let text = words.join(" ");
    let (_, rest) =
        text.split_once("If this code were twice as fast, the parallelism would be ")?;
    let (number, rest) = rest.split_once(": workspan ")?;
    let until = [" > ", " Where ", " ! ", " 2. ", " 3. "];
    let end = until.iter().filter_map(|end| rest.find(end)).min();
    Some((
        number.to_owned(),
        rest[..end.unwrap_or(rest.len())].to_owned(),
    ))
}

#[test]
fn the_suggested_command_prints_what_was_promised() {
    let (mut promises, mut carried) = (0, 0);
    for file in CORPUS {
        let trace = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        for more in [
            &[][..],
            &["--metric", "instructions"],
            &["--raw"],
            &["--count-blocked"],
            &["--burden", "500"],
            &["--full"],
            &["--grain", "5us"],
            &["--statistics"],
        ] {
            let report = ask("report", &trace, more);
            if !report.status.success() {
                continue;
            }
            let text = said(&report).replace('\u{a0}', " ");
            let words: Vec<&str> = text.split_whitespace().collect();
            if let (["--metric", name], Some((_, rest))) =
                (more, words.join(" ").split_once("workspan report --long "))
            {
                carried += 1;
                let option = format!("--metric {name} ");
                assert!(rest.starts_with(&option), "{file}: {rest}");
            }
            let Some((promised, command)) = suggested(&text) else {
                continue;
            };
            promises += 1;
            let command = command.replace('\u{a0}', " ");
            let printed = Command::new("sh")
                .args(["-c", &format!("\"$0\" {command} --factors 2")])
                .arg(env!("CARGO_BIN_EXE_workspan"))
                .output()
                .unwrap();
            let printed = said(&printed);
            // The row of the factor: factor, parallelism, …
            let row = printed.lines().find(|l| l.trim_start().starts_with("2x"));
            let row = row.unwrap_or_else(|| panic!("{command}:\n{printed}"));
            assert!(
                row.split_whitespace().any(|word| word == promised),
                "{file} {more:?}: promised {promised}, {command} prints\n{printed}"
            );
        }
    }
    assert!(promises >= 12, "{promises}");
    assert!(carried >= 1, "no report has the command for the rest");
}
