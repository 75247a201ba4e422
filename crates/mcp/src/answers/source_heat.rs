//! `source_heat`: the lines with samples.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::bail;
use serde_json::{Value as Json, json};
use workspan_analysis::named_code::closest;
use workspan_analysis::{LineSamples, is_same_file};

use super::{link_to, present, run, source, time};
use crate::Shared;
use crate::runs::Run;
use crate::tools::SourceHeatArgs;

/// Default number of lines of an answer; the next constant is the maximum.
const DEFAULT_LINES: usize = 20;
const MAX_LINES: usize = 100;
/// Maximum number of characters of a source line in an answer.
const MAX_CHARS: usize = 160;
/// Maximum size of a source file in bytes: larger ones are generated.
const MAX_SOURCE_BYTES: u64 = 4 << 20;

pub(crate) fn answer(shared: &Shared, args: &SourceHeatArgs) -> anyhow::Result<String> {
    let (path, run) = run(shared, args.trace.as_deref())?;
    let heat = &run.report.samples;
    if heat.inside == 0 {
        bail!(
            "the trace has no samples of the code: they need perf events (`workspan record --sample`, docs/samples.md)"
        );
    }
    let of_file = |line: &&LineSamples| match &args.file {
        Some(file) => is_same_file(&line.file, file),
        None => true,
    };
    let count = args.lines.unwrap_or(DEFAULT_LINES).min(MAX_LINES);
    let all: Vec<&LineSamples> = heat.lines.iter().filter(of_file).collect();
    if let (Some(file), true) = (&args.file, all.is_empty()) {
        let mut files: Vec<&str> = heat.lines.iter().map(|line| line.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        bail!(
            "no sample lies in a file `{file}`; the closest are {}",
            closest(file, &files).join(", ")
        );
    }
    let mut texts = Texts::default();
    let lines: Vec<Json> = all
        .iter()
        .take(count)
        .map(|line| row(shared, &run, line, &mut texts))
        .collect();
    let answer = json!({
        "trace": shared.folders.shown(&path),
        "samples": heat.inside,
        "lines": lines,
        "more_lines": all.len().checked_sub(lines.len()).filter(|&more| more > 0),
        "changed_since_recording": texts.changed(),
    });
    Ok(present(answer).to_string())
}

fn row(shared: &Shared, run: &Run, line: &LineSamples, texts: &mut Texts) -> Json {
    let (dag, heat) = (&run.dag, &run.report.samples);
    let ticks = heat.ticks(line.samples, dag.meta.ticks_per_second);
    json!({
        "at": format!("{}:{}", line.file, line.line),
        "function": line.function,
        "text": texts.line(shared, run, &line.file, line.line),
        "samples": line.samples,
        "time": time(dag, ticks.into()),
        "samples_on_critical_path": line.critical,
        "link": link_to(shared, dag, &line.file, line.line),
    })
}

/// The source files of an answer.
#[derive(Default)]
struct Texts {
    files: BTreeMap<String, Option<Text>>,
}

struct Text {
    lines: Vec<String>,
    changed: bool,
}

impl Texts {
    fn line(&mut self, shared: &Shared, run: &Run, file: &str, line: u32) -> Option<String> {
        let known = self.files.entry(file.to_owned());
        let text = known.or_insert_with(|| read(shared, run, file));
        let line = text.as_ref()?.lines.get(line.checked_sub(1)? as usize)?;
        Some(line.trim().chars().take(MAX_CHARS).collect())
    }

    /// Files that were written after the run, so that their lines may have moved.
    fn changed(&self) -> Option<Vec<&str>> {
        let changed = |text: &Option<Text>| text.as_ref().is_some_and(|text| text.changed);
        let all = self.files.iter().filter(|(_, text)| changed(text));
        let names: Vec<&str> = all.map(|(name, _)| name.as_str()).collect();
        (!names.is_empty()).then_some(names)
    }
}

fn read(shared: &Shared, run: &Run, file: &str) -> Option<Text> {
    let path = source(shared, &run.dag, file).ok()?;
    let about = std::fs::metadata(&path).ok()?;
    if about.len() > MAX_SOURCE_BYTES {
        return None;
    }
    let text = std::fs::read(&path).ok()?;
    let recorded = run.dag.meta.run.recorded_at;
    let recorded = recorded.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds + 1));
    let changed = recorded.zip(about.modified().ok());
    Some(Text {
        lines: String::from_utf8_lossy(&text)
            .lines()
            .map(str::to_owned)
            .collect(),
        changed: changed.is_some_and(|(recorded, written)| written > recorded),
    })
}
