//! Steals: their number and times, the workers that made them, and who stole from whom.

use workspan_analysis::statistics::{StealStatistics, WorkerSteals};

use super::{MAX_WORKERS_IN_NUMBERS, View, head};
use crate::page::{Page, Tone, plain, strong};
use crate::quantity::{ratio, thousands};
use crate::text::busy_strip::{level, levels};

/// Maximum number of workers with a row, and with a mark in each row, so that a row has at most 80
/// columns. The JSON has more.
const MAX_WORKERS_IN_TEXT: usize = 64;

pub(super) fn steals(view: &View, page: &mut Page, all: &StealStatistics) {
    page.blank();
    let mut words = vec![strong("Steals: ")];
    let source = if all.reported {
        "as counted by the runtime"
    } else {
        "inferred from the strands"
    };
    let mut facts = format!("{}, {source}", thousands(all.count.into()));
    if all.count > 0 {
        facts.push_str(&format!("; {} per second", ratio(all.per_second)));
        if all.leapfrogs > 0 {
            let leaps = thousands(all.leapfrogs.into());
            facts.push_str(&format!("; {leaps} of them while waiting (leapfrogs)"));
        }
    }
    if all.failed > 0 {
        let failed = thousands(all.failed.into());
        facts.push_str(&format!("; {failed} failed attempts"));
    }
    words.push(plain(facts + "."));
    page.prose("  ", 4, &words);
    steal_times(view, page, all);
    let first = &all.first;
    if first.count > 0 {
        let mut text = format!(
            "First steal: {} after the first task was created",
            view.time(first.minimum as f64)
        );
        if first.count > 1 {
            text.push_str(&format!(
                "; each worker's first by {}, half of these by {}",
                view.time(first.maximum as f64),
                view.time(first.median as f64)
            ));
        }
        if all.never > 0 {
            let workers = if all.never == 1 { "worker" } else { "workers" };
            text.push_str(&format!(
                "; {} {workers} of the pool never stole",
                all.never
            ));
        }
        page.prose("  ", 4, &[plain(text + ".")]);
    }
}

pub(super) fn workers(view: &View, page: &mut Page, all: &StealStatistics) {
    let idle = all.failed == 0 && all.sleeps == 0;
    if all.count == 0 && idle {
        return;
    }
    let columns = [
        ("steals", 10),
        ("leapfrogs", 11),
        ("stolen", 10),
        ("first", 10),
        ("failed", 11),
        ("sleeps", 9),
        ("asleep", 9),
    ];
    let columns = if idle { &columns[..4] } else { &columns[..] };
    head(page, "Worker", 7, columns);
    for worker in all.workers.iter().take(MAX_WORKERS_IN_TEXT) {
        let thread = thread_name(view, worker);
        let first = worker
            .first
            .map_or("-".into(), |first| view.time(first as f64));
        let mut line = format!(
            "  {thread:<7}{:>10}{:>11}{:>10}{first:>10}",
            thousands(worker.steals.into()),
            thousands(worker.leapfrogs.into()),
            thousands(worker.stolen.into()),
        );
        if !idle {
            line.push_str(&format!(
                "{:>11}{:>9}{:>9}",
                thousands(worker.failed.into()),
                thousands(worker.sleeps.into()),
                view.time(worker.asleep as f64)
            ));
        }
        page.line(&[plain(line)]);
    }
    let more = all.more_workers + all.workers.len().saturating_sub(MAX_WORKERS_IN_TEXT);
    if more > 0 {
        let plural = if more == 1 { "" } else { "s" };
        let text = format!("  {more} more worker{plural}");
        page.line(&[(Tone::Faint, text)]);
    }
}

/// Wool's table: the tasks that each worker spawned and took.
pub(super) fn worker_events(view: &View, page: &mut Page, all: &StealStatistics) {
    if all.workers.iter().all(|w| w.spawns == 0 && w.tries() == 0) {
        return;
    }
    let columns = [
        ("spawns", 12),
        ("inlined", 12),
        ("steal tries", 13),
        ("leap tries", 12),
        ("spinning", 10),
    ];
    head(page, "Worker", 7, &columns);
    for worker in all.workers.iter().take(MAX_WORKERS_IN_TEXT) {
        let spinning = worker.spinning.map_or("-".into(), |t| view.time(t as f64));
        let line = format!(
            "  {:<7}{:>12}{:>12}{:>13}{:>12}{spinning:>10}",
            thread_name(view, worker),
            thousands(worker.spawns.into()),
            thousands(worker.inlined.into()),
            thousands(worker.steal_tries().into()),
            thousands(worker.leap_tries.into()),
        );
        page.line(&[plain(line)]);
    }
}

/// The number of a worker; in parentheses for a thread outside the pool.
fn thread_name(view: &View, worker: &WorkerSteals) -> String {
    let number = worker.thread;
    if view.dag.is_worker(number) {
        number.to_string()
    } else {
        format!("({number})")
    }
}

pub(super) fn matrix(page: &mut Page, all: &StealStatistics) {
    let known = all.matrix.iter().flatten().copied();
    let most = known.max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let unknown = all.workers.iter().any(|w| w.unknown_victim > 0);
    if all.workers.len() <= MAX_WORKERS_IN_NUMBERS {
        let mut victims: Vec<String> = all.workers.iter().map(|w| w.thread.to_string()).collect();
        if unknown {
            victims.push("?".into());
        }
        let columns: Vec<(&str, usize)> = victims.iter().map(|v| (v.as_str(), 7)).collect();
        head(page, "Thief, victim", 14, &columns);
        for (row, worker) in all.matrix.iter().zip(&all.workers) {
            let mut line = format!("  {:<14}", worker.thread);
            let more = unknown.then_some(&worker.unknown_victim);
            for &n in row.iter().chain(more) {
                let cell = if n == 0 {
                    "-".into()
                } else {
                    thousands(n.into())
                };
                line.push_str(&format!(" {cell:>6}"));
            }
            page.line(&[plain(line)]);
        }
    } else {
        head(page, "Thief, and a mark for each victim", 33, &[]);
        let marks = levels(page);
        let rows = all.matrix.iter().zip(&all.workers);
        for (row, worker) in rows.take(MAX_WORKERS_IN_TEXT) {
            let row = row.iter().take(MAX_WORKERS_IN_TEXT);
            let strip = row.map(|&n| level(n as f64 / most as f64, marks));
            page.line(&[
                plain(format!("  {:>7}  |", worker.thread)),
                (Tone::Bar, strip.collect()),
                plain("|"),
            ]);
        }
        let text = format!(
            "  {} stands for {} steals",
            marks[8],
            thousands(most.into())
        );
        page.line(&[(Tone::Faint, text)]);
    }
    let beyond = all.beyond + without_mark(&all.matrix);
    if beyond > 0 {
        let text = format!(
            "  {} more steals by or from other threads",
            thousands(beyond.into())
        );
        page.line(&[(Tone::Faint, text)]);
    }
}

/// Number of steals of the matrix in which a worker without a row in the text took part.
fn without_mark(matrix: &[Vec<u64>]) -> u64 {
    let all = matrix.iter().flatten();
    let rows = matrix.iter().take(MAX_WORKERS_IN_TEXT);
    let shown = rows.flat_map(|row| row.iter().take(MAX_WORKERS_IN_TEXT));
    all.sum::<u64>().saturating_sub(shown.sum())
}

/// The time that thieves took.
fn steal_times(view: &View, page: &mut Page, all: &StealStatistics) {
    let rows = [
        ("to a child", &all.to_child),
        ("to a continuation", &all.to_continuation),
    ];
    if rows.iter().all(|row| row.1.count == 0) {
        return;
    }
    let columns = ["steals", "min", "median", "90 %", "max", "mean"].map(|name| (name, 9));
    head(page, "Steals took", 20, &columns);
    for (name, d) in rows.into_iter().filter(|row| row.1.count > 0) {
        let mut line = format!("  {name:<20}{:>9}", thousands(d.count.into()));
        for v in [d.minimum, d.median, d.p90, d.maximum] {
            line.push_str(&format!(" {:>8}", view.time(v as f64)));
        }
        line.push_str(&format!(" {:>8}", view.time(d.mean())));
        page.line(&[plain(line)]);
    }
}
