//! The viewers of the fastest recorded runs, each one HTML file, which the suite's page links to.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::super::runtimes::Progress;
use super::summary::Benchmark;

/// Writes the viewers.
pub struct Reports<'a> {
    /// The suite's folder.
    pub folder: &'a Path,
    /// Shows the current one.
    pub progress: &'a Progress,
    /// Returns true when the user has stopped it.
    pub stopped: &'a dyn Fn() -> bool,
}

impl Reports<'_> {
    /// Writes `reports/NAME.html` for each row's trace, and sets its name in the row. A file that
    /// is newer than its trace stays. Returns a sentence about those that could not be written.
    ///
    /// # Errors
    /// The folder can't be made, or the path of the tool's own program is not known.
    pub fn write(&self, benchmarks: &mut [Benchmark]) -> anyhow::Result<Option<String>> {
        let folder = self.folder.join("reports");
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let tool = std::env::current_exe().context("the tool's own program")?;
        let count = benchmarks.iter().map(|b| b.rows.len()).sum::<usize>();
        let mut warning = None;
        let rows = benchmarks.iter_mut().flat_map(|b| &mut b.rows);
        for (i, row) in rows.enumerate() {
            if (self.stopped)() {
                break;
            }
            let Some(trace) = row.trace.as_ref().filter(|_| row.says.is_some()) else {
                continue;
            };
            let name = Path::new(trace).with_extension("html");
            let name = name.file_name().unwrap_or_default().to_string_lossy();
            let (trace, report) = (self.folder.join(trace), folder.join(&*name));
            if !is_newer(&report, &trace) {
                self.progress
                    .say(&format!("report {} of {count}: {name}", i + 1));
                let mut html = Command::new(&tool);
                html.arg("html").arg(&trace).arg("-o").arg(&report);
                let done = html.output().context("workspan html")?;
                if (self.stopped)() {
                    break;
                }
                if !done.status.success() {
                    let said = String::from_utf8_lossy(&done.stderr);
                    warning.get_or_insert_with(|| format!("No viewer: {}", said.trim()));
                    continue;
                }
            }
            row.report = Some(format!("reports/{name}"));
        }
        Ok(warning)
    }
}

/// Whether `report` was written after `trace`.
fn is_newer(report: &Path, trace: &Path) -> bool {
    let written = |path: &Path| std::fs::metadata(path).and_then(|about| about.modified());
    match (written(report), written(trace)) {
        (Ok(report), Ok(trace)) => report >= trace,
        _ => false,
    }
}
