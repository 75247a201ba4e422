//! The tables of spawn sites, code blocks and marked regions.

use workspan_analysis::compare::{Difference, Quantity, Value};

use super::{NARROW_COLUMNS, View, columns_of, open_end, right, side_heads, tone};
use crate::compare::change::{mark, relative, signed_time};
use crate::compare::names::ns;
use crate::page::{Page, Tone, plain, strong};
use crate::position::{owned_cell, site_cell};

/// True for rows in which a measure changed by more than a thousandth of the base's work.
fn is_worth_showing(view: &View, work: &[Difference], critical: &[Difference]) -> bool {
    let whole = view
        .c
        .quantity(Quantity::Work)
        .map_or(0.0, |r| r.values[0].mean);
    let changes = work.iter().chain(critical);
    changes
        .into_iter()
        .any(|d| d.absolute.abs() > whole / 1000.0)
}

/// Number of columns that the numbers of two sides take.
const NUMBER_COLUMNS: usize = 46;

pub(super) fn sites(view: &View, page: &mut Page) {
    let width = page.width() - NUMBER_COLUMNS - 2;
    let rows: Vec<Row> = view
        .c
        .sites
        .iter()
        .map(|s| Row {
            name: site_cell(view.dag, s.key, width),
            work: &s.work,
            work_differences: &s.work_differences,
            critical_differences: &s.critical_differences,
        })
        .collect();
    table(view, page, "Spawn sites, own work", &rows);
}

pub(super) fn blocks(view: &View, page: &mut Page) {
    let width = page.width() - NUMBER_COLUMNS - 2;
    let rows: Vec<Row> = view
        .c
        .blocks
        .iter()
        .map(|b| Row {
            name: owned_cell(view.dag, &b.key, width),
            work: &b.work,
            work_differences: &b.work_differences,
            critical_differences: &b.critical_differences,
        })
        .collect();
    table(view, page, "Code blocks", &rows);
}

pub(super) fn regions(view: &View, page: &mut Page) {
    let rows: Vec<Row> = view
        .c
        .regions
        .iter()
        .map(|r| Row {
            name: page.clean(&r.key),
            work: &r.work,
            work_differences: &r.work_differences,
            critical_differences: &r.critical_differences,
        })
        .collect();
    if !rows.is_empty() {
        table(view, page, "Marked regions", &rows);
    }
}

/// A site, a block or a region.
struct Row<'a> {
    name: String,
    work: &'a [Value],
    work_differences: &'a [Difference],
    critical_differences: &'a [Difference],
}

fn table(view: &View, page: &mut Page, title: &str, rows: &[Row]) {
    let width = page.width() - NUMBER_COLUMNS - 2;
    let worth: Vec<&Row> = rows
        .iter()
        .filter(|r| is_worth_showing(view, r.work_differences, r.critical_differences))
        .collect();
    page.blank();
    if worth.is_empty() {
        let text = format!("  {title}: none changed by more than a thousandth of the work.");
        page.line(&[(Tone::Faint, text)]);
        return;
    }
    let title = page.fit(title, width);
    if view.c.sides.len() > 2 {
        for (n, sides) in columns_of(view, page, width + 2).into_iter().enumerate() {
            if n > 0 {
                page.blank();
            }
            let heads = side_heads(view, page, &sides);
            page.line(&[strong(format!("  {title}")), (Tone::Faint, heads)]);
            for row in worth.iter().take(view.rows) {
                let values: String = sides
                    .iter()
                    .map(|&i| format!("{:>NARROW_COLUMNS$}", work(row.work.get(i))))
                    .collect();
                let name = page.fit(&row.name, width);
                page.line(&[(Tone::Path, format!("  {name}")), plain(values)]);
            }
        }
    } else {
        let head = format!(
            "{}{}{:>11}  {:>11}",
            right(page, view.side(0), 11),
            right(page, view.side(1), 11),
            "change",
            "on the span"
        );
        page.line(&[strong(format!("  {title}")), (Tone::Faint, head)]);
        for row in worth.iter().take(view.rows) {
            let d = row.work_differences.first();
            let changed = d.map_or_else(String::new, |d| {
                open_end(&format!("{}{}", relative(d, signed_time), mark(d)))
            });
            let span = row
                .critical_differences
                .first()
                .map_or_else(String::new, |d| {
                    let amount = if d.absolute == 0.0 {
                        "=".to_string()
                    } else {
                        signed_time(d.absolute)
                    };
                    format!("{amount}{}", mark(d))
                });
            let tone = d.map_or(Tone::Plain, |d| tone(Quantity::Work, d));
            let name = page.fit(&row.name, width);
            let before = work(row.work.first());
            let after = work(row.work.get(1));
            page.line(&[
                (Tone::Path, format!("  {name}")),
                plain(format!("{before:>11}{after:>11}")),
                (tone, format!("{changed:>13}")),
                plain(format!("{:>13}", open_end(&span))),
            ]);
        }
    }
    let rest = worth.len().saturating_sub(view.rows);
    if rest > 0 {
        page.line(&[(Tone::Faint, format!("  {rest} more (--rows N)"))]);
    }
}

/// Work of a row on a side; `-` if it has none.
fn work(value: Option<&Value>) -> String {
    match value {
        Some(v) if v.mean != 0.0 => ns(v.mean),
        _ => "-".into(),
    }
}
