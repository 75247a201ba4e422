//! Compares docs/reference.md with the sources: each must have what the other has.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A section of the page, from its heading to the next.
fn section(heading: &str) -> String {
    let page = fs::read_to_string(root().join("docs/reference.md")).unwrap();
    let (_, rest) = page.split_once(&format!("\n## {heading}")).unwrap();
    rest.split("\n## ").next().unwrap().to_owned()
}

/// The first cells of a section's table.
fn first_cells(heading: &str) -> Vec<String> {
    let rows = section(heading);
    let rows = rows.lines().filter(|line| line.starts_with("| "));
    let cells = rows.map(|row| row.split('|').nth(1).unwrap().trim().to_owned());
    cells.skip(1).collect()
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The sources of what a user runs, without their tests, by crate.
fn sources(of: &[&str]) -> String {
    let mut text = String::new();
    let mut folders: Vec<PathBuf> = of
        .iter()
        .map(|name| root().join("crates").join(name).join("src"))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder:?}: {e}")) {
            let path = entry.unwrap().path();
            // Records of OTF2 have names in capitals too.
            let is_otf2 = path.to_string_lossy().contains("/otf2_print");
            if is_otf2 {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let source = fs::read_to_string(&path).unwrap();
                text.push_str(source.split("#[cfg(test)]").next().unwrap());
            }
        }
    }
    text
}

const ALL: [&str; 12] = [
    "cli",
    "record",
    "view",
    "runtimes",
    "recorder",
    "reader",
    "calibrate",
    "perf",
    "mcp",
    "lsp",
    "adapters/preload",
    "adapters/rayon",
];

/// Names in capitals that are not a user's variables, or that cargo sets for every build.
const OTHER_NAMES: [&str; 7] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_PKG_NAME",
    "CARGO_PKG_VERSION",
    "CLOCK_MONOTONIC_RAW",
    "OUT_DIR",
    "WORKSPAN_EMBEDDED_HASH",
    "WORKSPAN_PRELOAD_LIBRARY",
];
/// Variables that benchmarks of runtimes set for the builds they start.
const OF_BENCHMARKS: [&str; 2] = ["CARGO_BUILD_TARGET_DIR", "CARGO_ENCODED_RUSTFLAGS"];
/// Variables without an underscore.
const SHORT_NAMES: [&str; 7] = ["CARGO", "HOME", "LANG", "NEXTEST", "PATH", "RUSTC", "TERM"];

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.len() > 2
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().all(is_part)
}

#[test]
fn each_variable_is_on_the_page_and_in_the_sources() {
    let sources = sources(&ALL);
    let literals: BTreeSet<&str> = sources.split('"').filter(|text| is_name(text)).collect();
    let expected = literals.iter().filter(|name| {
        let is_variable = SHORT_NAMES.contains(name)
            || (name.contains('_') && !name.ends_with('_') && !OTHER_NAMES.contains(name));
        is_variable && !OF_BENCHMARKS.contains(name)
    });
    let headings = [
        "Environment variables that you may set",
        "Environment variables of our own processes",
    ];
    let cells: Vec<String> = headings.iter().flat_map(|h| first_cells(h)).collect();
    let shown: BTreeSet<&str> = cells.iter().flat_map(|cell| quoted(cell)).collect();
    for name in expected {
        assert!(shown.contains(name), "docs/reference.md lacks {name}");
    }
    for name in shown {
        let is_profile = name.starts_with("CARGO_PROFILE_") && sources.contains("CARGO_PROFILE_");
        let display = name.starts_with("DISPLAY");
        // Names of other programs may have small letters.
        let is_there = sources.contains(&format!("\"{name}\"")) || is_profile || display;
        assert!(is_there, "{name} is in no source");
    }
}

/// Numbers in a text.
fn numbers(text: &str) -> impl Iterator<Item = u32> + '_ {
    let digits = text.split(|c: char| !c.is_ascii_digit());
    digits.filter_map(|digits| digits.parse().ok())
}

#[test]
fn each_exit_code_is_on_the_page_and_in_the_sources() {
    let sources = sources(&["cli", "record", "adapters/rayon"]);
    let mut codes = BTreeSet::from([0, 1, 2]);
    for call in ["ExitCode::from(", "process::exit("] {
        for rest in sources.split(call).skip(1) {
            // To the end of the statement: a condition may choose between two codes.
            let statement = rest.split(';').next().unwrap();
            codes.extend(numbers(&statement.replace("u8", "")));
        }
    }
    let broken = sources.split("pub const BROKEN: u8 =").nth(1).unwrap();
    codes.extend(numbers(broken.split(';').next().unwrap()));
    let cells = first_cells("Exit codes");
    let shown: BTreeSet<u32> = cells.iter().flat_map(|cell| numbers(cell)).collect();
    assert_eq!(shown, codes);
}

/// The parts of a path that are always the same, as `workspan-spool` of `.workspan-spool-{pid}`.
fn fixed_parts(path: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut inside = false;
    for c in path.chars() {
        inside = (inside || c == '{') && c != '}';
        if inside || c == '}' || c == '/' || c.is_ascii_uppercase() || "~$<>…".contains(c) {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    let parts = parts.iter().map(|part| part.trim_matches(['-', '.']));
    let parts = parts.filter(|part| part.len() > 3).map(str::to_owned);
    parts.collect()
}

#[test]
fn each_file_is_on_the_page_and_in_the_sources() {
    let sources = sources(&ALL)
        + &[
            "crates/symbols/src/debug_file.rs",
            "lake/src/layout.rs",
            "lake/src/command.rs",
        ]
        .map(|file| fs::read_to_string(root().join(file)).unwrap())
        .concat();
    let written = first_cells("Files written");
    let read = first_cells("Files read");
    for name in written.iter().chain(&read).flat_map(|cell| quoted(cell)) {
        for part in fixed_parts(name) {
            assert!(sources.contains(&part), "{name}: no source has `{part}`");
        }
    }
    let page = section("Files written") + &section("Files read");
    let ends = [".index", ".spool", ".TAG", ".txt", ".lock", ".html"];
    let literals = sources.split('"').filter(|text| {
        let is_file = ends.iter().any(|end| text.ends_with(end));
        is_file && !text.contains([' ', '\n', '/'])
    });
    for name in literals.filter(|name| *name != "index.html") {
        for part in fixed_parts(name) {
            assert!(page.contains(&part), "docs/reference.md lacks {name}");
        }
    }
}

/// docs/seeds.md says where each feature is tested.
#[test]
fn files_that_the_page_of_the_five_systems_names_exist() {
    let page = fs::read_to_string(root().join("docs/seeds.md")).unwrap();
    let paths: Vec<&str> = quoted(&page)
        .filter(|text| text.contains('/') && !text.contains(' '))
        .collect();
    assert!(paths.len() > 50, "{paths:?}");
    for path in paths {
        assert!(root().join(path).exists(), "docs/seeds.md names {path}");
    }
}
