//! Work, span and parallelism, and the speedups they allow on more workers.

use super::View;
use super::notes::{Notes, WarningTopic};
use crate::page::{Page, plain, strong};
use crate::quantity::{percent_of, ratio, thousands};
use std::collections::BTreeMap;
use workspan_analysis::{both_reporters, tasks_by_reporter};

/// Work, span and parallelism in a paragraph; with `steal_cost`, also what a steal costs and how
/// that is known.
pub(super) fn work_and_span(view: &View, page: &mut Page, steal_cost: bool) {
    let ws = &view.report.work_span;
    let unit = view
        .counter()
        .map_or_else(String::new, |name| format!(" {name}"));
    let uncertain = view
        .report
        .uncertainty()
        .filter(|_| view.counter().is_none());
    let sign = if page.unicode() { "±" } else { "+/-" };
    let give_or_take = |which: usize| match uncertain {
        Some((work, span)) => format!(" {sign} {}", view.amount([work, span][which] as f64)),
        None => String::new(),
    };
    let mut facts = vec![
        strong("Work "),
        plain(format!(
            "{}{unit}{}, ",
            view.amount(ws.work as f64),
            give_or_take(0)
        )),
        strong("span "),
        plain(format!(
            "{}{}{}, ",
            view.amount(ws.span as f64),
            give_or_take(1),
            with_blocked(view)
        )),
        strong("parallelism "),
        plain(ratio(ws.parallelism())),
    ];
    if ws.burden > 0 {
        let source = view.dag.meta.run.burden_source.as_deref();
        let origin = match (view.measured.burden, view.counter(), source) {
            (Some(_), _, _) => "given",
            (None, Some(_), _) => "assumed",
            (None, None, Some(source)) => source,
            (None, None, None) => "from the trace",
        };
        facts.push(strong(", burdened "));
        facts.push(plain(ratio(ws.burdened_parallelism())));
        if steal_cost {
            facts.push(plain(format!(
                " ({} per steal, {origin})",
                view.amount(ws.burden as f64)
            )));
        }
    } else if !view.dag.meta.recorded {
        // For a recorded run, there is a warning about it.
        facts.push(plain(", cost of a steal unknown"));
    }
    page.prose("  ", 4, &facts);
}

/// Counts of tasks, and what is uncertain about work and span.
pub(super) fn counts(view: &View, page: &mut Page, notes: &mut Notes) {
    let ws = &view.report.work_span;
    let counts = format!(
        "{}, {}, {}{}, average maximal strand {}",
        number(ws.tasks, "task", "tasks"),
        number(ws.spawns, "spawn", "spawns"),
        number(ws.steals, "steal", "steals"),
        runtime_steals(view),
        view.amount(ws.average_maximal_strand())
    );
    page.prose("  ", 4, &[plain(counts)]);
    if let Some(sides) = both_reporters(&tasks_by_reporter(view.dag, &view.report.sites)) {
        let [program, runtime] = sides.map(|side| {
            let tasks = number(side.tasks, "task", "tasks");
            format!("{tasks} with work {}", view.amount(side.work as f64))
        });
        let text = format!(
            "Reported by the program's own calls: {program}; by hooks in runtimes: {runtime}"
        );
        page.prose("  ", 4, &[plain(text)]);
    }
    if let Some(said) = folded(view) {
        page.prose("  ", 4, &[plain(said)]);
    }
    notes.show(page, WarningTopic::Span);
}

/// Says how many tasks the recorder folded (MODEL.md §7), their share of the time, and their sites,
/// so that readers don't look for them.
fn folded(view: &View) -> Option<String> {
    const SITES: usize = 3;
    let folded = &view.dag.folded;
    // Only tasks that the recorder folded. The report says elsewhere what the reader folded.
    let below = view.dag.meta.run.folded_below_us?;
    if folded.is_empty() || view.dag.meta.read_folding.is_some() {
        return None;
    }
    // Skipped subtrees are not folded; the report has sentences of their own for them.
    let subtrees = || view.dag.folded_subtrees();
    let tasks: u128 = subtrees().map(|f| u128::from(f.1.tasks)).sum();
    if tasks == 0 {
        return None;
    }
    // This includes the time that folding took; the rest belongs to tasks that have strands.
    let inside = subtrees().map(|(s, _)| length(view, s as usize));
    let inside = inside.sum::<u128>();
    let mut sites: BTreeMap<u32, u128> = BTreeMap::new();
    for site in subtrees().flat_map(|f| f.1.sites) {
        *sites.entry(site.site).or_default() += u128::from(site.count);
    }
    let mut sites: Vec<(u32, u128)> = sites.into_iter().collect();
    sites.sort_by_key(|&(site, count)| (std::cmp::Reverse(count), site));
    let place = |&(site, _): &(u32, u128)| {
        let place = view.dag.places.get(site as usize);
        place.map_or("?", |p| p.label.as_str())
    };
    let mut names: Vec<&str> = sites.iter().take(SITES).map(place).collect();
    if sites.len() > SITES {
        names.push("…");
    }
    let all: u128 = sum_of_lengths(view);
    let share = match view.counter() {
        None if all > 0 => format!(
            " with {:.0} % of the time in tasks",
            percent_of(inside, all)
        ),
        _ => String::new(),
    };
    let below = if below.is_infinite() {
        String::new()
    } else {
        format!(" of less than {below} µs")
    };
    Some(format!(
        "{} folded into {}{below}{share} (spawned at {})",
        number(u64::try_from(tasks).unwrap_or(u64::MAX), "task", "tasks"),
        number(subtrees().count() as u64, "subtree", "subtrees"),
        names.join(", ")
    ))
}

/// The lengths of all strands, in ticks.
fn sum_of_lengths(view: &View) -> u128 {
    let strands = 0..view.dag.strands.len();
    strands.map(|s| length(view, s)).sum()
}

/// The length of a strand, in ticks.
fn length(view: &View, s: usize) -> u128 {
    let strands = &view.dag.strands;
    u128::from(strands.end[s] - strands.start[s])
}

/// The runtime's own count of steals, if there is one and it differs from ours. The runtime also
/// counts tasks that were taken but never begun, and does not count hand-overs after a wait.
fn runtime_steals(view: &View) -> String {
    match view.dag.steals.len() as u64 {
        0 => String::new(),
        own if own == view.report.work_span.steals => String::new(),
        own => format!(" ({} by the runtime's own count)", thousands(own.into())),
    }
}

/// The span with blocked time, if it differs by more than 5 % (MODEL.md §2).
fn with_blocked(view: &View) -> String {
    let ws = &view.report.work_span;
    let more = ws.span_with_blocked.saturating_sub(ws.span);
    if view.measured.count_blocked
        || view.counter().is_some()
        || percent_of(more, ws.span.max(1)) <= 5.0
    {
        return String::new();
    }
    format!(
        " ({} with blocked time)",
        view.amount(ws.span_with_blocked as f64)
    )
}

fn number(n: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        thousands(n.into()),
        if n == 1 { one } else { many }
    )
}

/// The numbers of workers with a column: powers of two from 2 to 128, and the run's own.
pub(crate) fn shown_workers(own: u32) -> Vec<u32> {
    let mut shown: Vec<u32> = (1..=7).map(|k| 1 << k).collect();
    shown.push(own);
    shown.sort_unstable();
    shown.dedup();
    shown
}

/// Number of columns for the names of the rows.
const NAME_COLUMNS: usize = 18;
/// Number of columns for a number of workers.
const WORKERS_COLUMNS: usize = 7;

/// As many of [`shown_workers`] as fit on the page.
fn workers_that_fit(own: u32, page: &Page) -> Vec<u32> {
    let mut shown = shown_workers(own);
    let room = page.width().saturating_sub(NAME_COLUMNS) / WORKERS_COLUMNS;
    while shown.len() > room.max(1) {
        // The run's own number stays.
        let last = shown.len() - 1;
        shown.remove(if shown[last] == own { last - 1 } else { last });
    }
    shown
}

/// The bounds of the speedup, with a column for each number of workers.
pub(super) fn bounds(view: &View, page: &mut Page) {
    if view.report.work_span.work == 0 {
        return;
    }
    let b = &view.report.breakdown;
    page.blank();
    bound_rows(view, page);
    if b.elapsed() > 0 {
        let mean = ratio(b.mean_busy());
        let here = |p: u32| match p == b.workers {
            true => mean.clone(),
            false => String::new(),
        };
        let shown = workers_that_fit(b.workers, page);
        page.line(&[plain(row("    busy, here", &shown, here))]);
    }
}

/// Only the rows of the bounds.
pub(super) fn bound_rows(view: &View, page: &mut Page) {
    let ws = &view.report.work_span;
    let shown = workers_that_fit(view.report.breakdown.workers, page);
    page.line(&[
        strong("  Speedup, workers"),
        plain(row("", &shown, |p| p.to_string()).split_off(NAME_COLUMNS)),
    ]);
    page.line(&[plain(row("    at most", &shown, |p| {
        ratio(ws.speedup(p).1)
    }))]);
    page.line(&[plain(row("    at least", &shown, |p| {
        ratio(ws.speedup(p).0)
    }))]);
}

fn row(name: &str, workers: &[u32], cell: impl Fn(u32) -> String) -> String {
    let cells = workers
        .iter()
        .map(|&p| format!("{:>WORKERS_COLUMNS$}", cell(p)));
    format!("{name:<NAME_COLUMNS$}{}", cells.collect::<String>())
}
