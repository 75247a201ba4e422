//! The table of pools: how busy each one was, and how many workers would have been enough.

use super::View;
use crate::page::{Page, Tone, plain, strong};
use crate::quantity::{ratio, thousands};

/// Number of columns for the numbers.
const NUMBER_COLUMNS: usize = 63;
/// Maximum number of pools shown.
const MAX_POOLS: usize = 12;

pub(super) fn table(view: &View, page: &mut Page) {
    let rows = &view.report.pools;
    if rows.is_empty() {
        return;
    }
    let label = page.width().saturating_sub(NUMBER_COLUMNS + 2);
    page.blank();
    let head = page.fit("Pools, by where they were built", label);
    page.line(&[
        strong(format!("  {head}")),
        (
            Tone::Faint,
            format!(
                "{:>8}{:>7}{:>10}{:>10}{:>10}{:>8}{:>10}",
                "workers", "busy", "work", "delay", "blocked", "at most", "enough"
            ),
        ),
    ]);
    for row in rows.iter().take(MAX_POOLS) {
        let pool = view.dag.pools.list.get(row.pool as usize);
        let built = pool.and_then(|pool| pool.built.as_deref());
        let name = match built {
            Some(built) => built.to_owned(),
            None => format!("pool {}", row.pool),
        };
        let enough = match row.enough {
            n if n >= row.size => "all".to_owned(),
            n => format!("{n} of {}", row.size),
        };
        page.line(&[
            (Tone::Path, format!("  {}", page.fit(&name, label))),
            plain(format!(
                "{:>8}{:>7}{:>10}{:>10}{:>10}{:>8}{:>10}",
                thousands(row.size.into()),
                ratio(row.busy()),
                view.time(row.work as f64),
                view.time(row.delay as f64),
                view.time(row.blocked as f64),
                ratio(row.parallelism()),
                enough
            )),
        ]);
    }
    let rest = rows.len().saturating_sub(MAX_POOLS);
    if rest > 0 {
        page.line(&[(Tone::Faint, format!("  and {rest} more (report --json)"))]);
    }
}
