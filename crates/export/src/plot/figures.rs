//! The kinds of figures, made from runs.

mod breakdown;
mod profile;
mod scale;
mod sites;
mod speedup;

use workspan_analysis::Report;
use workspan_dag::Dag;

pub use self::breakdown::breakdown;
pub use self::profile::profile;
pub use self::scale::scale;
pub use self::sites::sites;
pub use self::speedup::speedup;
use super::figure::{Figure, HorizontalAxis, Mark, Scale, Series};
use super::fill::Fill;
use crate::quantity::{ratio, seconds, time};

/// A run to draw.
pub struct PlotRun<'a> {
    /// Its name shown to people.
    pub name: String,
    /// Its trace.
    pub dag: &'a Dag,
    /// Its report, of the metric *time*.
    pub report: &'a Report,
}

impl PlotRun<'_> {
    fn seconds(&self, ticks: f64) -> f64 {
        seconds(&self.dag.meta, ticks)
    }

    fn elapsed(&self) -> f64 {
        self.seconds(self.report.breakdown.elapsed() as f64)
    }

    fn program(&self) -> &str {
        self.dag.meta.program_name()
    }

    /// Whether the times are computed by a model of a scheduler instead of measured.
    fn is_simulated(&self) -> bool {
        let runtime = self.dag.meta.runtime.as_deref();
        runtime.is_some_and(|r| r.starts_with("simulated"))
    }

    /// The run's elapsed time, how many of its workers were busy, when it was recorded, and its
    /// runtime.
    pub fn verdict(&self) -> String {
        let b = &self.report.breakdown;
        let mut parts = vec![
            time(&self.dag.meta, b.elapsed() as f64),
            format!("{} of {} workers busy", ratio(b.mean_busy()), b.workers),
        ];
        // A narrow figure cuts the end off.
        parts.extend(recorded(self.dag));
        parts.extend(self.dag.meta.runtime.clone());
        if self.dag.meta.unread.is_some() {
            parts.insert(0, "of what could be read".into());
        }
        parts.join(" · ")
    }
}

fn series(name: &str, fill: Fill, mark: Mark, points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.to_owned(),
        fill,
        mark,
        points,
        labels: Vec::new(),
    }
}

/// The programs' names, each once: a few, and the number of others.
fn programs(runs: &[PlotRun]) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&run.program()) {
            names.push(run.program());
        }
    }
    if names.len() <= SHOWN + 1 {
        return names.join(", ");
    }
    format!(
        "{} and {} others",
        names[..SHOWN].join(", "),
        names.len() - SHOWN
    )
}

fn verdict(runs: &[PlotRun]) -> String {
    match runs {
        [one] => one.verdict(),
        _ => several(runs),
    }
}

/// When the run was recorded.
fn recorded(dag: &Dag) -> Option<String> {
    let mut facts = dag.meta.facts.iter();
    facts
        .find(|fact| fact.0 == "recorded")
        .map(|fact| fact.1.clone())
}

/// The number of runs, and when the first and the last one were recorded.
fn several(runs: &[PlotRun]) -> String {
    // Times sort as their text does.
    let mut times: Vec<String> = runs.iter().filter_map(|run| recorded(run.dag)).collect();
    times.sort_unstable();
    let mut parts = vec![format!("{} runs", runs.len())];
    match (times.first(), times.last()) {
        (Some(first), Some(last)) if first != last => {
            parts.push(format!("recorded {first} to {last}"));
        }
        (Some(first), _) => parts.push(format!("recorded {first}")),
        _ => {}
    }
    parts.join(" · ")
}

fn empty(title: &str) -> Figure {
    Figure {
        title: title.to_owned(),
        subtitle: String::new(),
        horizontal: HorizontalAxis::Categories {
            names: Vec::new(),
            lying: false,
        },
        up: String::new(),
        at_least: 1.0,
        scale: Scale::Linear,
        level: None,
        series: Vec::new(),
    }
}
