//! The benchmark for coding agents: its list, its judge, and for some of its programs that the
//! tool's findings name the fault.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::json;
use workspan_agents::fault::{Fault, JudgedMeasure, Language};
use workspan_agents::findings::Verdict;
use workspan_agents::program::WorkFolder;
use workspan_agents::{answer, findings, measure};

#[test]
fn every_fault_has_a_program_a_fix_and_lines_in_it() {
    let all = Fault::all().unwrap();
    assert_eq!(all.len(), 20);
    let cpp = all.iter().filter(|fault| fault.language == Language::Cpp);
    assert_eq!(cpp.count(), 4);
    for fault in &all {
        let source = std::fs::read_to_string(fault.source()).unwrap();
        let fix = std::fs::read_to_string(fault.fix()).unwrap();
        assert_ne!(source, fix, "{}", fault.name);
        let [first, last] = fault.lines;
        let count = source.lines().count() as u32;
        assert!(first <= last && last <= count, "{}", fault.name);
        for function in &fault.functions {
            assert!(
                source.contains(&format!("{function}("))
                    || source.contains(&format!("{function}<")),
                "{}: {function}",
                fault.name
            );
        }
        // The source must not give the answer away.
        assert!(
            !source.contains("fault") || source.contains("agent_faults"),
            "{}",
            fault.name
        );
    }
}

#[test]
fn answers_are_right_when_they_name_place_and_cause() {
    let fault = Fault::named("sort_numbers").unwrap();
    for right in [
        "The merge at sort_numbers.rs:24 is serial.",
        "`merge` runs on one worker (single-threaded) after the join.",
        "Lines 20-26: the halves are merged sequentially.",
    ] {
        assert!(answer::judge(&fault, right).is_right(), "{right}");
    }
    for wrong in [
        "The program is too slow.",
        "The tasks are too small, at sort_numbers.rs:24.",
        "main (line 30) is serial.",
        "submerged: something serial",
    ] {
        assert!(!answer::judge(&fault, wrong).is_right(), "{wrong}");
    }
}

#[test]
fn findings_are_right_when_cause_and_place_are() {
    let fault = Fault::named("fill_table").unwrap();
    let report = |cause: &str, file: &str, line: u32, function: &str| {
        json!({"findings": [
            {"id": "descheduled", "place": {"file": file, "line": 8}},
            {"id": cause, "place": {"file": file, "line": line}, "inside": {"function": function}},
        ]})
    };
    let good = |report| findings::judge(&fault, &report) == Verdict::NamedFault;
    assert!(good(report(
        "serial-strand",
        "src/bin/fill_table.rs",
        9,
        "burn"
    )));
    assert!(good(report(
        "serial-strand",
        "x.rs",
        99,
        "fill_table::make_table"
    )));
    assert!(!good(report(
        "grain-fine",
        "src/bin/fill_table.rs",
        9,
        "burn"
    )));
    assert!(!good(report(
        "serial-strand",
        "src/bin/fill_table.rs",
        99,
        "burn"
    )));
    assert!(!good(json!({"findings": []})));
}

#[test]
fn time_is_brents_bound_of_work_and_span() {
    let report = json!({
        "ticks_per_second": 1000, "work": 900, "span": 100, "burdened_span": 120, "elapsed": 500,
        "workers": 2, "breakdown": {"descheduled": 200},
    });
    assert_eq!(measure::time(JudgedMeasure::Span, &report), Ok(0.22));
    assert_eq!(measure::time(JudgedMeasure::Elapsed, &report), Ok(0.4));
    assert!(measure::time(JudgedMeasure::Span, &json!({})).is_err());
}

/// The `workspan` of this build.
fn workspan() -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    let built = test.parent()?.parent()?.join("workspan");
    built.is_file().then_some(built)
}

/// One test at a time, because recorded programs are built in one folder.
static WORKSHOP: Mutex<()> = Mutex::new(());

fn checked(names: &[&str]) {
    let _alone = WORKSHOP.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(workspan) = workspan() else {
        panic!("no workspan beside the tests; build it: cargo build -p workspan");
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents");
    let workshop = WorkFolder::new(&folder, OsString::from(workspan)).unwrap();
    let mut wrong = Vec::new();
    for fault in Fault::all().unwrap() {
        if !names.is_empty() && !names.contains(&fault.name.as_str()) {
            continue;
        }
        let judged: Vec<Verdict> = (0..3)
            .map(|_| {
                let recorded = workshop.record(&fault, &fault.source()).unwrap();
                findings::judge(&fault, &recorded.report)
            })
            .collect();
        if !judged.contains(&Verdict::NamedFault) {
            if judged.contains(&Verdict::MachineBusy) {
                let name = &fault.name;
                let line = format!("skipped: findings of {name}: other programs had the CPUs\n");
                std::io::stdout().write_all(line.as_bytes()).unwrap();
            } else {
                wrong.push(format!("{}: {judged:#?}", fault.name));
            }
        }
        // The bound does not depend on other programs; elapsed time does.
        let times = measure::judge(&workshop, &fault, &fault.fix()).unwrap();
        if fault.by == JudgedMeasure::Span && !times.is_faster() {
            wrong.push(format!("{}: the fix is not faster: {times:?}", fault.name));
        }
        // A program that was not changed is not faster.
        if names.first() == Some(&fault.name.as_str()) {
            let same = measure::judge(&workshop, &fault, &fault.source()).unwrap();
            assert!(!same.is_faster(), "{same:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_findings_name_some_faults_and_fixes_are_faster() {
    checked(&["fill_table", "walk_list", "wait_each"]);
}

#[test]
#[ignore = "builds and records 40 programs several times"]
fn the_findings_name_all_faults_and_fixes_are_faster() {
    checked(&[]);
}
