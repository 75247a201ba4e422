//! What the user reads about the traces of a run.

use std::path::{Path, PathBuf};

use crate::trace_file::finalize::FinalTrace;

/// The warnings, with those about modules without line tables combined into one: a Python program
/// has a dozen such modules that the user cannot recompile. The report lists them all.
pub(super) fn without_line_tables<'a>(warnings: impl Iterator<Item = &'a String>) -> Vec<String> {
    let (bare, mut others): (Vec<&String>, Vec<&String>) =
        warnings.partition(|warning| warning.contains(": has no line tables"));
    if bare.len() < 2 {
        others.extend(bare);
        return others.into_iter().cloned().collect();
    }
    let name = |warning: &&String| {
        let path = warning.split(": has no line tables").next();
        let name = path.and_then(|path| Path::new(path).file_name());
        name.unwrap_or_default().to_string_lossy().into_owned()
    };
    let first: Vec<String> = bare.iter().take(3).map(name).collect();
    let more = match bare.len().saturating_sub(3) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let message = format!(
        "{} modules have no line tables ({}{more}): their code is shown by function or address, not by line. `workspan \
        report` lists them all.",
        bare.len(),
        first.join(", ")
    );
    others.into_iter().cloned().chain([message]).collect()
}

/// A sentence that says where the traces are.
pub(super) fn where_it_is(
    paths: &[PathBuf],
    traces: &[FinalTrace],
    tasks: &[u64],
    main: usize,
) -> String {
    let file = shown(&paths[main]);
    if paths.len() == 1 {
        return format!("workspan: the trace is {file}");
    }
    let first = traces.first().map(|trace| trace.process.0);
    let what = if traces.iter().all(|trace| Some(trace.process.0) == first) {
        "parts of the run are kept"
    } else {
        "processes were recorded"
    };
    let mut text = format!(
        "workspan: {} {what}; the one with most parallel work is {file}. The others:",
        paths.len()
    );
    for (at, path) in paths.iter().enumerate() {
        if at != main {
            let tasks = match tasks[at] {
                0 => "no tasks".to_owned(),
                1 => "1 task".to_owned(),
                n => format!("{n} tasks"),
            };
            text.push_str(&format!("\n  {}  {tasks}", shown(path)));
        }
    }
    text
}

/// The path relative to the working directory, if it is inside of it.
pub(super) fn relative(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let path = here
        .and_then(|here| path.strip_prefix(here).ok())
        .unwrap_or(path);
    path.strip_prefix(".").unwrap_or(path).to_owned()
}

/// The path relative to the working directory, if it is inside of it, quoted if a shell would split
/// it.
pub fn shown(path: &Path) -> String {
    let size = relative(path).display().to_string();
    if size.contains([' ', '\'', '"', '$', '\\', '&', ';', '(', ')', '*', '?']) {
        format!("'{}'", size.replace('\'', "'\\''"))
    } else {
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_without_line_tables_are_one_line() {
        let warning = |n: usize| format!("/site/lib{n}.so: has no line tables (stripped), so.");
        let of = |n: usize| {
            let all: Vec<String> = (0..n).map(warning).chain(["Other.".to_owned()]).collect();
            without_line_tables(all.iter())
        };
        assert_eq!(of(1), ["Other.".to_owned(), warning(0)]);
        let many = of(9);
        assert_eq!(many.len(), 2);
        let beginning = "9 modules have no line tables (lib0.so, lib1.so, lib2.so and 6 more):";
        assert!(many[1].starts_with(beginning), "{}", many[1]);
    }
}
