//! The results of a run by source line: the numbers of its report, by file and line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use workspan_analysis::{Options, Report, hot_function_of, percent, report};
use workspan_dag::{Dag, ROOT_PLACE};
use workspan_export::{FindingText, plain_words, summary, thousands, time};
use workspan_reader::OpenOptions;
use workspan_reader::open::{Grain, Index};

/// Maximum size of a source file in bytes: larger ones are generated.
const MAX_SOURCE_BYTES: u64 = 4 << 20;

/// The data of a run that an editor shows.
#[derive(Debug, Default)]
pub(crate) struct Heat {
    pub(crate) trace: PathBuf,
    /// The report's first sentence.
    pub(crate) verdict: String,
    /// When it was recorded, rounded up to the end of that second.
    pub(crate) recorded: Option<SystemTime>,
    /// The folder that file names are relative to.
    pub(crate) source_folder: Option<PathBuf>,
    /// The lines by file, with the trace's file names.
    pub(crate) files: BTreeMap<String, Lines>,
}

/// The lines of a file for which the run has data.
pub(crate) type Lines = BTreeMap<u32, Line>;

/// The run's data about a line.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Line {
    /// Its text when the run was recorded, if known.
    pub(crate) text: Option<String>,
    pub(crate) samples: Option<Samples>,
    pub(crate) sites: Vec<Site>,
    pub(crate) findings: Vec<Finding>,
}

/// The samples of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Samples {
    pub(crate) count: u64,
    pub(crate) time: String,
    pub(crate) function: String,
    /// Percent of all samples on the critical path.
    pub(crate) critical_percent: f64,
    /// Percent of all samples.
    pub(crate) percent: f64,
}

impl Samples {
    /// Their number, in words.
    pub(crate) fn counted(&self) -> String {
        let plural = if self.count == 1 { "" } else { "s" };
        format!("{} sample{plural}", self.count)
    }
}

/// The tasks created in a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Site {
    pub(crate) label: String,
    pub(crate) tasks: String,
    pub(crate) work: String,
    pub(crate) span: String,
    pub(crate) parallelism: f64,
    pub(crate) critical_percent: f64,
}

/// A finding of the report at its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) cause: &'static str,
    pub(crate) what: String,
    pub(crate) loss_and_remedy: String,
    /// File, line and function with most samples of the finding.
    pub(crate) hottest: Option<(String, u32, String)>,
}

impl Heat {
    /// Reads the data of the trace at `path`.
    ///
    /// # Errors
    /// The trace can't be read.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Heat> {
        let options = OpenOptions {
            allow_truncated: true,
            grain: Grain::Auto,
            index: Index::Slow,
            ..OpenOptions::default()
        };
        let dag = workspan_reader::open(path, &options)?;
        let measured = Options::default();
        let report = report(&dag, &measured)?;
        Ok(Heat::new(path, &dag, &report, &measured))
    }

    fn new(path: &Path, dag: &Dag, report: &Report, measured: &Options) -> Heat {
        let said = summary(dag, report, measured);
        let recorded = dag.meta.run.recorded_at;
        let mut heat = Heat {
            trace: path.to_owned(),
            verdict: said.verdict,
            recorded: recorded.map(|second| UNIX_EPOCH + Duration::from_secs(second + 1)),
            source_folder: dag.meta.run.source_folder.clone(),
            files: BTreeMap::new(),
        };
        heat.add_places(dag, report);
        heat.add_samples(dag, report);
        for (finding, words) in report.causes.findings().into_iter().zip(&said.findings) {
            let hot = hot_function_of(dag, finding);
            let hottest = hot.and_then(|hot| Some((hot.file?, hot.line?, hot.function)));
            if let Some(line) = heat.line_of(dag, finding.block.telling_place()) {
                line.findings
                    .push(finding_at(finding.cause.id(), words, hottest));
            }
        }
        heat
    }

    fn line_of(&mut self, dag: &Dag, place: u32) -> Option<&mut Line> {
        let place = dag.places.get(place as usize)?;
        let lines = self.files.entry(place.file.clone()?).or_default();
        let line = lines.entry(place.line?).or_default();
        if line.text.is_none() {
            line.text.clone_from(&place.source);
        }
        Some(line)
    }

    fn add_places(&mut self, dag: &Dag, report: &Report) {
        let amount = |ticks: u128| time(&dag.meta, ticks as f64);
        for row in report.sites.iter().filter(|row| row.site != ROOT_PLACE) {
            let Some(line) = self.line_of(dag, row.site) else {
                continue;
            };
            line.sites.push(Site {
                label: dag.places[row.site as usize].label.clone(),
                tasks: thousands(row.count.into()),
                work: amount(row.work),
                span: amount(row.span),
                parallelism: row.parallelism(),
                critical_percent: row.critical_percent,
            });
        }
    }

    fn add_samples(&mut self, dag: &Dag, report: &Report) {
        let heat = &report.samples;
        let critical: u64 = heat.lines.iter().map(|line| line.critical).sum();
        for row in &heat.lines {
            let lines = self.files.entry(row.file.clone()).or_default();
            let ticks = heat.ticks(row.samples, dag.meta.ticks_per_second);
            lines.entry(row.line).or_default().samples = Some(Samples {
                count: row.samples,
                time: time(&dag.meta, ticks as f64),
                function: row.function.clone(),
                critical_percent: percent(row.critical.into(), critical.into()),
                percent: percent(row.samples.into(), heat.inside.into()),
            });
        }
    }

    /// Stores the text of all lines of a file that has not changed since the run, so that later
    /// changes are recognised line by line.
    pub(crate) fn note_text(&mut self, name: &str, path: &Path) {
        let Ok(about) = std::fs::metadata(path) else {
            return;
        };
        let unchanged = self.recorded.zip(about.modified().ok());
        let unchanged = unchanged.is_some_and(|(recorded, written)| written <= recorded);
        if !unchanged || about.len() > MAX_SOURCE_BYTES {
            return;
        }
        let (Ok(text), Some(lines)) = (std::fs::read(path), self.files.get_mut(name)) else {
            return;
        };
        let text = String::from_utf8_lossy(&text);
        for (number, text) in (1..).zip(text.lines()) {
            if let Some(line) = lines.get_mut(&number) {
                line.text = Some(text.to_owned());
            }
        }
    }
}

fn finding_at(
    cause: &'static str,
    said: &FindingText,
    hottest: Option<(String, u32, String)>,
) -> Finding {
    Finding {
        cause,
        what: plain_words(&said.title),
        loss_and_remedy: plain_words(&said.evidence),
        hottest,
    }
}
