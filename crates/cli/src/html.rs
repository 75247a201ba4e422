//! `workspan html`: the viewer with the runs inside, in one file.

use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use workspan_export::bytes;
use workspan_view::html::{self, Carry};

use crate::output::print;
use crate::output_file;
use crate::view::PageOptions;
use workspan_record::progress::Progress;
use workspan_record::units::{self, ParseError};

/// Writes the viewer and its runs into one HTML file, to send or to archive
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Writes the viewer and its runs into one HTML file, to send or to archive.

The file needs no server and no network. If the budget is too small for everything, the finest detail of the \
timeline is left out first; the page says where detail is missing.",
    after_help = "\
Examples:
  workspan html run.wspan                              # run.html, beside it
  workspan html before.wspan after.wspan -o change.html
  workspan html run.wspan -o run.html --budget 20MB    # more of the timeline's detail
  workspan html run.wspan -o run.html --sources        # with whole source files"
)]
pub struct HtmlArgs {
    /// Traces (recorded or text); the first is shown first
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Output file (default: the first trace's name with `.html`); replaces an older report, but no
    /// other file
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Maximum size of the file, such as 500KB or 5MB (default: ten times the traces' size, at
    /// least 500KB and at most 5MB)
    #[arg(long, value_name = "SIZE", value_parser = budget)]
    budget: Option<u64>,
    /// Include whole source files, not only the lines near hot code and positions
    #[arg(long)]
    sources: bool,
    #[command(flatten)]
    looked_at: PageOptions,
}

/// `workspan html`.
///
/// # Errors
/// A trace can't be read, this build has no page, the output exists and is not a report, or it
/// can't be written.
pub fn run(args: &HtmlArgs) -> anyhow::Result<()> {
    let default_output = || args.files[0].with_extension("html");
    let output = args.output.clone().unwrap_or_else(default_output);
    refuse(&output)?;
    let mut session = args.looked_at.session(&args.files)?;
    // While the file is written, no one needs an overview.
    session.settings.overview_from = u64::MAX;
    let progress = Progress::new("workspan: reading the traces …");
    session.load();
    drop(progress);
    let progress = Progress::new("workspan: writing the report …");
    let carry = Carry {
        budget: args
            .budget
            .unwrap_or_else(|| Carry::usual_budget(session.trace_bytes())),
        whole_sources: args.sources,
    };
    let report = html::report(&mut session, &carry).map_err(|error| match &error.remedy {
        Some(remedy) => anyhow::anyhow!("{error}: {remedy}"),
        None => error.into(),
    })?;
    let name = || format!("{}: can't be written", output.display());
    let mut file = output_file::create(&output, html::is_report)?;
    file.write_all(report.html.as_bytes()).with_context(name)?;
    drop(progress);
    let mut text = format!(
        "{}: {}, opens in any browser without a server.\n",
        output.display(),
        bytes(report.html.len() as u64)
    );
    for line in &report.notes {
        text.push_str(line);
        text.push('\n');
    }
    print(&text)
}

/// Refuses to replace a file that is not an earlier report.
fn refuse(path: &Path) -> anyhow::Result<()> {
    let Ok(about) = std::fs::metadata(path) else {
        return Ok(());
    };
    let report = about.is_file()
        && std::fs::read(path).is_ok_and(|old| old.is_empty() || html::is_report(&old));
    if !report {
        bail!(
            "{}: exists and is not a report of workspan's; choose another name",
            path.display()
        );
    }
    Ok(())
}

/// Budgets from 10 KB to 1 GB.
const BUDGET_BYTES: RangeInclusive<u64> = 10_000..=1_000_000_000;

fn budget(text: &str) -> Result<u64, ParseError> {
    match units::size(text)? {
        bytes if BUDGET_BYTES.contains(&bytes) => Ok(bytes),
        _ => Err(ParseError::new(text, "a report's budget", "10KB to 1GB")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_lie_in_their_range() {
        assert_eq!(budget("5MB"), Ok(5_000_000));
        for bad in ["", "1B", "9999GB"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
    }
}
