//! Checks that comments of Rust and TypeScript fit into 100 columns, because no formatter does.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::workspace::root;

const MAX_COLUMNS: usize = 100;

/// Folders with sources.
const FOLDERS: [&str; 8] = [
    "bench", "crates", "fuzz", "lake", "tests", "ui/src", "ui/e2e", "xtask",
];

/// Folders inside them with generated files.
const GENERATED: [&str; 3] = ["target", "node_modules", "dist"];

const ENDINGS: [&str; 4] = ["rs", "ts", "tsx", "mjs"];

/// Fails with the places of all comment lines that are too long.
///
/// # Errors
/// There are such lines, or a source can't be read.
pub fn check() -> Result<()> {
    let mut long = Vec::new();
    for folder in FOLDERS {
        search(&root().join(folder), &mut long)?;
    }
    if !long.is_empty() {
        bail!(
            "comments of more than {MAX_COLUMNS} columns:\n  {}",
            long.join("\n  ")
        );
    }
    Ok(())
}

fn search(folder: &Path, long: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if !GENERATED.iter().any(|generated| name == *generated) {
                search(&path, long)?;
            }
            continue;
        }
        let ending = path.extension().unwrap_or_default();
        if ENDINGS.iter().any(|known| ending == *known) {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let place = path.strip_prefix(root()).unwrap_or(&path).display();
            let lines = long_lines(&text);
            long.extend(lines.map(|(line, columns)| format!("{place}:{line}: {columns} columns")));
        }
    }
    Ok(())
}

/// Comment lines that are too long, with their columns. URLs and table rows are excepted, because
/// they can't be broken.
fn long_lines(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let comments = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim_start();
        let is_comment = ["//", "/*", "* "].iter().any(|mark| line.starts_with(mark));
        is_comment && !line.contains("://") && !line.starts_with("//! |")
    });
    let sized = comments.map(|(index, line)| (index + 1, line.chars().count()));
    sized.filter(|(_, columns)| *columns > MAX_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_comments_are_found_and_nothing_else() {
        let long = "x".repeat(MAX_COLUMNS);
        let text = format!(
            "// {long}\nlet s = \"{long}\";\n    /// {long}\n// http://{long}\n//{}\n",
            &long[2..]
        );
        let found: Vec<_> = long_lines(&text).map(|(line, _)| line).collect();
        assert_eq!(found, [1, 3]);
    }
}
