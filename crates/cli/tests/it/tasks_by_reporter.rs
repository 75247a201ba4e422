//! Tasks of a program's own calls and of a runtime's hooks in one run, and a counter's values for
//! them on one worker and on two.

use std::path::Path;

use serde_json::Value;

use crate::asked::{ask, json, said};
use crate::native::{compile, openmp_compilers};
use crate::project::{WORKSPAN, bare, printed, trace_of};

fn tasks(report: &Value, side: &str) -> (u64, u64) {
    let rows = report["told_by"].as_array().unwrap();
    let row = rows.iter().find(|row| row["told_by"] == side).unwrap();
    let number = |key: &str| row[key].as_u64().unwrap();
    (number("tasks"), number("work"))
}

fn build(compiler: &str, folder: &Path) {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let include = format!("-I{}", include.display());
    compile(
        compiler,
        "told_by.c",
        folder,
        &["-fopenmp", &include, "-ldl"],
    );
}

#[test]
fn a_runtimes_tasks_and_the_programs_calls_are_told_apart() {
    for compiler in openmp_compilers("a_runtimes_tasks_and_the_programs_calls_are_told_apart") {
        let folder = tempfile::tempdir().unwrap();
        build(&compiler, folder.path());
        let output = bare(WORKSPAN)
            .current_dir(folder.path())
            .env("OMP_NUM_THREADS", "2")
            .args(["record", "--no-report", "--fold", "off", "--", "./told_by"])
            .output()
            .unwrap();
        let trace = trace_of(&output, folder.path());
        let report = json(&ask("report", &trace, &["--json", "--sites", "100"]));
        // 8 tasks with two calls each; the two members of the region, and what follows it.
        let (calls, work) = tasks(&report, "program");
        assert_eq!(calls, 16, "{compiler}: {}", report["told_by"]);
        let (hooks, others) = tasks(&report, "runtime");
        assert!((10..=12).contains(&hooks), "{compiler}: {hooks}");
        assert!(work > 0 && others > 0, "{}", report["told_by"]);
        let site = |of: &str| {
            let sites = report["sites"].as_array().unwrap();
            let mut rows = sites.iter().filter(|site| site["told_by"] == of);
            rows.next().unwrap()["count"].as_u64().unwrap()
        };
        assert_eq!(site("program"), 16);
        let text = said(&ask("report", &trace, &["--long", "--ascii"]));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let says = "Reported by the program's own calls: 16 tasks with work ";
        assert!(text.contains(says), "{compiler}: {text}");
        let query = "select told_by, count(*) from tasks where told_by = 'program' group by 1";
        let rows = said(&ask("sql", &trace, &[query, "--format", "csv"]));
        assert!(rows.contains("program,16"), "{rows}");
        // The text trace has the same data.
        let text = folder.path().join("told_by.jsonl");
        let export = ["--format", "text", "-o", text.to_str().unwrap()];
        said(&ask("export", &trace, &export));
        let again = json(&ask("report", &text, &["--json"]));
        assert_eq!(again["told_by"], report["told_by"]);
    }
}

/// `stretch -- COMMAND` with a counter that every machine has: each call touches 2048 pages for the
/// first time, on one worker as on two.
#[test]
fn stretch_records_a_counter_and_shows_it() {
    let test = "stretch_records_a_counter_and_shows_it";
    let Some(compiler) = openmp_compilers(test).into_iter().next() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    build(&compiler, folder.path());
    let stretch = |more: &[&str]| {
        let output = bare(WORKSPAN)
            .current_dir(folder.path())
            .arg("stretch")
            .args(more)
            .output()
            .unwrap();
        let error = crate::project::said(&output);
        assert!(output.status.success(), "{error}");
        printed(&output)
    };
    let command = ["--", "./told_by"];
    let first = ["--metric", "page-faults", "--workers", "2", "--json"];
    let printed = stretch(&[&first[..], &command].concat());
    // The program prints too, in both runs.
    let json = &printed[printed.find('{').unwrap()..];
    let found: Value = serde_json::from_str(json).unwrap();
    assert_eq!(found["metric"], "page-faults", "{found}");
    let rows = found["told_by"].as_array().unwrap();
    let calls = rows.iter().find(|row| row["told_by"] == "program").unwrap();
    assert_eq!(calls["strands"]["serial"], 16, "{calls}");
    for side in ["serial", "parallel"] {
        let faults = calls["counters"]["page-faults"][side].as_u64().unwrap();
        assert!((16 * 2048..16 * 2148).contains(&faults), "{side}: {calls}");
    }
    // The traces stay, and other tables can be asked of them.
    let files = [
        "workspan-stretch/serial.wspan",
        "workspan-stretch/parallel.wspan",
    ];
    let by = ["--metric", "page-faults", "--by", "level,site"];
    let text = stretch(&[&by[..], &files].concat());
    let levels = text.find("Levels").expect(&text);
    let level = text[levels..].lines().nth(1).unwrap();
    // The calls are two creates below the region's members.
    assert!(level.trim_start().starts_with("level 3"), "{text}");
    assert!(text.contains("Of page-faults it had "), "{text}");
    assert!(text.contains("the program's own calls"), "{text}");
}
