//! Formats a comparison as text: the largest change first, then every quantity, site and block.

mod rows;

use workspan_analysis::compare::{Comparison, Difference, Noise, Quantity, QuantityRow};
use workspan_dag::Dag;

use super::change::{change, signed_time, spread, value};
use super::names::{names, ns};
use crate::Charset;
use crate::page::{Page, Tone, plain, strong};
use crate::position::label;
use crate::quantity::{ratio, share};

/// The format of a comparison's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompareOptions {
    /// Maximum number of columns of a line, at least 60.
    pub width: usize,
    /// ANSI colours.
    pub color: bool,
    /// The characters that may be used.
    pub charset: Charset,
    /// Maximum number of sites, and of blocks, to show.
    pub rows: usize,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            width: 80,
            color: false,
            charset: Charset::Ascii,
            rows: 10,
        }
    }
}

/// The name of a row.
pub(super) fn name(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Elapsed => "elapsed",
        Quantity::Work => "work",
        Quantity::Span => "span",
        Quantity::Parallelism => "parallelism",
        Quantity::BurdenedParallelism => "burdened",
        Quantity::MeanBusy => "workers busy",
        Quantity::Delay => "delay",
        Quantity::NoWorkScheduler => "no work, scheduler",
        Quantity::NoWorkProgram => "no work, program",
        Quantity::Descheduled => "descheduled",
        Quantity::Blocked => "blocked",
        Quantity::Recording => "recording",
        Quantity::Tasks => "tasks",
        Quantity::Steals => "steals",
        Quantity::AverageStrand => "average strand",
    }
}

/// Number of columns for the quantities' names.
const NAME_COLUMNS: usize = 22;
/// Number of columns for a value with its spread.
const VALUE_COLUMNS: usize = 20;
/// Number of columns for a value if there are more than two sides.
const NARROW_COLUMNS: usize = 12;

/// The comparison as text.
pub fn compare_text(comparison: &Comparison, options: &CompareOptions) -> String {
    let dag = names(&comparison.places);
    let view = View {
        c: comparison,
        dag: &dag,
        rows: options.rows.max(1),
    };
    let mut page = Page::new(options.width, options.color, options.charset);
    page.blank();
    for side in &comparison.sides {
        let runs = match side.runs {
            1 => "1 run".to_string(),
            n => format!("{n} runs"),
        };
        let workers = match side.workers {
            1 => "1 worker".to_string(),
            n => format!("{n} workers"),
        };
        let section = side.section.as_ref().map(|s| format!(", {s} alone"));
        let mut facts = format!("{}  {runs}, {workers}", section.unwrap_or_default());
        if let Some(runtime) = &side.runtime {
            facts.push_str(&format!(", {runtime}"));
        }
        page.line(&[plain("  "), strong(side.name.clone()), plain(facts)]);
    }
    page.blank();
    for i in 0..comparison.sides.len().saturating_sub(1) {
        headline(&view, &mut page, i);
    }
    for warning in &comparison.warnings {
        page.prose("  ! ", 4, &[(Tone::Bad, warning.clone())]);
    }
    page.blank();
    if comparison.sides.len() <= 2 {
        pair(&view, &mut page);
    } else {
        many(&view, &mut page);
    }
    rows::sites(&view, &mut page);
    rows::blocks(&view, &mut page);
    rows::regions(&view, &mut page);
    footer(&view, &mut page);
    page.finish()
}

/// The sentences of [`compare_text`] without its tables: how long each side took, which loss
/// changed most, and warnings.
pub fn compare_words(comparison: &Comparison) -> Vec<String> {
    let dag = names(&comparison.places);
    let view = View {
        c: comparison,
        dag: &dag,
        rows: 1,
    };
    // So wide that no sentence is broken.
    let mut page = Page::new(1 << 20, false, Charset::Unicode);
    for i in 0..comparison.sides.len().saturating_sub(1) {
        headline(&view, &mut page, i);
    }
    for warning in &comparison.warnings {
        page.prose("", 0, &[plain(warning.clone())]);
    }
    let text = page.finish();
    let lines = text.lines().map(|line| line.trim_start_matches([' ', '>']));
    lines.map(str::to_owned).collect()
}

struct View<'a> {
    c: &'a Comparison,
    dag: &'a Dag,
    rows: usize,
}

impl View<'_> {
    fn side(&self, i: usize) -> &str {
        self.c.sides.get(i).map_or("?", |s| s.name.as_str())
    }

    fn difference(&self, quantity: Quantity, i: usize) -> Option<(&QuantityRow, &Difference)> {
        let row = self.c.quantity(quantity)?;
        Some((row, row.differences.get(i)?))
    }
}

/// Compares side `i + 1` with the base in a sentence, and names the loss that changed most.
fn headline(view: &View, page: &mut Page, i: usize) {
    let Some((row, elapsed)) = view.difference(Quantity::Elapsed, i) else {
        return;
    };
    let other = view.side(i + 1);
    let (before, after) = (row.values[0].mean, row.values[i + 1].mean);
    let took = match (elapsed.noise, elapsed.relative) {
        (_, None) | (Noise::Within, _) => format!(
            "{other} took {}, against {} for {}: within the noise of the runs.",
            ns(after),
            ns(before),
            view.side(0)
        ),
        (noise, Some(r)) => {
            let much = if r.abs() < 0.0005 {
                "the same time".to_string()
            } else if r > 0.0 {
                format!("{} longer", share(r * 100.0))
            } else {
                let times = ratio(before / after.max(f64::MIN_POSITIVE));
                format!("{} less time ({times}x as fast)", share(-r * 100.0))
            };
            let known = if noise == Noise::Beyond || view.c.sides.len() > 2 {
                ""
            } else {
                "; with one run per side, it is unknown whether that is more than noise"
            };
            format!(
                "{other} took {much}: {}, against {} for {}{known}.",
                ns(after),
                ns(before),
                view.side(0)
            )
        }
    };
    page.prose("  ", 2, &[strong(took)]);
    let mut parts: Vec<(Quantity, f64)> = Quantity::LOST
        .into_iter()
        .chain([Quantity::Work])
        .filter_map(|q| Some((q, view.difference(q, i)?.1)))
        .filter(|(_, d)| d.noise != Noise::Within)
        .map(|(q, d)| (q, d.absolute))
        .collect();
    parts.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let total = row.values[0].mean * f64::from(view.c.sides[0].workers);
    let Some(&(quantity, ns)) = parts.first().filter(|p| p.1.abs() > total * 0.005) else {
        return;
    };
    let (much, word) = (super::names::ns(ns.abs()), name(quantity));
    let direction = if ns > 0.0 { "more" } else { "less" };
    let mut text =
        format!("The largest change in worker time is in \"{word}\": {much} {direction}");
    if let Some(site) = view.c.sites.first().filter(|_| quantity == Quantity::Work)
        && let Some(d) = site.work_differences.get(i)
    {
        let at = label(view.dag, site.key);
        text.push_str(&format!(", {} of it at {at}", signed_time(d.absolute)));
    }
    text.push('.');
    page.prose("  > ", 4, &[plain(text)]);
}

fn shown(row: &QuantityRow) -> bool {
    row.values.iter().any(|v| v.mean != 0.0)
}

fn pair(view: &View, page: &mut Page) {
    let head = |i: usize, page: &Page| right(page, view.side(i), VALUE_COLUMNS);
    let mut line = format!("{:NAME_COLUMNS$}{}", "", head(0, page));
    if view.c.sides.len() > 1 {
        line.push_str(&head(1, page));
        line.push_str(&format!("{:>14}", "change"));
    }
    page.line(&[(Tone::Faint, line)]);
    for row in view.c.quantities.iter().filter(|r| shown(r)) {
        let mut line = format!("    {:<18}", name(row.quantity));
        for v in &row.values {
            let spread = spread(v, page.unicode());
            let wide = if v.runs > 1 { 9 } else { 0 };
            let number = value(row.quantity, v.mean);
            line.push_str(&format!(
                "{number:>n$}{spread:>wide$}",
                n = VALUE_COLUMNS - wide
            ));
        }
        let d = row.differences.first();
        let tone = d.map_or(Tone::Plain, |d| tone(row.quantity, d));
        let changed = d.map_or_else(String::new, |d| change(row.quantity, d));
        page.line(&[plain(line), (tone, format!("{:>14}", open_end(&changed)))]);
    }
}

/// Aligns a column at the percent sign; the mark is to the right of it.
fn open_end(change: &str) -> String {
    if change.ends_with('~') {
        change.to_string()
    } else {
        format!("{change}  ")
    }
}

/// Colours a change for the worse, unless it is within the noise.
fn tone(quantity: Quantity, d: &Difference) -> Tone {
    let up_is_good = matches!(
        quantity,
        Quantity::Parallelism
            | Quantity::BurdenedParallelism
            | Quantity::MeanBusy
            | Quantity::AverageStrand
    );
    let neutral = matches!(quantity, Quantity::Tasks | Quantity::Steals);
    let worse = (d.absolute > 0.0) != up_is_good && d.absolute != 0.0;
    if worse && !neutral && d.noise != Noise::Within {
        Tone::Bad
    } else {
        Tone::Plain
    }
}

/// Splits the sides into tables, so that each table fits into the width.
fn columns_of(view: &View, page: &Page, label: usize) -> Vec<Vec<usize>> {
    let room = ((page.width() - label) / NARROW_COLUMNS).max(2) - 1;
    let others: Vec<usize> = (1..view.c.sides.len()).collect();
    others
        .chunks(room)
        .map(|some| std::iter::once(0).chain(some.iter().copied()).collect())
        .collect()
}

/// The heads of the columns of some sides.
fn side_heads(view: &View, page: &Page, sides: &[usize]) -> String {
    sides
        .iter()
        .map(|&i| right(page, view.side(i), NARROW_COLUMNS))
        .collect()
}

fn many(view: &View, page: &mut Page) {
    for (n, sides) in columns_of(view, page, NAME_COLUMNS).into_iter().enumerate() {
        if n > 0 {
            page.blank();
        }
        let heads = side_heads(view, page, &sides);
        page.line(&[(Tone::Faint, format!("{:NAME_COLUMNS$}{heads}", ""))]);
        for row in view.c.quantities.iter().filter(|r| shown(r)) {
            let values: String = sides
                .iter()
                .map(|&i| {
                    let mean = row.values.get(i).map_or(0.0, |v| v.mean);
                    format!("{:>NARROW_COLUMNS$}", value(row.quantity, mean))
                })
                .collect();
            page.line(&[plain(format!("    {:<18}{values}", name(row.quantity)))]);
            let changes: Vec<String> = sides[1..]
                .iter()
                .map(|&i| {
                    let d = row.differences.get(i - 1);
                    d.map_or_else(String::new, |d| change(row.quantity, d))
                })
                .collect();
            if changes.iter().any(|c| c != "=") {
                let cells: String = changes
                    .iter()
                    .map(|c| format!("{c:>NARROW_COLUMNS$}"))
                    .collect();
                page.line(&[(
                    Tone::Faint,
                    format!("{:w$}{cells}", "", w = NAME_COLUMNS + NARROW_COLUMNS),
                )]);
            }
        }
    }
}

/// A heading, aligned to the right; a long name is cut at its start.
fn right(page: &Page, text: &str, width: usize) -> String {
    let text = page.fit(text, width - 1);
    format!("{:>width$}", text.trim_end())
}

fn footer(view: &View, page: &mut Page) {
    page.blank();
    if view.c.moved > 0 {
        let text = match view.c.moved {
            1 => "1 position moved to another line and was matched by its source text.".to_string(),
            n => {
                format!("{n} positions moved to other lines and were matched by their source text.")
            }
        };
        page.prose("  ", 2, &[(Tone::Faint, text)]);
    }
    let text = if view.c.sides.len() < 2 {
        String::new()
    } else if view.c.noise_unknown() {
        "The noise is unknown, because a side has only one run. Give several runs per side, as in \
         `workspan compare a1 a2 -- b1 b2`."
            .to_string()
    } else {
        "Values are means over the runs, with their standard deviation. ~ marks a change within the noise: the 95 % \
         interval of the difference contains 0."
            .to_string()
    };
    page.prose("  ", 2, &[(Tone::Faint, text)]);
}
