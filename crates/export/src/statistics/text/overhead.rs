//! Tasking overhead by spawn site.

use workspan_analysis::statistics::SiteOverhead;

use super::{View, head};
use crate::page::{Page, Tone, plain};
use crate::position::site_cell;
use crate::quantity::{percent_of, ratio, thousands};

/// One row per site, at most `most` rows.
pub(super) fn rows(view: &View, page: &mut Page, rows: &[SiteOverhead], most: usize) {
    if rows.is_empty() {
        return;
    }
    let columns = [
        ("create", 9),
        ("wait", 9),
        ("end", 9),
        ("folded", 9),
        ("steps", 11),
        ("share", 8),
    ];
    head(page, "Tasking overhead", 18, &columns);
    let all: u128 = rows.iter().map(|row| u128::from(row.ticks())).sum();
    for row in rows.iter().take(most) {
        let room = page.width() - 2;
        let name = page.fit(&site_cell(view.dag, row.site, room), room);
        page.line(&[(Tone::Path, format!("  {name}"))]);
        let time = |ticks: u64| match ticks {
            0 => "-".into(),
            ticks => view.time(ticks as f64),
        };
        page.line(&[plain(format!(
            "  {:<18}{:>9}{:>9}{:>9}{:>9}{:>11}{:>6} %",
            format!("  {}", view.time(row.ticks() as f64)),
            time(row.create),
            time(row.wait),
            time(row.end),
            time(row.folded),
            thousands(row.steps.into()),
            ratio(percent_of(row.ticks().into(), all)),
        ))]);
    }
    if rows.len() > most {
        let text = format!("  {} more sites", rows.len() - most);
        page.line(&[(Tone::Faint, text)]);
    }
}
