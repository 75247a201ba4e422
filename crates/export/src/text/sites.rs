//! The table of spawn sites by their share of the critical path, with code blocks and source lines.

use workspan_analysis::{BlockRow, CodeBlock, SiteRow, hot_functions};

use super::{View, code};
use crate::page::{Page, Tone, plain, strong};
use crate::position::{cell, place, site_cell};
use crate::quantity::{percent, percent_of, ratio, thousands};

/// Number of columns for the numbers.
const NUMBER_COLUMNS: usize = 44;
/// Maximum number of code blocks shown below a site.
const MAX_BLOCKS: usize = 3;
/// Maximum number of functions shown below a block.
const MAX_FUNCTIONS: usize = 2;
/// Minimum share of its block's samples, as a fraction, for a function to be shown.
const MIN_FUNCTION_SHARE: f64 = 0.2;

pub(super) fn table(view: &View, page: &mut Page) {
    let rows = &view.report.sites;
    if rows.is_empty() {
        return;
    }
    let label = page.width() - NUMBER_COLUMNS - 2;
    page.blank();
    let head = page.fit("Spawn sites and code", label);
    page.line(&[
        strong(format!("  {head}")),
        (
            Tone::Faint,
            format!(
                "{:>10}{:>11}{:>12}{:>11}",
                "critical", "work", "parallelism", "tasks"
            ),
        ),
    ]);
    let shown = rows.len().min(view.options.sites.max(1));
    for row in &rows[..shown] {
        site(view, page, row, label);
    }
    let rest = &rows[shown..];
    if !rest.is_empty() {
        let critical: f64 = rest.iter().map(|r| r.critical_percent).sum();
        let text = format!(
            "  {} more sites with {} of the span (--sites N)",
            rest.len(),
            percent(critical)
        );
        page.line(&[(Tone::Faint, text)]);
    }
}

fn site(view: &View, page: &mut Page, row: &SiteRow, label: usize) {
    let name = page.fit(&site_cell(view.dag, row.site, label), label);
    let parallelism = if row.span == 0 {
        "-".into()
    } else {
        ratio(row.parallelism())
    };
    page.line(&[
        (Tone::Path, format!("  {name}")),
        plain(format!(
            "{:>10}{:>11}{parallelism:>12}{:>11}",
            percent(row.critical_percent),
            view.amount(row.work as f64),
            thousands(row.count.into())
        )),
    ]);
    let span = view.report.work_span.span;
    let total: u128 = row.blocks.iter().map(|b| b.work).sum();
    let mut blocks: Vec<&BlockRow> = row
        .blocks
        .iter()
        .filter(|b| is_worth_showing(b, span, total))
        .collect();
    blocks.sort_by_key(|b| {
        (
            std::cmp::Reverse(b.critical_work),
            std::cmp::Reverse(b.work),
        )
    });
    for block in blocks.into_iter().take(MAX_BLOCKS) {
        let words = cell(view.dag, &block.block, label - 2);
        let words = page.fit(&words, label - 2);
        page.line(&[plain(format!(
            "    {words}{:>10}{:>11}",
            percent(percent_of(block.critical_work, span)),
            view.amount(block.work as f64)
        ))]);
        block_functions(view, page, block, label);
    }
    if let Some(place) = place(view.dag, row.site)
        && let (Some(line), Some(source)) = (place.line, place.source.as_deref())
        && !source.is_empty()
    {
        let line = place.lines().map_or(line.to_string(), str::to_owned);
        page.line(&[(Tone::Faint, format!("    {line} |  {source}"))]);
    }
}

/// The functions of the block's samples. The block's time is divided among them by samples.
fn block_functions(view: &View, page: &mut Page, block: &BlockRow, label: usize) {
    let dag = view.dag;
    if dag.samples.is_empty() || view.counter().is_some() {
        return;
    }
    let path = &view.report.work_span.critical_path;
    let found = hot_functions(dag, (0, u64::MAX), path, |s| {
        CodeBlock::from_strand(dag, s) == block.block
    });
    let critical: u64 = found.iter().map(|f| f.critical).sum();
    let span = view.report.work_span.span;
    for function in found.iter().take(MAX_FUNCTIONS) {
        let part = function.samples as f64 / function.of.max(1) as f64;
        if function.of < code::MIN_SAMPLES || part < MIN_FUNCTION_SHARE {
            break;
        }
        let on_path = function.critical as f64 / critical.max(1) as f64;
        let on_path = percent_of((block.critical_work as f64 * on_path) as u128, span);
        let name = match (&function.file, function.line) {
            (Some(file), Some(line)) => {
                let file = file.rsplit('/').next().unwrap_or(file);
                format!("{}  {file}:{line}", function.function)
            }
            _ => function.function.clone(),
        };
        let name = page.fit(&name, label - 4);
        page.line(&[(
            Tone::Faint,
            format!(
                "      {name}{:>10}{:>11}",
                percent(on_path),
                view.amount(block.work as f64 * part)
            ),
        )]);
    }
}

/// True for blocks with at least 1 % of the span or a tenth of their site's own work.
fn is_worth_showing(block: &BlockRow, span: u128, total: u128) -> bool {
    percent_of(block.critical_work, span) >= 1.0
        || (block.work > 0 && percent_of(block.work, total) >= 10.0)
}
