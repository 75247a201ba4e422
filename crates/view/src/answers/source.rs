//! `source`: the lines of a source file with the time spent on each.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use workspan_dag::Dag;

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::{Run, RunAnalyses, RunModel};
use crate::session::Session;
use crate::source_file;

#[derive(Debug, Serialize)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    missing: Option<String>,
    part: Option<String>,
    changed: bool,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    pub(crate) line: u32,
    text: String,
    pub(crate) samples: u64,
    critical: u64,
    ticks: u64,
}

pub(crate) fn answer(session: &Session, run: &Run, file: &str) -> Result<Reply, ApiError> {
    Reply::json(&source(session, run, file)?)
}

/// The file's lines: from the disk if that is allowed, otherwise those that the trace contains.
fn source<'a>(session: &Session, run: &Run, file: &'a str) -> Result<Source<'a>, ApiError> {
    let model = run.model()?;
    if !is_named(&model.dag, file) {
        return Err(ApiError::not_found("The trace names no such source file."));
    }
    let mut all = Files::of(model, run.analyses()?).all;
    let known = all.remove(file).unwrap_or_default();
    Ok(known.source(session, model, file))
}

/// Whether the trace names a source file `file`.
fn is_named(dag: &Dag, file: &str) -> bool {
    let places = dag.places.iter().map(|place| &place.file);
    let frames = dag.samples.frames.iter().map(|frame| &frame.file);
    let mut named = places.chain(frames).flatten();
    named.any(|name| name.as_str() == file)
}

/// The source files that a trace names.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    pub(crate) all: BTreeMap<&'a str, FileFacts<'a>>,
}

/// What the trace says about one file.
#[derive(Debug, Default)]
pub(crate) struct FileFacts<'a> {
    /// Numbers of the lines that are places.
    pub(crate) places: Vec<u32>,
    /// Lines whose text the trace contains.
    told: BTreeMap<u32, &'a str>,
    heat: Heat,
}

impl<'a> Files<'a> {
    /// Collects all files in one pass, as a trace may name as many files as it has places.
    pub(crate) fn of(model: &'a RunModel, analyses: &'a RunAnalyses) -> Files<'a> {
        let dag = &*model.dag;
        let mut all: BTreeMap<&str, FileFacts> = BTreeMap::new();
        for place in &dag.places {
            if let Some(file) = &place.file {
                let known = all.entry(file).or_default();
                known.places.extend(place.line);
                if let (Some(line), Some(text)) = (place.line, &place.source) {
                    known.told.insert(line, text);
                }
            }
        }
        for frame in &dag.samples.frames {
            if let Some(file) = &frame.file {
                all.entry(file).or_default();
            }
        }
        let (heat, rate) = (&analyses.report.samples, dag.meta.ticks_per_second);
        for line in &heat.lines {
            if let Some(known) = all.get_mut(line.file.as_str()) {
                let ticks = heat.ticks(line.samples, rate);
                let lines = &mut known.heat.lines;
                lines.insert(line.line, (line.samples, line.critical, ticks));
            }
        }
        Files { all }
    }
}

impl FileFacts<'_> {
    /// The lines of this file, whose name in the trace is `file`.
    pub(crate) fn source<'f>(
        &self,
        session: &Session,
        model: &RunModel,
        file: &'f str,
    ) -> Source<'f> {
        let read = source_file::read(&model.dag, &session.settings.source_dirs, file);
        match read {
            Ok(read) => {
                let lines = read.text.lines().zip(1u32..);
                let line = |(text, line): (&str, u32)| self.heat.line(line, text.to_owned());
                Source {
                    file,
                    missing: None,
                    part: None,
                    changed: read.changed,
                    lines: lines.map(line).collect(),
                }
            }
            Err(why) => {
                let known: BTreeSet<u32> = self
                    .told
                    .keys()
                    .chain(self.heat.lines.keys())
                    .copied()
                    .collect();
                let text = |line: &u32| self.told.get(line).copied().unwrap_or_default().to_owned();
                let line = |line: u32| self.heat.line(line, text(&line));
                let lines: Vec<Line> = known.into_iter().map(line).collect();
                let (missing, part) = match lines.is_empty() {
                    true => (Some(why), None),
                    false => (None, Some(why)),
                };
                Source {
                    file,
                    missing,
                    part,
                    changed: false,
                    lines,
                }
            }
        }
    }
}

/// Samples by line of one file.
#[derive(Debug, Default)]
struct Heat {
    lines: BTreeMap<u32, (u64, u64, u64)>,
}

impl Heat {
    fn line(&self, line: u32, text: String) -> Line {
        let (samples, critical, ticks) = self.lines.get(&line).copied().unwrap_or_default();
        Line {
            line,
            text,
            samples,
            critical,
            ticks,
        }
    }
}
