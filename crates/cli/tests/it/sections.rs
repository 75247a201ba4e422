//! `--only`: a section of a run as a run of its own, in every command that measures.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::asked::{ask, json, refused, said, trace};
use crate::native::{compile, openmp_compilers};

/// Serial 100, then a part with two tasks of 50 and 30 beside 10, then serial 20; on two workers.
const PHASES: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","name":"phases"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"region_begin","t":0,"w":0,"task":0,"region":"whole","tree":true}
{"ev":"part_begin","t":100,"w":0,"task":0,"part":"solve"}
{"ev":"create","t":110,"w":0,"task":0,"child":1,"site":"a.rs:3"}
{"ev":"resume","t":110,"w":0,"task":0}
{"ev":"create","t":110,"w":0,"task":0,"child":2,"site":"a.rs:4"}
{"ev":"resume","t":110,"w":0,"task":0}
{"ev":"wait","t":110,"w":0,"task":0,"at":"a.rs:5"}
{"ev":"begin","t":110,"w":0,"task":1}
{"ev":"begin","t":114,"w":1,"task":2}
{"ev":"steal","t":114,"w":1,"victim":0,"task":2}
{"ev":"end","t":144,"w":1,"task":2}
{"ev":"end","t":160,"w":0,"task":1}
{"ev":"resume","t":160,"w":0,"task":0}
{"ev":"part_end","t":160,"w":0,"task":0,"part":"solve"}
{"ev":"region_end","t":180,"w":0,"task":0,"region":"whole"}
{"ev":"end","t":180,"w":0,"task":0}
"#;

fn number(report: &Value, key: &str) -> u64 {
    let value = report[key].as_u64();
    value.unwrap_or_else(|| panic!("{key}: {}", report[key]))
}

#[test]
fn a_part_has_its_own_time_work_span_and_counts() {
    let run = trace(PHASES);
    let of = |only: &str| json(&ask("report", &run.file, &["--json", "--only", only]));
    let part = of("part:solve");
    let keys = [
        "elapsed", "work", "span", "tasks", "spawns", "syncs", "steals",
    ];
    assert_eq!(
        keys.map(|key| number(&part, key)),
        [60, 90, 60, 3, 2, 1, 1],
        "{part}"
    );
    // 2 workers for 60: 90 of work, 4 until the thief had its task, the rest without work.
    let breakdown = &part["breakdown"];
    let lost = ["delay", "no_work_sched", "no_work_app"].map(|key| number(breakdown, key));
    assert_eq!(lost.iter().sum::<u64>(), 30, "{breakdown}");
    assert_eq!(lost[0], 4, "{breakdown}");
    let section = &part["section"];
    assert_eq!(section["only"], "part:solve");
    assert_eq!(
        (&section["count"], &section["elsewhere"]),
        (&1.into(), &0.into())
    );
    // The region around it is not its own.
    assert_eq!(part["regions"], Value::Array(Vec::new()));
    // The name by itself is enough if no other section has it.
    assert_eq!(of("solve"), part);
}

#[test]
fn a_section_that_is_the_whole_program_has_the_wholes_numbers() {
    let run = trace(PHASES);
    let whole = json(&ask("report", &run.file, &["--json"]));
    for only in ["site:root", "region:whole"] {
        let section = json(&ask("report", &run.file, &["--json", "--only", only]));
        // Its command asks for the section again.
        let rest = whole.as_object().unwrap().iter();
        for (key, value) in rest.filter(|pair| pair.0 != "suggestion") {
            assert_eq!(&section[key], value, "{only}: {key}");
        }
    }
}

#[test]
fn a_site_is_a_section_and_code_beside_it_is_said_to_be_elsewhere() {
    let run = trace(PHASES);
    let only = ["--json", "--only", "site:a.rs:4"];
    let site = json(&ask("report", &run.file, &only));
    let keys = ["elapsed", "work", "span", "tasks", "spawns", "syncs"];
    assert_eq!(keys.map(|key| number(&site, key)), [30, 30, 30, 1, 1, 0]);
    // The other task ran meanwhile.
    assert_eq!(site["section"]["elsewhere"], 30);
    let text = said(&ask("report", &run.file, &only[1..]));
    assert!(text.contains("tasks of a.rs:4, created once"), "{text}");
    assert!(text.contains("other code of the program had 50"), "{text}");
}

#[test]
fn names_that_are_none_are_told_those_that_are() {
    let run = trace(PHASES);
    let asked = |only: &str| refused(&ask("report", &run.file, &["--only", only]));
    let error = asked("part:slove");
    assert!(error.contains("no part `slove` was marked"), "{error}");
    let names = ["`region:whole`", "`part:solve`", "`site:a.rs:3`"];
    assert!(names.iter().all(|name| error.contains(name)), "{error}");
    let error = asked("nothing");
    assert!(error.contains("no region, part or spawn site"), "{error}");
    assert!(asked("site:b.rs:9").contains("a.rs:3"));
    let error = asked("region:");
    assert!(error.contains("expected region:NAME, part:NAME"), "{error}");
}

#[test]
fn commands_of_a_section_carry_it() {
    let run = trace(&PHASES.replace("solve", "read input"));
    let text = said(&ask("report", &run.file, &["--only", "part:read input"]));
    let text = text.replace('\u{a0}', " ");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("workspan report --long --only 'part:read input'"),
        "{text}"
    );
    let suggested = flat.split("workspan whatif ").skip(1);
    for command in suggested {
        let own = command.split("workspan ").next().unwrap();
        assert!(own.contains("--only 'part:read input'"), "{text}");
    }
}

#[test]
fn what_if_and_simulation_are_bounded_by_the_section() {
    let run = trace(PHASES);
    let only = ["--only", "part:solve", "--json"];
    let asked =
        |command: &str, more: &[&str]| json(&ask(command, &run.file, &[&only, more].concat()));
    // The root's own 10, then the longest task.
    let faster = asked("whatif", &["--site", "a.rs:3", "--factors", "5"]);
    assert_eq!(faster["now"]["span"], 60);
    assert_eq!(faster["all"][0]["span"], 10 + 30);
    assert_eq!(faster["section"]["only"], "part:solve");
    let error = refused(&ask(
        "whatif",
        &run.file,
        &[&only[..2], &["--region", "whole"][..]].concat(),
    ));
    assert!(error.contains("no region `whole`"), "{error}");
    let simulated = asked("simulate", &["--workers", "2", "--seeds", "1"]);
    assert_eq!(
        (number(&simulated, "work"), number(&simulated, "span")),
        (90, 60)
    );
    assert_eq!(simulated["section"]["name"], "solve");
    let advice = asked("advise", &[]);
    assert_eq!(advice["section"]["kind"], "part");
    assert_eq!(advice["now"]["span"], 60);
}

#[test]
fn runs_are_compared_checked_and_stretched_by_section() {
    let (one, other) = (
        trace(PHASES),
        trace(&PHASES.replace("\"t\":144", "\"t\":154")),
    );
    let file = other.file.to_str().unwrap();
    let only = ["--only", "part:solve"];
    let asked = |command: &str, more: &[&str]| ask(command, &one.file, &[more, &only].concat());
    let comparison = json(&asked("compare", &[file, "--json"]));
    let elapsed = &comparison["quantities"]["elapsed"]["values"];
    assert_eq!(
        (&elapsed[0]["mean"], &elapsed[1]["mean"]),
        (&60.0.into(), &60.0.into())
    );
    let work = &comparison["quantities"]["work"]["values"];
    assert_eq!(
        (&work[0]["mean"], &work[1]["mean"]),
        (&90.0.into(), &100.0.into())
    );
    assert_eq!(comparison["sides"][0]["only"], "part:solve");
    let stretch = json(&asked("stretch", &[file, "--json"]));
    assert_eq!(stretch["only"], "part:solve");
    assert_eq!(stretch["serial_work"], 90);
    // 90 / 60 alone, 200 / 180 as a whole.
    let checked = asked("check", &["--min-parallelism", "1.4"]);
    assert!(checked.status.success(), "{checked:?}");
    assert!(
        said(&checked).starts_with("Of part:solve alone: "),
        "{checked:?}"
    );
    let whole = ask("check", &one.file, &["--min-parallelism", "1.4"]);
    assert_eq!(whole.status.code(), Some(3));
    // It need not be in the other run.
    let renamed = trace(&PHASES.replace("solve", "other"));
    let error = refused(&asked("compare", &[renamed.file.to_str().unwrap()]));
    assert!(error.contains("run.jsonl: no part `solve`"), "{error}");
}

#[test]
fn help_explains_sections_with_examples() {
    let help = Command::new(env!("CARGO_BIN_EXE_workspan"))
        .args(["help", "section"])
        .output()
        .unwrap();
    let text = said(&help);
    assert!(
        text.contains("\n  workspan report --only region:"),
        "{text}"
    );
    assert!(text.contains("workspan scale --only"), "{text}");
}

fn compiled(compiler: &str, folder: &Path) -> PathBuf {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let include = format!("-I{}", include.display());
    compile(compiler, "sections.c", folder, &["-fopenmp", &include])
}

fn workspan(arguments: &[&str], workers: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_workspan"))
        .args(arguments)
        .env("OMP_NUM_THREADS", workers)
        .output()
        .unwrap()
}

/// Sections of a recorded program, which cover its region `all` except for two short serial pieces.
#[test]
fn sections_of_a_recorded_program_add_up() {
    let name = "sections_of_a_recorded_program_add_up";
    for compiler in openmp_compilers(name) {
        let folder = tempfile::tempdir().unwrap();
        let program = compiled(&compiler, folder.path());
        let file = folder.path().join("run.wspan");
        let arguments = ["record", "--no-report", "-o", file.to_str().unwrap(), "--"];
        let run = workspan(
            &[&arguments[..], &[program.to_str().unwrap()]].concat(),
            "2",
        );
        assert!(run.status.success(), "{run:?}");
        let of = |only: &str| json(&ask("report", &file, &["--json", "--only", only]));
        let all = of("region:all");
        let (read, grow, rounds) = (of("read input"), of("part:grow"), of("region:rounds"));
        let sum = |key: &str| {
            [&read, &grow, &rounds]
                .map(|r| number(r, key))
                .iter()
                .sum::<u64>()
        };
        for key in ["work", "span", "elapsed"] {
            let whole = number(&all, key);
            // 2,000,000 of 22,800,000 rounds lie between the sections.
            assert!(sum(key) < whole, "{compiler}: {key}");
        }
        let (sum, whole) = (sum("work"), number(&all, "work"));
        assert!(sum * 100 > whole * 65, "{compiler}: {sum} of {whole}");
        // 2^5 - 1 forks; two rounds of 32 tasks.
        assert_eq!(number(&grow, "spawns"), 31, "{compiler}");
        assert_eq!(number(&rounds, "spawns"), 64, "{compiler}");
        assert_eq!(
            (number(&read, "spawns"), number(&read, "syncs")),
            (0, 0),
            "{compiler}"
        );
        assert_eq!(
            (number(&grow, "syncs"), number(&rounds, "syncs")),
            (31, 2),
            "{compiler}"
        );
        assert_eq!(rounds["section"]["count"], 2, "{compiler}");
        let parallelism = |report: &Value| report["parallelism"].as_f64().unwrap();
        assert!(
            (parallelism(&read) - 1.0).abs() < 0.01,
            "{compiler}: {read}"
        );
        assert!(
            parallelism(&grow) > 4.0 && parallelism(&rounds) > 4.0,
            "{compiler}"
        );
        // The tasks of a site, by name, are those of the section around them.
        let tree = rounds["sites"].as_array().unwrap();
        let loop_site = tree.iter().find(|site| site["count"] == 64).unwrap();
        let site = of(&format!("site:{}", loop_site["site"].as_str().unwrap()));
        assert_eq!(number(&site, "tasks"), 64, "{compiler}");
        assert_eq!(
            number(&site, "work"),
            number(loop_site, "work"),
            "{compiler}"
        );
    }
}

#[test]
fn scale_measures_a_section_in_recorded_runs() {
    let name = "scale_measures_a_section_in_recorded_runs";
    let Some(compiler) = openmp_compilers(name).into_iter().next() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(&compiler, folder.path());
    let program = program.to_str().unwrap();
    let scale = |only: &[&str]| -> Value {
        let fixed = [
            "scale",
            "--json",
            "--workers",
            "1",
            "--repeat",
            "1",
            "--warmup",
            "0",
        ];
        let run = workspan(&[&fixed[..], only, &["--", program]].concat(), "1");
        assert!(run.status.success(), "{run:?}");
        serde_json::from_slice(&run.stdout).unwrap()
    };
    let part = scale(&["--only", "part:grow"]);
    assert_eq!(part["only"], "part:grow");
    assert_eq!(part["predictions"]["spawns"], 31);
    let whole = scale(&[]);
    assert!(whole["only"].is_null());
    assert_eq!(whole["predictions"]["spawns"], 31 + 64);
    let measured = &part["points"][0]["measured"]["median_ns"];
    assert!(measured.as_u64().unwrap() > 0, "{part}");
    let unknown = workspan(
        &[
            "scale",
            "--only",
            "part:gorw",
            "--workers",
            "1",
            "--",
            program,
        ],
        "1",
    );
    let error = String::from_utf8(unknown.stderr).unwrap();
    assert!(error.contains("no part `gorw`"), "{error}");
}
