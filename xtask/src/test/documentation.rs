//! Checks the documentation: examples, rustdoc, links, and the site as a whole.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::book;
use crate::dependencies::Outcome;
use crate::workspace::{cargo, output};

use super::progress::Check;
use super::tally::Tally;

/// Runs the examples of the crates' documentation.
///
/// rustdoc takes seconds per crate even without examples, so crates without examples set `doctest =
/// false`. An example in one of them would never run, which is a failure here.
pub fn examples(tally: &mut Tally) -> Result<()> {
    let mut doctests = cargo();
    // All packages, because features of dependencies are those of all of them: with a selection of
    // packages, cargo would compile some dependencies once more with fewer features. One package
    // without dependencies is excluded, because its source is another one's: cargo runs its
    // examples whatever the package says.
    doctests.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
    doctests.args(["--exclude", "workspan-api-off-test"]);
    tally.count("examples of the documentation", &mut doctests, false)?;
    let unseen = examples_without_tests()?;
    let came_out = if unseen.is_empty() {
        Outcome::Fine
    } else {
        Outcome::Wrong(format!("`doctest = false`, but: {}", unseen.join(", ")))
    };
    tally.outcome("every example of the documentation is run", came_out);
    Ok(())
}

/// Source files with an example, in crates whose examples are not run.
fn examples_without_tests() -> Result<Vec<String>> {
    let metadata = output(cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for target in package["targets"].as_array().into_iter().flatten() {
            let is_library = ["lib", "rlib"].iter().any(|kind| {
                let kinds = target["kind"].as_array();
                kinds.is_some_and(|kinds| kinds.iter().any(|k| k == kind))
            });
            // A crate that is another one's source with other features has that one's examples.
            if !is_library || target["doctest"] == true || target["doc"] == false {
                continue;
            }
            let source = Path::new(target["src_path"].as_str().unwrap_or_default());
            find_examples(source.parent().unwrap_or(source), &mut found)?;
        }
    }
    Ok(found
        .iter()
        .map(|file| file.display().to_string())
        .collect())
}

/// Files below the folder in which a doc comment begins a code block.
fn find_examples(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            find_examples(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path)?;
            let mut lines = text.lines().map(str::trim_start);
            if lines.any(|line| line.starts_with("/// ```") || line.starts_with("//! ```")) {
                found.push(path);
            }
        }
    }
    Ok(())
}

/// Runs rustdoc on every library and on this program.
pub fn rustdoc(tally: &mut Tally) -> Result<()> {
    let mut docs = cargo();
    docs.args(["doc", "--quiet", "--workspace", "--no-deps"]);
    // Examples have the features of tests, so the results of the lints are reused.
    docs.args(["--lib", "--examples", "--bin", "xtask"]);
    tally.check("docs", docs.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Whether every link of the documentation has a target.
pub fn links() -> Outcome {
    outcome(book::check())
}

/// Builds the documentation's site with its gallery.
pub fn site() -> Outcome {
    let _running = Check::begin("the documentation's site");
    outcome(book::run())
}

fn outcome(result: Result<()>) -> Outcome {
    match result {
        Ok(()) => Outcome::Fine,
        Err(error) => Outcome::Wrong(format!("{error:#}")),
    }
}
