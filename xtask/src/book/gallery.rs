//! The gallery: programs recorded with the tool, each with its single-file report and the first
//! lines of its text report.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::{cargo_workspan, output, root, succeed, target, workspan};

/// The gallery's folder on the site.
pub const FOLDER: &str = "gallery";

/// Its page.
pub const PAGE: &str = "gallery/index.md";

/// Maximum size of a report on the site, so that the site stays small.
const BUDGET: &str = "500KB";

/// Number of lines of a report that the page shows.
const LINES: usize = 14;

/// Programs of the suite by name, with what each shows.
const SUITE: [(&str, &str); 4] = [
    ("sort", "Merge sort of BOTS, on GNU OpenMP"),
    (
        "sparselu",
        "LU factorisation of a sparse matrix, on GNU OpenMP",
    ),
    ("uts", "An unbalanced tree search, on GNU OpenMP"),
    ("dedup", "A compressor's pipeline, on GNU OpenMP"),
];

/// The two kinds of merges of the tutorial's sort.
const MERGES: [(&str, &str); 2] = [
    (
        "serial",
        "The tutorial's sort, with its serial merge, on Rayon",
    ),
    ("parallel", "The same with the parallel merge"),
];

/// Records the programs, and writes their reports and the page.
///
/// # Errors
/// A program can't be built or recorded.
pub fn make(profile: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut page = String::from(
        "# Gallery\n\nReports of programs that this page's build recorded. Each link opens the whole report: one file, which needs no server.\n",
    );
    let traces = target().join("book/traces");
    fs::create_dir_all(&traces)?;
    for (merge, title) in MERGES {
        let name = format!("msort-{merge}");
        let trace = traces.join(&name).with_extension("wspan");
        let _ = fs::remove_file(&trace);
        let mut record = cargo_workspan(profile)?;
        record.arg("--no-report").arg("-o").arg(&trace);
        record.args(["run", "--release", "--package", "workspan-bench"]);
        output(record.args(["--bin", "msort", "--", "--merge", merge]))?;
        add(&mut page, profile, &trace, title, folder)?;
    }
    let suite = traces.join("suite");
    let mut build = Command::new("g++");
    build
        .args(["-std=c++11", "-O2", "-g", "-DTP_OPENMP", "-fopenmp", "-I"])
        .arg(root().join("include"))
        .arg(root().join("bench/tp/suite/suite.cpp"))
        .arg("-o")
        .arg(&suite);
    succeed(&mut build)?;
    for (name, title) in SUITE {
        let trace = traces.join(name).with_extension("wspan");
        let _ = fs::remove_file(&trace);
        let mut record = workspan(profile);
        record.args(["record", "--no-report", "-o"]).arg(&trace);
        output(record.arg("--").arg(&suite).args([name, "--size", "small"]))?;
        add(&mut page, profile, &trace, title, folder)?;
    }
    fs::write(folder.join("index.md"), page)?;
    Ok(())
}

/// Writes a report's file, and adds it to the page.
fn add(page: &mut String, profile: &str, trace: &Path, title: &str, folder: &Path) -> Result<()> {
    let name = trace.file_stem().context("a trace without a name")?;
    let name = name.to_string_lossy();
    let html = folder.join(format!("{name}.html"));
    let mut make = workspan(profile);
    make.arg("html").arg(trace).arg("-o").arg(&html);
    output(make.args(["--budget", BUDGET]))?;
    // Readable by everyone, because a server serves it.
    fs::set_permissions(&html, fs::Permissions::from_mode(0o644))?;
    let file = trace.file_name().context("a trace without a name")?;
    let mut report = workspan(profile);
    if let Some(traces) = trace.parent() {
        report.current_dir(traces);
    }
    let text = output(report.arg("report").arg(file))?;
    let first: Vec<&str> = text.trim_start_matches('\n').lines().take(LINES).collect();
    page.push_str(&format!(
        "\n## {title}\n\n[The report]({name}.html)\n\n```text\n{}\n```\n",
        first.join("\n")
    ));
    println!("   {}", html.display());
    Ok(())
}
