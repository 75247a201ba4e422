//! Formats work time stretch: first the parts of the parallel run's time beyond the serial work,
//! then the stretch by block, site, level and subtree.

use workspan_analysis::stretch::{Pair, RowKey, Stretch, StretchRow};
use workspan_dag::{Dag, Reporter};

use crate::CompareOptions;
use crate::compare::{names, ns, signed_time};
use crate::page::{Page, Tone, columns, plain, strong};
use crate::position::{label, owned_cell, site_cell};
use crate::quantity::{NBSP, percent_of, share, thousands};

/// Which tables are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StretchTables {
    /// By code block.
    pub block: bool,
    /// By spawn site.
    pub site: bool,
    /// By level.
    pub level: bool,
    /// By region that the program marked.
    pub region: bool,
    /// By subtree.
    pub subtree: bool,
}

impl Default for StretchTables {
    fn default() -> Self {
        Self {
            block: true,
            site: true,
            level: true,
            region: true,
            subtree: true,
        }
    }
}

struct View<'a> {
    s: &'a Stretch,
    dag: &'a Dag,
    rows: usize,
}

impl View<'_> {
    fn time(&self, ticks: u128) -> String {
        ns(ticks as f64 * self.s.tick)
    }

    fn signed(&self, ticks: i128) -> String {
        signed_time(ticks as f64 * self.s.tick)
    }

    /// An amount of the measured quantity: a time, or events of the counter.
    fn amount(&self, amount: u128) -> String {
        match self.s.metric {
            None => self.time(amount),
            Some(_) => count(amount),
        }
    }

    fn surplus(&self, surplus: i128) -> String {
        let sign = match surplus {
            0 => "",
            _ if surplus > 0 => "+",
            _ => "-",
        };
        match self.s.metric {
            None => self.signed(surplus),
            Some(_) => format!("{sign}{}", count(surplus.unsigned_abs())),
        }
    }
}

/// A count in at most nine columns.
fn count(n: u128) -> String {
    if n < 10_000_000 {
        thousands(n)
    } else {
        format!("{:.2e}", n as f64)
    }
}

/// Formats `stretch` as text. `program` is the name of the parallel run.
pub fn stretch_text(
    stretch: &Stretch,
    program: &str,
    tables: StretchTables,
    options: &CompareOptions,
) -> String {
    let dag = names(&stretch.places);
    let view = View {
        s: stretch,
        dag: &dag,
        rows: options.rows.max(1),
    };
    let mut page = Page::new(options.width, options.color, options.charset);
    headline(&view, &mut page, program);
    loss(&view, &mut page);
    matched(&view, &mut page);
    // Most levels of a deep tree have almost no time.
    let mut levels = stretch.levels.clone();
    levels.sort_by_key(|row| {
        let pair = row.measured(stretch.metric);
        std::cmp::Reverse(pair.parallel.max(pair.serial))
    });
    let shown = [
        (tables.block, "Code blocks", &stretch.blocks),
        (tables.site, "Spawn sites", &stretch.sites),
        (tables.level, "Levels", &levels),
        (tables.region, "Marked regions", &stretch.regions),
        (tables.site, "Tasks reported by", &stretch.reporter),
        (tables.subtree, "Subtrees", &stretch.subtrees),
    ];
    for (_, title, rows) in shown.into_iter().filter(|t| t.0) {
        table(&view, &mut page, title, rows);
    }
    if !stretch.latencies.is_empty() {
        let costs: Vec<String> = stretch
            .latencies
            .iter()
            .map(|&(i, cost)| format!("{} at {}", stretch.counters[i], ns(cost)))
            .collect();
        let text = format!(
            "N x: the additional {} cost N times the stretch.",
            costs.join(", ")
        );
        page.blank();
        page.prose("  ", 2, &[(Tone::Faint, text)]);
    }
    page.finish()
}

fn headline(view: &View, page: &mut Page, program: &str) {
    let loss = &view.s.loss;
    let workers = |n: u32| match n {
        1 => "1 worker".to_string(),
        n => format!("{n} workers"),
    };
    page.blank();
    page.line(&[
        plain("  "),
        strong(program),
        plain(format!(
            "  {} against {}",
            workers(loss.workers),
            workers(view.s.serial_workers)
        )),
    ]);
    page.blank();
    let total = view.s.total.time;
    let stretched = match total.relative() {
        Some(r) if r.abs() < 0.005 => {
            "The same work took as long as in the serial run.".to_string()
        }
        Some(r) if r > 0.0 => format!(
            "The same work took {} longer than in the serial run: {} of the {} that {} took beyond the serial work.",
            share(r * 100.0),
            view.time(loss.stretch.unsigned_abs()),
            view.signed(loss.total).trim_start_matches('+'),
            workers(loss.workers)
        ),
        Some(r) => format!(
            "The same work took {} less than in the serial run: {}.",
            share(-r * 100.0),
            view.signed(loss.stretch)
        ),
        None => "The serial run did no comparable work.".to_string(),
    };
    page.prose("  ", 2, &[strong(stretched)]);
    let whole = view.s.total.measured(view.s.metric);
    if let Some(counter) = view.s.metric {
        let name = &view.s.counters[counter];
        let (serial, parallel) = (count(whole.serial), count(whole.parallel));
        let text = format!("Of {name} it had {parallel}, against {serial} in the serial run.");
        page.prose("  ", 2, &[plain(text)]);
    }
    if let Some(first) = view.s.blocks.first()
        && first.measured(view.s.metric).surplus() > 0
        && whole.surplus() > 0
    {
        let measured = first.measured(view.s.metric);
        let longer = match view.s.metric {
            None => "longer",
            Some(_) => "more",
        };
        let words = vec![
            plain("Most of it is in "),
            (Tone::Path, name(view, first, 60)),
            plain(match measured.relative() {
                Some(r) => format!(
                    ": {}, {} {longer}.",
                    view.surplus(measured.surplus()),
                    share(r * 100.0)
                ),
                None => format!(
                    ": {}, which has no counterpart in the serial run.",
                    view.surplus(measured.surplus())
                ),
            }),
        ];
        page.prose("  > ", 4, &words);
    }
    for warning in &view.s.warnings {
        page.prose("  ! ", 4, &[(Tone::Bad, warning.clone())]);
    }
}

fn loss(view: &View, page: &mut Page) {
    let loss = &view.s.loss;
    let elapsed = view.time(loss.elapsed.into());
    page.blank();
    let head = format!(
        "  {} x {elapsed} - {} serial work",
        loss.workers,
        view.time(loss.serial_work)
    );
    let total = view.signed(loss.total);
    let total = total.trim_start_matches('+');
    let pad = 33usize
        .saturating_sub(columns(&head) + columns(total))
        .max(2);
    page.line(&[strong(format!("{head}{}{total}", " ".repeat(pad)))]);
    let all = loss.total.unsigned_abs();
    for (name, ticks) in loss.parts() {
        let always = matches!(
            name,
            "stretch" | "delay" | "no work, scheduler" | "no work, program"
        );
        if ticks == 0 && !always {
            continue;
        }
        let part = if loss.total > 0 {
            let sign = if ticks < 0 { "-" } else { "" };
            format!("{sign}{:.0}{NBSP}%", percent_of(ticks.unsigned_abs(), all))
        } else {
            String::new()
        };
        let amount = view.signed(ticks);
        let amount = amount.trim_start_matches('+');
        page.line(&[plain(format!("    {name:<18}{amount:>11}{part:>8}"))]);
    }
}

fn matched(view: &View, page: &mut Page) {
    let m = &view.s.matched;
    let both = |p: Pair| p.serial + p.parallel;
    let parts = [
        (m.path, "by path"),
        (m.site_and_level, "by spawn site and level"),
        (m.site, "by spawn site alone"),
        (m.none, "not at all"),
    ];
    let all: u128 = parts.iter().map(|p| both(p.0)).sum();
    if all == 0 {
        return;
    }
    let words: Vec<String> = parts
        .iter()
        .filter(|p| both(p.0) > 0)
        .map(|(pair, how)| format!("{how} {}", share(percent_of(both(*pair), all))))
        .collect();
    page.blank();
    let text = format!(
        "Matched, as shares of both runs' work: {}.",
        words.join(", ")
    );
    page.prose("  ", 2, &[(Tone::Faint, text)]);
}

fn relative(time: Pair) -> String {
    match time.relative() {
        None if time.parallel > 0 => "new".into(),
        None => "-".into(),
        Some(_) if time.parallel == 0 => "gone".into(),
        Some(r) if r >= 9.995 => format!("x{NBSP}{:.0}", r + 1.0),
        Some(r) => format!("{:+.1}{NBSP}%", r * 100.0),
    }
}

/// Number of columns of a latency.
const LATENCY_COLUMNS: usize = 13;

fn table(view: &View, page: &mut Page, title: &str, rows: &[StretchRow]) {
    let with_time: Vec<&StretchRow> = rows
        .iter()
        .filter(|r| match view.s.metric {
            None => r.time != Pair::default() || r.counters.iter().any(|c| *c != Pair::default()),
            metric => r.measured(metric) != Pair::default(),
        })
        .collect();
    if with_time.is_empty() {
        return;
    }
    let latencies = &view.s.latencies;
    let width = page
        .width()
        .saturating_sub(2 + 40 + LATENCY_COLUMNS * latencies.len())
        .max(16);
    page.blank();
    let surplus = match view.s.metric {
        None => "stretch",
        Some(_) => "more",
    };
    let mut head = format!("{:>10}{:>10}{:>11}{:>9}", "serial", "parallel", surplus, "");
    for &(i, _) in latencies {
        let counter = page.fit(&view.s.counters[i], LATENCY_COLUMNS - 2);
        head.push_str(&format!("{:>LATENCY_COLUMNS$}", counter.trim_end()));
    }
    let title = page.fit(title, width);
    page.line(&[strong(format!("  {title}")), (Tone::Faint, head)]);
    for row in with_time.iter().take(view.rows) {
        let title = page.fit(&name(view, row, width), width);
        let measured = row.measured(view.s.metric);
        let mut numbers = format!(
            "{:>10}{:>10}{:>11}{:>9}",
            view.amount(measured.serial),
            view.amount(measured.parallel),
            view.surplus(measured.surplus()),
            relative(measured)
        );
        for &(i, ns) in latencies {
            let text = match row.explains(i, ns, view.s.tick) {
                Some(times) => format!("{times:.1} x"),
                None => "-".into(),
            };
            numbers.push_str(&format!("{text:>LATENCY_COLUMNS$}"));
        }
        page.line(&[(Tone::Path, format!("  {title}")), plain(numbers)]);
    }
    let rest = with_time.len().saturating_sub(view.rows);
    if rest > 0 {
        page.line(&[(Tone::Faint, format!("  {rest} more (--rows N)"))]);
    }
}

fn name(view: &View, row: &StretchRow, width: usize) -> String {
    match row.key {
        RowKey::Block(block) => owned_cell(view.dag, &block, width),
        RowKey::Site(site) => site_cell(view.dag, site, width),
        RowKey::Level(level) => format!("level {level}"),
        RowKey::Reporter(side) => match side {
            Some(Reporter::Program) => "the program's own calls".into(),
            Some(Reporter::Runtime) => "hooks in runtimes".into(),
            None => "roots, or not known".into(),
        },
        RowKey::Region(label) => view.s.labels[label as usize].clone(),
        RowKey::Subtree {
            task, site, level, ..
        } => format!("task {task}, level {level}, {}", label(view.dag, site)),
    }
}
