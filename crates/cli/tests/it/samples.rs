//! Samples of short tasks: the program's code has its own samples, and the recorder's samples
//! belong to no task.

use std::path::Path;
use std::process::Output;

use crate::native::{openmp_compilers, skipped, try_compile};
use crate::project::{WORKSPAN, bare, printed, said, trace_of};
use serde_json::Value;
use workspan_trace::entry::RECORDING;

const SOURCE: &str = "hot.cpp";
/// The tree of that Fibonacci number: half a million tasks, which take a few hundred milliseconds.
const SIZE: &str = "28";

fn workspan(folder: &Path, arguments: &[&str]) -> Output {
    let output = bare(WORKSPAN)
        .current_dir(folder)
        .env("OMP_NUM_THREADS", "2")
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    output
}

/// Records the program, each of its tasks, and looks at where its samples went.
fn check(test: &str, program: &Path) {
    let folder = program.parent().unwrap();
    let whole = ["record", "--no-report", "--max-overhead", "off"];
    let sampled = ["--sample", "997", "--", program.to_str().unwrap(), SIZE];
    let output = workspan(folder, &[&whole[..], &sampled[..]].concat());
    let trace = trace_of(&output, folder);
    let trace = trace.to_str().unwrap();

    let json = workspan(folder, &["report", "--json", trace]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let samples = &json["samples"];
    if samples.is_null() {
        skipped(test, "the kernel takes no samples here");
        return;
    }
    let count = |key: &str| samples[key].as_u64().unwrap();
    assert!(count("inside") > 0, "{samples:#}");
    // Recording such tasks takes a good part of the time, and says so.
    let recording = count("recording");
    assert!(
        recording > 0 && recording <= count("outside"),
        "{samples:#}"
    );
    let functions = samples["functions"].as_array().unwrap();
    let named = |row: &Value| row["function"].as_str().unwrap().to_owned();
    assert!(
        !functions.iter().any(|f| named(f) == RECORDING),
        "{samples:#}"
    );
    let ours = |row: &&Value| row["file"].as_str().is_some_and(|f| f.ends_with(SOURCE));
    let hottest = functions.iter().find(ours).unwrap();
    assert_eq!(named(hottest), "hot", "{samples:#}");
    let line = samples["lines"].as_array().unwrap().iter().find(ours);
    assert_eq!(named(line.unwrap()), "hot", "{samples:#}");

    let flame = printed(&workspan(folder, &["flame", trace]));
    let task = |l: &str| l.starts_with("root;") && l.contains(SOURCE) && l.contains(";hot ");
    assert!(flame.lines().any(task), "{flame}");
    let apart = |l: &str| !l.contains(RECORDING) || l.starts_with("[no task];");
    assert!(flame.lines().all(apart), "{flame}");
}

#[test]
fn openmp_tasks_have_the_programs_samples() {
    let test = "openmp_tasks_have_the_programs_samples";
    for compiler in openmp_compilers(test) {
        let folder = tempfile::tempdir().unwrap();
        match try_compile(&compiler, SOURCE, folder.path(), &["-fopenmp"]) {
            Some(program) => check(test, &program),
            None => skipped(test, &format!("{compiler} compiles no C++")),
        }
    }
}

#[test]
fn onetbb_tasks_have_the_programs_samples() {
    let test = "onetbb_tasks_have_the_programs_samples";
    let folder = tempfile::tempdir().unwrap();
    match try_compile("g++", SOURCE, folder.path(), &["-ltbb"]) {
        Some(program) => check(test, &program),
        None => skipped(test, "no g++ with oneTBB"),
    }
}
