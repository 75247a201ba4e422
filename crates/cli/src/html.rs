//! `workspan html`: the viewer with the runs inside, in one file.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use workspan_export::bytes;
use workspan_view::html::{self, Carry};

use crate::output::print;
use crate::output_file;
use crate::view::LookedAt;
use workspan_record::progress::Progress;

/// Writes the viewer with the runs inside as one HTML file, to send or to keep
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Writes the viewer with the runs inside as one HTML file, to send or to keep.

The file needs no server and no network. What does not fit into the budget is left out, finest detail of the timeline first; \
the page says where its detail stops.",
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
    /// The file to write, by default the first trace's name with `.html`; an older report is replaced, anything else is not
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Most bytes of the file, as 500KB or 5MB
    #[arg(long, value_name = "SIZE", default_value = "5MB", value_parser = size)]
    budget: u64,
    /// Whole source files where they are named, not only the lines around what is hot or a position
    #[arg(long)]
    sources: bool,
    #[command(flatten)]
    looked_at: LookedAt,
}

/// `workspan html`.
///
/// # Errors
/// A trace can't be read, this build has no page, or the output exists and is no such report, or can't be written.
pub fn run(args: &HtmlArgs) -> anyhow::Result<()> {
    let beside = || args.files[0].with_extension("html");
    let output = args.output.clone().unwrap_or_else(beside);
    refuse(&output)?;
    let mut session = args.looked_at.session(&args.files)?;
    // Nobody looks while it loads.
    session.settings.overview_from = u64::MAX;
    let progress = Progress::new("workspan: reading the traces …");
    session.load();
    drop(progress);
    let progress = Progress::new("workspan: writing the report …");
    let carry = Carry {
        budget: args.budget,
        whole_sources: args.sources,
    };
    let report = html::report(&mut session, &carry)?;
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

/// Only a report of before is written over.
fn refuse(path: &Path) -> anyhow::Result<()> {
    let Ok(about) = std::fs::metadata(path) else {
        return Ok(());
    };
    let report = about.is_file()
        && std::fs::read(path).is_ok_and(|old| old.is_empty() || html::is_report(&old));
    if !report {
        bail!(
            "{}: exists and is no report of workspan's; choose another name",
            path.display()
        );
    }
    Ok(())
}

fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        _ => return Err(format!("`{text}` is no size; expected 500KB or 5MB")),
    };
    match number.parse::<f64>() {
        Ok(n) if n * factor >= 1e4 && n * factor <= 1e9 => Ok((n * factor) as u64),
        Ok(_) => Err("a report's budget lies between 10KB and 1GB".to_owned()),
        Err(_) => Err(format!("`{text}` is no size; expected 500KB or 5MB")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("5MB"), Ok(5_000_000));
        assert_eq!(size("500 kb"), Ok(500_000));
        assert_eq!(size("1.5M"), Ok(1_500_000));
        for bad in ["", "MB", "5 XB", "1B", "9999GB", "-3MB"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
