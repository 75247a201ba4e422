//! Markdown for a pull request: the limits, values before and after, and a text picture of the
//! worker time, which every renderer shows.

use workspan_analysis::compare::{
    Comparison, LimitResult, Quantity, QuantityRow, Side, Value, compare,
};

use super::super::change::{change, spread, value};
use super::super::check::place_words;
use super::super::text::name;
use super::{file_line, headline, limit_text, plain_text};
use crate::quantity::NBSP;

/// The rows of the table.
const ROWS: [Quantity; 9] = [
    Quantity::Elapsed,
    Quantity::Work,
    Quantity::Span,
    Quantity::Parallelism,
    Quantity::BurdenedParallelism,
    Quantity::MeanBusy,
    Quantity::Delay,
    Quantity::NoWorkScheduler,
    Quantity::NoWorkProgram,
];
/// The parts of the worker time, with their characters.
const PARTS: [(Quantity, char); 7] = [
    (Quantity::Work, '█'),
    (Quantity::Delay, '▒'),
    (Quantity::NoWorkScheduler, '∷'),
    (Quantity::NoWorkProgram, '·'),
    (Quantity::Descheduled, '×'),
    (Quantity::Blocked, '○'),
    (Quantity::Recording, '®'),
];
/// Columns of the longest bar.
const BAR_COLUMNS: f64 = 60.0;

/// The limits of `side`, a table with `base` if there is one, and a picture.
pub fn check_markdown(checked: &[LimitResult], base: Option<&Side>, side: &Side) -> String {
    let sides: Vec<Side> = base.into_iter().chain([side]).cloned().collect();
    let comparison = compare(&sides);
    let mut out = format!("### workspan: {}\n\n", headline(checked));
    out.push_str("| | limit | where to look |\n|---|---|---|\n");
    let ordered = checked.iter().filter(|c| c.broken);
    for one in ordered.chain(checked.iter().filter(|c| !c.broken)) {
        let mark = if one.broken { "❌" } else { "✅" };
        let place = one.place.as_ref();
        let at = place.and_then(file_line);
        let at = at.map_or_else(String::new, |(file, line)| {
            format!("`{}:{line}` ", file.replace('`', "'"))
        });
        let words = place.map_or_else(String::new, |place| plain_text(&place_words(place)));
        let row = format!(
            "| {mark} | {} | {at}{} |\n",
            cell(&limit_text(one)),
            cell(&words)
        );
        out.push_str(&row);
    }
    out.push('\n');
    table(&mut out, &comparison);
    picture(&mut out, &comparison);
    out
}

fn table(out: &mut String, comparison: &Comparison) {
    let is_pair = comparison.sides.len() == 2;
    out.push_str(if is_pair {
        "| | before | after | change |\n|---|--:|--:|--:|\n"
    } else {
        "| | this run |\n|---|--:|\n"
    });
    for quantity in ROWS {
        let Some(row) = comparison.quantity(quantity) else {
            continue;
        };
        let values = row.values.iter().map(|v| shown(quantity, v));
        let changes = row.differences.iter().map(|d| change(quantity, d));
        let cells: Vec<String> = values.chain(changes).map(|text| cell(&text)).collect();
        out.push_str(&format!("| {} | {} |\n", name(quantity), cells.join(" | ")));
    }
    if is_pair && comparison.noise_unknown() {
        out.push_str("\nWith one run on a side, it is unknown whether a change is noise.\n");
    } else if is_pair {
        out.push_str("\n`~` marks a change within the noise of the runs.\n");
    }
    out.push('\n');
}

fn shown(quantity: Quantity, v: &Value) -> String {
    let spread = spread(v, true);
    let gap = if spread.is_empty() { "" } else { " " };
    format!("{}{gap}{spread}", value(quantity, v.mean))
}

/// One bar per side, all on one scale.
fn picture(out: &mut String, comparison: &Comparison) {
    let part = |quantity: Quantity, side: usize| {
        let row: Option<&QuantityRow> = comparison.quantity(quantity);
        row.and_then(|row| row.values.get(side))
            .map_or(0.0, |v| v.mean.max(0.0))
    };
    let total = |side: usize| PARTS.iter().map(|p| part(p.0, side)).sum::<f64>();
    let sides = 0..comparison.sides.len();
    let longest = sides.clone().map(total).fold(0.0, f64::max);
    if longest <= 0.0 {
        return;
    }
    let names: &[&str] = match comparison.sides.len() {
        2 => &["before", "after"],
        _ => &["this run"],
    };
    out.push_str("Where the worker time went:\n\n```text\n");
    for (side, name) in sides.clone().zip(names) {
        let (mut until, mut drawn, mut bar) = (0.0, 0, String::new());
        for (quantity, mark) in PARTS {
            until += part(quantity, side);
            let end = (until / longest * BAR_COLUMNS).round() as usize;
            bar.extend(std::iter::repeat_n(mark, end.saturating_sub(drawn)));
            drawn = drawn.max(end);
        }
        out.push_str(&format!("{name:<9}{bar}\n"));
    }
    let used = PARTS
        .iter()
        .filter(|p| sides.clone().any(|side| part(p.0, side) > 0.0));
    let legend: Vec<String> = used.map(|p| format!("{} {}", p.1, name(p.0))).collect();
    out.push_str(&format!("{:<9}{}\n```\n", "", legend.join("   ")));
}

/// Text for a cell, escaped so that it can't end the cell or the row, and is not markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.replace(NBSP, " ").chars() {
        match c {
            '|' | '\\' | '*' | '_' | '[' | ']' | '#' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
