//! A table with a row for each test or benchmark of a run.

use workspan_analysis::causes::Cause;
use workspan_analysis::compare::{Quantity, RunMeasures};

use super::change::value;
use crate::CompareOptions;
use crate::page::{Page, Tone, columns, plain, strong};

/// A test or benchmark that was recorded by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct EachRow {
    /// The name in its harness.
    pub name: String,
    /// The measures of its run.
    pub measures: RunMeasures,
    /// The cause of most of the lost time that the program can change, or of the rest; `None` if
    /// little was lost.
    pub cause: Option<Cause>,
}

/// The quantities, each with the heading of its column and the column's width.
const COLUMNS: [(Quantity, &str, usize); 5] = [
    (Quantity::Tasks, "tasks", 10),
    (Quantity::Work, "work", 10),
    (Quantity::Span, "span", 10),
    (Quantity::Parallelism, "parallelism", 12),
    (Quantity::MeanBusy, "busy", 7),
];
/// The heading of the names.
const HEAD: &str = "Test or benchmark";
/// Number of columns for the name of a cause.
const CAUSE_COLUMNS: usize = 18;

/// The rows in the order in which they ran.
pub fn each_text(rows: &[EachRow], looks: &CompareOptions) -> String {
    let mut page = Page::new(looks.width, looks.color, looks.charset);
    let widest = rows.iter().map(|row| columns(&page.clean(&row.name)));
    let numbers = COLUMNS.iter().map(|column| column.2).sum::<usize>() + CAUSE_COLUMNS + 2;
    let room = page.width().saturating_sub(numbers).max(HEAD.len());
    let width = widest.max().unwrap_or(0).clamp(HEAD.len(), room);
    page.blank();
    let head = page.fit(HEAD, width);
    let numbers = COLUMNS.map(|(_, name, width)| format!("{name:>width$}"));
    page.line(&[
        strong(format!("  {head}")),
        (Tone::Faint, format!("{}  first cause", numbers.concat())),
    ]);
    for row in rows {
        let name = page.fit(&row.name, width);
        let numbers = COLUMNS.map(|(quantity, _, width)| {
            let text = value(quantity, row.measures.get(quantity));
            format!("{text:>width$}")
        });
        let cause = row.cause.map_or("-", Cause::id);
        page.line(&[
            (Tone::Path, format!("  {name}")),
            plain(numbers.concat()),
            plain(format!("  {cause}")),
        ]);
    }
    page.blank();
    page.prose(
        "  ",
        2,
        &[(
            Tone::Faint,
            "Each ran in its own process and has its own trace, in this order. `workspan report TRACE` says more; `workspan \
            help CAUSE` explains a cause."
                .into(),
        )],
    );
    page.finish()
}
