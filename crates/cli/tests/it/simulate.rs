//! `workspan simulate` and `workspan advise` from a user's view.

use crate::asked::{ask, json, refused, said, trace};

/// Two halves of 100 us, then 200 us that the root does alone.
const HALVES: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","burden":1000,"name":"halves"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":0,"w":0,"task":0,"child":1,"site":"src/a.rs:5"}
{"ev":"resume","t":0,"w":0,"task":0}
{"ev":"create","t":0,"w":0,"task":0,"child":2,"site":"src/a.rs:5"}
{"ev":"resume","t":0,"w":0,"task":0}
{"ev":"wait","t":0,"w":0,"task":0,"at":"src/a.rs:7"}
{"ev":"begin","t":0,"w":0,"task":1}
{"ev":"begin","t":1000,"w":1,"task":2}
{"ev":"end","t":100000,"w":0,"task":1}
{"ev":"end","t":101000,"w":1,"task":2}
{"ev":"resume","t":101000,"w":0,"task":0}
{"ev":"end","t":301000,"w":0,"task":0}
"#;

#[test]
fn simulated_runs_and_their_traces() {
    let run = trace(HALVES);
    let file = &run.file;
    let simulated = |more: &[&str]| json(&ask("simulate", file, &[more, &["--json"]].concat()));
    let root = simulated(&[
        "--workers",
        "1,2,8",
        "--seeds",
        "3",
        "--attempt-cost",
        "0ns",
    ]);
    let first = |run: usize| root["runs"][run]["elapsed"][0].as_u64().unwrap();
    assert_eq!((first(0), first(1), first(2)), (400_000, 301_000, 301_000));
    assert_eq!(root["runs"][1]["elapsed"].as_array().unwrap().len(), 3);
    assert_eq!(
        simulated(&["--workers", "1", "--spawn-cost", "50ns"])["runs"][0]["elapsed"][0],
        400_100
    );
    // The serial part spread over four.
    let fixed = simulated(&[
        "--workers",
        "8",
        "--fix",
        "lines:a.rs:7 x4",
        "--steal-cost",
        "0ns",
    ]);
    assert_eq!(fixed["runs"][0]["elapsed"][0], 150_000);

    let on4 = run.folder.path().join("on4.jsonl");
    let text = said(&ask(
        "simulate",
        file,
        &[
            "--workers",
            "4",
            "--attempt-cost",
            "0ns",
            "-o",
            on4.to_str().unwrap(),
        ],
    ));
    assert!(text.contains("simulated help-first"), "{text}");
    let report = json(&ask("report", &on4, &["--json"]));
    assert_eq!(
        (&report["workers"], &report["elapsed"]),
        (&4.into(), &301_000.into())
    );
    assert_eq!(report["work"], 400_000);
    // Every other command reads it as well.
    for command in ["info", "whatif", "advise", "simulate", "timeline", "report"] {
        let more: &[&str] = match command {
            "whatif" => &["--site", "src/a.rs:5"],
            _ => &[],
        };
        assert!(!said(&ask(command, &on4, more)).is_empty(), "{command}");
    }
    let compared = json(&ask("compare", file, &[on4.to_str().unwrap(), "--json"]));
    assert!(compared.to_string().contains("301000"), "{compared}");
    // A packed trace is the same run; half of it is refused without `--allow-truncated`.
    let packed = run.folder.path().join("on4.jsonl.gz");
    let more = ["--workers", "4", "--attempt-cost", "0ns", "-o"];
    said(&ask(
        "simulate",
        file,
        &[&more[..], &[packed.to_str().unwrap()]].concat(),
    ));
    let of_packed = json(&ask("report", &packed, &["--json"]));
    assert_eq!(
        (&of_packed["work"], &of_packed["elapsed"]),
        (&report["work"], &report["elapsed"])
    );
    let bytes = std::fs::read(&packed).unwrap();
    std::fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
    let message = refused(&ask("report", &packed, &[]));
    assert!(message.contains("can't be uncompressed"), "{message}");
}

#[test]
fn advice_names_the_serial_part() {
    let run = trace(HALVES);
    let file = &run.file;
    let root = json(&ask("advise", file, &["--cores", "3", "--json"]));
    assert_eq!(
        (&root["stop"], root["steps"].as_array().unwrap().len()),
        (&"reached".into(), 1)
    );
    assert_eq!(root["steps"][0]["change"], "parallelise");
    assert_eq!(root["steps"][0]["critical_work"], 200_000);
    let text = said(&ask("advise", file, &["--cores", "3"]));
    assert!(
        text.contains("1. The root task, from") || text.contains("1. the root task, from"),
        "{text}"
    );
    assert!(text.contains("src/a.rs:7"), "{text}");
}

#[test]
fn bad_input_is_answered() {
    let run = trace(HALVES);
    let file = &run.file;
    for (args, words) in [
        (
            &["--workers", "0"][..],
            "`0` is not a number of workers from 1 to 65536",
        ),
        (&["--policy", "worst-first"], "the closest: work-first"),
        (&["--policy", "bounded-queue"], "bounded-queue:N"),
        (
            &["--fix", "site:src/a.rs:6 x2"],
            "closest to it: src/a.rs:5",
        ),
        (&["--fix", "a.rs:5 x2"], "is not a fix"),
        (
            &["--fix", "site:src/a.rs:5 x0"],
            "expected a positive number",
        ),
        (
            &["--fix", "site:src/a.rs:5 xNaN"],
            "expected a positive number",
        ),
        (
            &["--fix", "lines:src/b.rs:5 x2"],
            "no position in a file `src/b.rs`",
        ),
        (&["--fix", "lines:src/a.rs:5 into 0"], "0"),
        (&["--fix", "site:src/a.rs:5 cutoff 0"], "is not a fix"),
        (&["--fix", "lines:src/a.rs:5 cutoff 4"], "is not a fix"),
        (&["-o", "out.jsonl"], "choose its number of workers"),
    ] {
        let message = refused(&ask("simulate", file, args));
        assert!(message.contains(words), "{args:?}: {message}");
    }
    let message = refused(&ask("advise", file, &["--target-parallelism", "0"]));
    assert!(
        message.contains("expected a number of at least 1"),
        "{message}"
    );
    std::fs::write(
        file,
        "{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\"}\n{\"ev\":\"begin\",\"t\":5,\"w\":0,\"task\":0}\n{\"ev\":\"end\",\"t\":5,\"w\":0,\"task\":0}",
    )
    .unwrap();
    for command in ["simulate", "advise"] {
        let message = refused(&ask(command, file, &[]));
        assert!(message.contains("no critical path"), "{message}");
    }
}
