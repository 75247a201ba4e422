//! `source`: lines of a source file with their heat.

use std::collections::BTreeMap;

use serde::Serialize;
use workspan_dag::Dag;

use crate::answer::Reply;
use crate::failure::Failure;
use crate::run::{Picture, Run};
use crate::session::Session;
use crate::source_file;

#[derive(Debug, Serialize)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    missing: Option<String>,
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

pub(crate) fn answer(session: &Session, run: &Run, file: &str) -> Result<Reply, Failure> {
    Reply::json(&source(session, run, file)?)
}

/// The file's lines, from the disk where that is allowed, else those the trace itself carries.
pub(crate) fn source<'a>(
    session: &Session,
    run: &Run,
    file: &'a str,
) -> Result<Source<'a>, Failure> {
    let picture = run.picture()?;
    if !names(&picture.dag).contains_key(file) {
        return Err(Failure::absent("The trace names no such source file."));
    }
    let heat = Heat::of(run, file)?;
    let read = source_file::read(&picture.dag, &session.settings.source_dirs, file);
    Ok(match read {
        Ok(read) => {
            let lines = read.text.lines().zip(1u32..);
            Source {
                file,
                missing: None,
                changed: read.changed,
                lines: lines
                    .map(|(text, line)| heat.line(line, text.to_owned()))
                    .collect(),
            }
        }
        Err(why) => {
            let lines = told(picture, file);
            let lines: Vec<Line> = lines.into_iter().map(|(l, t)| heat.line(l, t)).collect();
            Source {
                file,
                missing: lines.is_empty().then_some(why),
                changed: false,
                lines,
            }
        }
    })
}

/// Files the trace names, each with the lines that are places in it.
pub(crate) fn names(dag: &Dag) -> BTreeMap<&str, Vec<u32>> {
    let mut names: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for place in &dag.places {
        if let Some(file) = &place.file {
            names.entry(file).or_default().extend(place.line);
        }
    }
    for frame in &dag.samples.frames {
        if let Some(file) = &frame.file {
            names.entry(file).or_default();
        }
    }
    names
}

/// Lines of the file whose text the trace carries.
fn told(picture: &Picture, file: &str) -> BTreeMap<u32, String> {
    let places = picture.dag.places.iter();
    let here = places.filter(|p| p.file.as_deref() == Some(file));
    here.filter_map(|p| Some((p.line?, p.source.clone()?)))
        .collect()
}

/// Samples by line of one file.
struct Heat {
    lines: BTreeMap<u32, (u64, u64, u64)>,
}

impl Heat {
    /// None before the report is there: the lines come first.
    fn of(run: &Run, file: &str) -> Result<Heat, Failure> {
        let picture = run.picture()?;
        let heat = &run.rest()?.report.heat;
        let rate = picture.dag.meta.ticks_per_second;
        let here = heat.lines.iter().filter(|l| l.file == file);
        let line = |l: &workspan_analysis::LineHeat| {
            (l.line, (l.samples, l.critical, heat.ticks(l.samples, rate)))
        };
        Ok(Heat {
            lines: here.map(line).collect(),
        })
    }

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
