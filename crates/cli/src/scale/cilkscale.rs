//! `workspan scale --from`: the points and bounds in a CSV file of Cilkscale.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use workspan_analysis::scale::{BareRuns, Logical, Runs, scale};
use workspan_export::{ScaleView, scale_json, scale_text};
use workspan_reader::cilkscale::Tag;
use workspan_reader::formats::{Table, table};

use super::{ScaleArgs, save};
use crate::output::print;

/// Tick rate of the table's times.
const TICKS_PER_SECOND: u64 = 1_000_000_000;
/// Bounds are shown up to this number of workers or more.
const MIN_PREDICTED_WORKERS: u32 = 16;

/// Draws one tag's row of `file`.
///
/// # Errors
/// The file is not a table of Cilkscale or lacks the tag, or an output file can't be written.
pub(super) fn run(args: &ScaleArgs, file: &Path) -> anyhow::Result<ExitCode> {
    let Some((Table::Cilkscale(tags), _)) = table(file)? else {
        bail!(
            "{}: is not a CSV of Cilkscale, which begins with `tag,work (seconds)`",
            file.display()
        );
    };
    let tag_name = args.tag.as_deref().unwrap_or_default();
    let tag = tags.iter().rev().find(|row| row.tag == tag_name);
    let tag = tag.with_context(|| {
        let names: Vec<&str> = tags.iter().map(|row| row.tag.as_str()).take(20).collect();
        format!(
            "{}: has no row with the tag `{tag_name}`; it has `{}`",
            file.display(),
            names.join("`, `")
        )
    })?;
    let found = scale(runs(tag, args));
    let program = match tag.tag.as_str() {
        "" => file
            .file_stem()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
        name => name.to_owned(),
    };
    let view = ScaleView {
        program,
        command: format!("Cilkscale's CSV {}", file.display()),
        stretch: "workspan stretch -- COMMAND".into(),
        bandwidth: "workspan bandwidth -- COMMAND".into(),
        report: "workspan record -- COMMAND".into(),
        section: None,
        scale: &found,
        region: None,
        ticks_per_second: TICKS_PER_SECOND,
        burden: 0,
        policy: None,
        seeds: 0,
        pinned: false,
        cpus: Vec::new(),
        unrecorded: None,
        kept_folder: None,
    };
    for file in &args.output {
        save(file, &view.program, &found)?;
    }
    if args.json {
        print(&scale_json(&view))?;
    } else {
        print(&scale_text(&view, &args.looks.options(usize::MAX)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn runs(tag: &Tag, args: &ScaleArgs) -> Runs {
    let ticks = |seconds: f64| (seconds * TICKS_PER_SECOND as f64).round();
    // Cilkscale's script measures on the number of cores that it states.
    let most = tag.times.last().map_or(1, |time| time.0);
    let also = match &args.predict {
        Some(given) => given.0.clone(),
        None => {
            let to = most.saturating_mul(4).max(MIN_PREDICTED_WORKERS);
            let doubled = std::iter::successors(Some(1u32), |n| n.checked_mul(2));
            doubled.take_while(|&n| n <= to).collect()
        }
    };
    let bare = tag.times.iter().map(|&(workers, seconds)| BareRuns {
        workers,
        times: vec![(ticks(seconds) as u64).max(1)],
    });
    Runs {
        cpus: most,
        bare: bare.collect(),
        logical: Some(Logical {
            work: ticks(tag.work) as u128,
            span: ticks(tag.span) as u128,
            burdened_span: ticks(tag.burdened_span) as u128,
            spawns: 0,
            syncs: 0,
            limits: workspan_analysis::Limits::default(),
        }),
        also,
        ..Runs::default()
    }
}
