//! `workspan check`: limits that a run must keep, for continuous integration.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use workspan_analysis::compare::{Amount, Limit, check};
use workspan_export::{
    check_github, check_json, check_junit, check_markdown, check_sarif, check_text,
};

use crate::compare::{Measured, TextStyle, names};
use crate::lake;
use crate::output::print;
use workspan_record::progress::Progress;
use workspan_record::units::{ParseError, number, percent, time};

/// Exit code for a broken limit, which is neither a failure (1) nor wrong usage (2).
pub const BROKEN: u8 = 3;

/// What the result is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    /// One line for each limit.
    #[default]
    Text,
    /// One object with stable keys.
    Json,
    /// GitHub Actions annotations at the lines that break a limit.
    Github,
    /// A comment for a pull request: limits, before and after, a picture.
    Markdown,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML with one test case for each limit.
    Junit,
}

/// Parses a format with a file, for instance `sarif:broken.sarif`.
fn also(text: &str) -> Result<(Format, PathBuf), String> {
    use clap::ValueEnum;
    let (format, file) = text
        .split_once(':')
        .ok_or("expected FORMAT:FILE, as sarif:check.sarif")?;
    Ok((Format::from_str(format, false)?, PathBuf::from(file)))
}

/// Checks a run against limits or a baseline, and names the code that breaks a limit
#[derive(Debug, Clone, clap::Args)]
#[command(
    group = clap::ArgGroup::new("limit").required(true).multiple(true).args([
        "min_parallelism", "min_burdened_parallelism", "min_speedup_bound", "max_elapsed", "max_delay", "max_no_work",
        "max_regression", "max_work_growth", "max_span_growth", "baseline_lake",
    ]),
    long_about = "Checks a run against limits or a baseline, and names the code that breaks a limit.

Exit codes: 0 all limits are kept, 3 a limit is broken, 1 the check failed, 2 wrong usage.

Several runs are averaged. With several runs per side, growth over the baseline that is within the noise breaks \
no limit. With one run per side the noise is unknown, so choose limits with room for it.

With --baseline-lake, the limits come from the last runs in a lake and include their noise (docs/lake.md).",
    after_help = "\
Examples:
  workspan check run.wspan --min-parallelism 8 --max-delay 5%
  workspan check run.wspan --baseline base.wspan --max-regression 10% --max-span-growth 5%
  workspan check run1.wspan run2.wspan run3.wspan --baseline base1.wspan --baseline base2.wspan --max-regression 5%
  workspan check run.wspan --only region:solve --min-parallelism 8
  workspan check run.wspan --min-speedup-bound 16:6.5 --max-elapsed 2s --json
  workspan check run.wspan --min-parallelism 8 --format github --also markdown:comment.md --also sarif:check.sarif
  workspan check run.wspan --baseline-lake ~/lake --last 20 --same branch=main"
)]
pub struct CheckArgs {
    /// The traces to check; several of them show the noise
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// A trace that growth is measured against; repeat it for several runs
    #[arg(long, value_name = "FILE")]
    baseline: Vec<PathBuf>,
    /// Work divided by span must be at least this
    #[arg(long, value_name = "X", value_parser = number)]
    min_parallelism: Option<f64>,
    /// Work divided by the burdened span must be at least this
    #[arg(long, value_name = "X", value_parser = number)]
    min_burdened_parallelism: Option<f64>,
    /// The lower bound of the speedup must be at least X, on the run's workers or on N
    #[arg(long, value_name = "[N:]X", value_parser = bound)]
    min_speedup_bound: Vec<(Option<u32>, f64)>,
    /// Maximum elapsed time
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_elapsed: Option<f64>,
    /// Maximum delay (workers free while strands were ready): a share of the workers' time, or a
    /// time
    #[arg(long, value_name = "5%|TIME", value_parser = amount)]
    max_delay: Option<Amount>,
    /// Maximum time without work (nothing ready for a free worker): a share of the workers' time,
    /// or a time
    #[arg(long, value_name = "5%|TIME", value_parser = amount)]
    max_no_work: Option<Amount>,
    /// Maximum growth of the elapsed time over the baseline
    #[arg(long, value_name = "10%", value_parser = percent, requires = "baseline")]
    max_regression: Option<f64>,
    /// Maximum growth of the work over the baseline
    #[arg(long, value_name = "10%", value_parser = percent, requires = "baseline")]
    max_work_growth: Option<f64>,
    /// Maximum growth of the span over the baseline
    #[arg(long, value_name = "10%", value_parser = percent, requires = "baseline")]
    max_span_growth: Option<f64>,
    /// Check the run against the usual runs in this lake (`workspan lake`)
    #[arg(long, value_name = "ROOT", conflicts_with_all = [
        "baseline", "also", "min_parallelism", "min_burdened_parallelism", "min_speedup_bound", "max_elapsed",
        "max_delay", "max_no_work",
    ])]
    baseline_lake: Option<OsString>,
    /// With --baseline-lake: the number of runs that define what is usual
    #[arg(long, value_name = "N", requires = "baseline_lake")]
    last: Option<u32>,
    /// With --baseline-lake: use only runs with this tag (repeatable)
    #[arg(long, value_name = "KEY=VALUE", requires = "baseline_lake")]
    same: Vec<String>,
    /// Format of the result
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Also write the result in this format to FILE, which is replaced; repeatable
    #[arg(long, value_name = "FORMAT:FILE", value_parser = also)]
    also: Vec<(Format, PathBuf)>,
    #[command(flatten)]
    measured: Measured,
    #[command(flatten)]
    looks: TextStyle,
}

/// `workspan check`.
///
/// # Errors
/// A trace can't be read, or stdout can't be written.
pub fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    if let Some(root) = &args.baseline_lake {
        return against_lake(args, root);
    }
    let limits = limits(args);
    let progress = Progress::new("workspan: reading the traces …");
    let sides = [args.baseline.clone(), args.files.clone()];
    let mut names = names(&sides, &[]).into_iter();
    let (base_name, name) = (names.next(), names.next());
    let base = if args.baseline.is_empty() {
        None
    } else {
        let name = base_name.unwrap_or_default();
        Some(args.measured.side(name, &args.baseline)?)
    };
    let side = args.measured.side(name.unwrap_or_default(), &args.files)?;
    let checked = check(base.as_ref(), &side, &limits);
    drop(progress);
    let section = side.runs.first().and_then(|run| run.section.as_deref());
    let formatted = |format: Format| match format {
        Format::Text => check_text(&checked, section, &args.looks.options(0)),
        Format::Json => check_json(&checked, section),
        Format::Github => check_github(&checked),
        Format::Markdown => check_markdown(&checked, base.as_ref(), &side),
        Format::Sarif => check_sarif(&checked),
        Format::Junit => check_junit(&checked),
    };
    for (format, file) in &args.also {
        std::fs::write(file, formatted(*format)).with_context(|| file.display().to_string())?;
    }
    let format = if args.json { Format::Json } else { args.format };
    print(&formatted(format))?;
    Ok(if checked.iter().any(|c| c.broken) {
        ExitCode::from(BROKEN)
    } else {
        ExitCode::SUCCESS
    })
}

/// Delegates the check to the lake, which knows the runs.
fn against_lake(args: &CheckArgs, root: &OsStr) -> anyhow::Result<ExitCode> {
    let format = match args.format {
        _ if args.json => "json",
        Format::Text => "text",
        Format::Json => "json",
        Format::Github => "github",
        Format::Markdown | Format::Sarif | Format::Junit => {
            bail!("--baseline-lake: prints text, json or github")
        }
    };
    let mut arguments: Vec<OsString> = vec!["check".into(), "--baseline-lake".into(), root.into()];
    arguments.extend(["--format".into(), format.into()]);
    let last = args.last.map(|n| ["--last".into(), n.to_string().into()]);
    arguments.extend(last.into_iter().flatten());
    let same = args.same.iter().map(|same| ["--same".into(), same.into()]);
    arguments.extend(same.flatten());
    arguments.push("--".into());
    arguments.extend(args.files.iter().map(OsString::from));
    lake::start(&arguments)
}

fn limits(args: &CheckArgs) -> Vec<Limit> {
    let mut limits = Vec::new();
    limits.extend(args.min_parallelism.map(Limit::MinParallelism));
    limits.extend(
        args.min_burdened_parallelism
            .map(Limit::MinBurdenedParallelism),
    );
    let bounds = args.min_speedup_bound.iter();
    limits.extend(bounds.map(|&(workers, bound)| Limit::MinSpeedupBound(workers, bound)));
    limits.extend(args.max_elapsed.map(Limit::MaxElapsed));
    limits.extend(args.max_delay.map(Limit::MaxDelay));
    limits.extend(args.max_no_work.map(Limit::MaxNoWork));
    limits.extend(args.max_regression.map(Limit::MaxRegression));
    limits.extend(args.max_work_growth.map(Limit::MaxWorkGrowth));
    limits.extend(args.max_span_growth.map(Limit::MaxSpanGrowth));
    limits
}

fn bound(text: &str) -> Result<(Option<u32>, f64), ParseError> {
    let Some((workers, bound)) = text.split_once(':') else {
        return Ok((None, number(text)?));
    };
    match workers.trim().parse::<u32>() {
        Ok(n) if n > 0 => Ok((Some(n), number(bound)?)),
        _ => Err(ParseError::new(workers, "a number of workers", "1 or more")),
    }
}

fn amount(text: &str) -> Result<Amount, ParseError> {
    if text.trim().ends_with('%') {
        return Ok(Amount::Share(percent(text)?));
    }
    Ok(Amount::Time(time(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_as_people_write_them() {
        assert_eq!(amount("5%"), Ok(Amount::Share(0.05)));
        assert_eq!(amount("20us"), Ok(Amount::Time(2e4)));
        assert_eq!(bound("16:6.5"), Ok((Some(16), 6.5)));
        assert_eq!(bound("3"), Ok((None, 3.0)));
        for wrong in ["", "5", "%", "-1ms", "infs", "NaN%", "0:2", "x:2"] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
        assert!(bound("0:2").is_err() && bound("x:2").is_err() && bound("-1").is_err());
    }
}
