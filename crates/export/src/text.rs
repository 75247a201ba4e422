//! Formats the report as text: the limit of the program first, then the evidence.

mod advice;
mod breakdown;
pub(crate) mod busy_strip;
mod code;
mod findings;
mod headline;
mod low_parallelism;
mod notes;
mod pools;
mod processes;
mod scale;
mod screen;
mod sites;
mod standstill;
mod summary;

pub(crate) use scale::shown_workers;
pub use summary::{CheckText, FindingText, State, Summary, Word, WordKind, plain_words, summary};
use workspan_analysis::{Metric, Options, Report};
use workspan_dag::Dag;

use crate::TextOptions;
use crate::page::{Page, Tone};
use crate::quantity::amount;
use crate::read_folding::read_folding;
use crate::what_if::quoted;

/// The input of every section.
struct View<'a> {
    dag: &'a Dag,
    report: &'a Report,
    measured: &'a Options,
    options: &'a TextOptions,
}

impl View<'_> {
    /// The counter that was measured; `None` for time.
    fn counter(&self) -> Option<&str> {
        match &self.measured.metric {
            Metric::Time => None,
            Metric::Counter(name) => Some(name),
        }
    }

    /// An amount of the metric.
    fn amount(&self, v: f64) -> String {
        amount(&self.dag.meta, self.counter(), v)
    }

    /// A time in ticks.
    fn time(&self, ticks: f64) -> String {
        amount(&self.dag.meta, None, ticks)
    }
}

/// Formats the most important parts of `report`, which was made from `dag` with the options
/// `measured`, in at most 30 lines of at most `options.width` columns. [`report_text`] has the
/// rest.
pub fn screen_text(
    dag: &Dag,
    report: &Report,
    measured: &Options,
    options: &TextOptions,
) -> String {
    screen::text(&View {
        dag,
        report,
        measured,
        options,
    })
}

/// Formats all of `report`, which was made from `dag` with the options `measured`, as lines of at
/// most `options.width` columns.
pub fn report_text(
    dag: &Dag,
    report: &Report,
    measured: &Options,
    options: &TextOptions,
) -> String {
    let view = View {
        dag,
        report,
        measured,
        options,
    };
    let mut page = Page::new(options.width, options.color, options.charset);
    let mut notes = notes::Notes::new(report);
    headline::title(&view, &mut page);
    headline::verdict(&view, &mut page);
    // Damage makes every number doubtful, so it comes first.
    notes.show(&mut page, notes::WarningTopic::Everything);
    if report.breakdown.end > report.breakdown.begin {
        breakdown::table(&view, &mut page);
        notes.show(&mut page, notes::WarningTopic::Breakdown);
        busy_strip::strip(&view, &mut page);
    }
    page.blank();
    scale::work_and_span(&view, &mut page, true);
    scale::counts(&view, &mut page, &mut notes);
    scale::bounds(&view, &mut page);
    processes::table(&view, &mut page);
    pools::table(&view, &mut page);
    sites::table(&view, &mut page);
    code::lines(&view, &mut page);
    notes.show(&mut page, notes::WarningTopic::Sites);
    low_parallelism::intervals(&view, &mut page);
    breakdown::excluded(&view, &mut page);
    if let Some(line) = read_folding(&dag.meta) {
        page.blank();
        page.prose("  ", 4, &[(Tone::Faint, format!("The trace was {line}."))]);
    }
    page.blank();
    if let Some(trace) = &options.trace {
        let view = [
            (Tone::Faint, "workspan view ".to_owned()),
            (Tone::Command, quoted(&trace.name).replace(' ', "\u{a0}")),
            (Tone::Faint, " opens the timeline and the DAG.".to_owned()),
        ];
        page.prose("  ", 4, &view);
    }
    page.line(&[(
        Tone::Faint,
        "  workspan help TERM explains a term of this report.".into(),
    )]);
    page.finish()
}
